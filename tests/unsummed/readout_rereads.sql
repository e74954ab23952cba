-- readout_rereads: re-reads of a period, most tokens first (X-reread): a Read of the path, offset and limit of
-- an earlier one in the same thread and the period, with no edit of that file in between.
--   :since    UTC milliseconds: both reads at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: session: its id. path: the file. tokens: of the later read's result, estimated (X-size).
-- is_owner: 1 = totals count it (D2). in_view: 1 = in its session's own view.
select session_id as session, path, result_tokens as tokens, is_owner, in_view
from rereads
where (:since is null or (time_ms >= :since and prior_time_ms >= :since))
  and (:project is null or instr(replace(lower(project), '\', '/'), replace(lower(:project), '\', '/')))
order by result_tokens desc, path, session_id, time_ms, is_owner desc, in_view desc;
