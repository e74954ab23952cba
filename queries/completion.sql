-- completion: ids of sessions for a shell to complete, the last active first.
--   :project  part of a project's path, in any case; null = all
--   :limit    rows; null = all
select s.session_id as session
from sessions s
  join transcripts t on t.session_id = s.id
  left join projects p on p.id = s.project_id
where :project is null or instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))
group by s.id
order by max(t.last_ms) desc, s.session_id
limit ifnull(:limit, -1);
