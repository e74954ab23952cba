-- live_transcript: what the store remembers of one transcript, by its path or, without one, as the last part of the
-- session that its view shows; how far it was read, and what its session is.
--   :path, :session  one of the two, the other null
-- Columns: parts: main transcripts that the session's view goes over. Times are UTC milliseconds.
select t.id, s.session_id, t.path, t.size, t.mtime_ns, t.offset, coalesce(p.path, t.folder) as project,
       (select count(*) from transcripts as o
        where o.session_id = t.session_id and o.kind = 'main' and o.in_view = 1) as parts,
       ifnull(t.last_version, t.version) as version, t.first_ms, t.last_ms
from transcripts as t
join sessions as s on s.id = t.session_id
left join projects as p on p.id = s.project_id
where (t.path = :path or (:path is null and s.session_id = :session)) and t.kind = 'main'
order by t.in_view desc, t.first_ms is null, t.first_ms desc, t.path desc
limit 1;
