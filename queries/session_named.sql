-- session_named: the sessions whose id begins with a text, the last active first.
--   :prefix   how the id begins, null = any
--   :project  part of the path or folder name of its project in any case, null = all
--   :cwd      path of a project, null = all
--   :limit    how many
select s.session_id, p.path as project, max(coalesce(t.last_message_ms, t.last_ms)) as last_active_ms,
       max(t.kind = 'main' and t.last_message_ms is not null) as has_messages
from sessions as s
join transcripts as t on t.session_id = s.id
left join projects as p on p.id = s.project_id
where (:prefix is null or substr(s.session_id, 1, length(:prefix)) = :prefix)
  and (:cwd is null or p.path = :cwd)
  and (:project is null
    or instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/')) > 0
    or instr(replace(lower(t.folder), '\', '/'), replace(lower(:project), '\', '/')) > 0)
group by s.id
order by has_messages desc, last_active_ms desc, s.session_id
limit ifnull(:limit, -1);
