-- readout_rereads: re-reads of a period, most tokens first (X-reread): a Read of the path, offset and limit of
-- an earlier one in the same thread and the period, with no edit of that file in between.
--   :since    UTC milliseconds: both reads at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: session: its id. path: the file. tokens: of the later read's result, estimated (X-size).
-- is_owner: 1 = totals count it (D2). in_view: 1 = in its session's own view.
-- Two reads of the index: a period is a range of it.
select session_id as session, path, tokens, is_owner, in_view
from (
  select *, result_tokens as tokens from rereads
  where time_ms >= ifnull(:since, 0) and (:since is null or prior_time_ms >= :since)
  union all
  select *, result_tokens from rereads where time_ms is null and :since is null)
where :project is null or instr(replace(lower(project), '\', '/'), replace(lower(:project), '\', '/'))
order by tokens desc, path, session_id, time_ms, is_owner desc, in_view desc;
