-- status_transcript: what the store remembers of one transcript, by its path or, without one, as the last part of the
-- session that its view shows; how far it was read, and where the reader stood then.
--   :path, :session  one of the two, the other null
select t.id, s.session_id, t.path, t.inode, t.offset, t.parser, t.tail_hash, f.state, t.in_view, t.kind
from transcripts as t
join sessions as s on s.id = t.session_id
left join fold_states as f on f.transcript_id = t.id
where (t.path = :path or (:path is null and s.session_id = :session)) and t.kind = 'main'
order by t.in_view desc, t.first_ms is null, t.first_ms desc, t.path desc
limit 1;
