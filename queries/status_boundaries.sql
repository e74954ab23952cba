-- status_boundaries: session_boundaries without what names other records or tools.
--   :transcript  id of the transcript
select c.id, r.time_ms, c.trigger, c.pre_tokens, c.post_tokens, c.dropped_tokens, c.duration_ms, null as focus,
       null as preserved, null as discovered_tools, r.epoch, r.branch, 1 as is_owner
from compactions as c
join records as r on r.id = c.id
where c.thread_id = :transcript << 20
order by c.id;
