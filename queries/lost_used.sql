-- lost_used: the files that were read or edited after a compaction, in the sessions of a project: what one needs again.
--   :project  the project's path
-- Columns: path: as logged. use_ms: UTC milliseconds of the use.
with cut as (
  select c.thread_id, min(c.id) as first_id
  from projects as p
  join sessions as s on s.project_id = p.id
  join transcripts as t on t.session_id = s.id and t.in_view = 1 and t.superseded = 0
  join threads as h on h.transcript_id = t.id and h.kind = 'main'
  join compactions as c on c.thread_id = h.id
  where p.path = :project
  group by c.thread_id
)
select u.path, u.use_ms
from cut cross join tool_uses as u on u.id > cut.first_id and u.id < (cut.first_id >> 40) + 1 << 40
where u.thread_id = cut.thread_id and u.path is not null and u.use_ms is not null and u.is_error = 0
order by u.use_ms, u.id;
