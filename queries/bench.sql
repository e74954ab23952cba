-- bench: sessions that have a compaction, in their own view, the last active first.
--   :project  part of a project's path, null for all
--   :session  a session's whole id, null for all
select o.session_id
from sessions_overview as o
where o.compactions > 0
  and (:session is null or o.session_id = :session)
  and (:project is null or instr(replace(lower(o.project), '\', '/'), replace(lower(:project), '\', '/')))
order by o.last_active desc, o.session_id;
