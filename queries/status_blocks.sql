-- status_blocks: those rows of session_blocks that a window's size is judged by: before the first call, and of the
-- last ones.
--   :transcript  the transcript
--   :before      id of the first call
--   :since       id of the earliest of the last calls
select b.id, b.record_id, r.message, r.time_ms, b.kind, b.category, b.tokens, b.estimate, b.chars, b.is_exact,
       r.branch, r.epoch, r.call_ordinal, r.type, r.subtype, r.is_prompt, r.is_summary, r.is_meta, r.origin,
       b.tool_use_id, r.response_id
from blocks as b
join records as r on r.id = b.record_id
where (b.id between :transcript << 40 and :before - 1
       or b.id between :since and ((:transcript + 1) << 40) - 1)
  and r.thread_id = :transcript << 20 and r.message is not null and r.subtype is not 'prompt_snapshot'
order by b.id;
