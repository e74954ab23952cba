-- session_peers: the first calls of other sessions of a project, the latest ones (D11).
--   :session  the session that they are peers of
--   :project  part of the path of the project; null = all
--   :version  of Claude Code; null = all
-- Columns: transcript, first_id: its first response.
select t.id as transcript, (select min(m.first_id) from curve_models as m where m.thread_id = t.id << 20) as first_id
from transcripts as t
join sessions as s on s.id = t.session_id
left join projects as p on p.id = s.project_id
where t.kind = 'main' and t.in_view = 1 and s.session_id is not :session
  and (:project is null or p.path = :project) and (:version is null or t.version = :version)
  and exists (select 1 from curve_models as m where m.thread_id = t.id << 20)
order by t.first_ms desc, t.path
limit 30;
