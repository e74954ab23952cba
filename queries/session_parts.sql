-- session_parts: the main transcripts that a session's own view shows, in the order of its messages (D3).
--   :session  the session's id
select t.id, s.session_id, coalesce(p.path, t.folder) as project, t.path, t.gone, t.first_ms, t.last_ms,
       t.version, t.last_version, t.entrypoint, t.git_branch,
       (select n.title from session_titles as n where n.session_key = s.id) as title
from sessions as s
join transcripts as t on t.session_id = s.id
left join projects as p on p.id = s.project_id
where s.session_id = :session and t.kind = 'main' and t.in_view = 1
order by t.first_ms is null, t.first_ms, t.path;
