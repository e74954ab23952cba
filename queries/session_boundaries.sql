-- session_boundaries: the compaction boundaries of a transcript's main thread, in log order. A boundary that stands in
-- several transcripts is counted in one of them only: is_owner (D2).
--   :transcript  id of the transcript
select c.id, r.time_ms, c.trigger, c.pre_tokens, c.post_tokens, c.dropped_tokens, c.duration_ms, c.focus,
       c.preserved, c.discovered_tools, r.epoch, r.branch, o.place = 1 as is_owner
from compactions as c
join records as r on r.id = c.id
join compaction_owners as o on o.compaction_key = c.id
where c.thread_id = :transcript << 20
order by c.id;
