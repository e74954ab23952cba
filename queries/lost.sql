-- lost: the compactions of main threads in a period, oldest first, each once (D2), and where a session's own view
-- shows it.
--   :since    UTC milliseconds: boundaries at or after it; null = all
--   :until    UTC milliseconds: boundaries before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: session_id, project: of the owner. timestamp: ISO 8601, UTC. week: its Monday, in the user's zone. trigger,
-- focus: as logged. before_tokens: as in compactions_overview. after_tokens: the context of the first call after it,
-- exact; null = there is none. view_session, view_id: a session whose own view shows the boundary, and the id of its
-- record there; null = none does.
with every as (
  select o.*, t.id << 40 | o.offset as id
  from compactions_overview as o join transcripts as t on t.path = o.path
  where o.thread_kind = 'main'
), shown as (
  select *,
    first_value(case when in_view = 1 then session_id end) over same as view_session,
    first_value(case when in_view = 1 then id end) over same as view_id
  from every
  window same as (partition by ifnull(uuid, id) order by in_view desc, is_owner desc, path, offset)
)
select session_id, project, timestamp, date(time_ms / 1000, 'unixepoch', 'localtime', 'weekday 0', '-6 days') as week,
       trigger, focus, before_tokens, call_after_tokens as after_tokens, view_session, view_id
from shown
where is_owner = 1
  and (:since is null or time_ms >= :since)
  and (:until is null or time_ms < :until)
  and (:project is null or instr(replace(lower(project), '\', '/'), replace(lower(:project), '\', '/')))
order by time_ms, session_id, path, offset;
