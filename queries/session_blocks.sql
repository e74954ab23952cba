-- session_blocks: every block of the numbered messages of a transcript's main thread, in log order (D7). An older
-- parser numbered prompt snapshots, which are the fixed context itself: transcripts that are gone still have them so.
--   :transcript  id of the transcript
select b.id, b.record_id, r.message, r.time_ms, b.kind, b.category, b.tokens, b.estimate, b.chars, b.is_exact,
       r.branch, r.epoch, r.call_ordinal, r.type, r.subtype, r.is_prompt, r.is_summary, r.is_meta, r.origin,
       b.tool_use_id, r.response_id
from blocks as b
join records as r on r.id = b.record_id
where b.id >= :transcript << 40 and b.id < (:transcript + 1) << 40
  and r.thread_id = :transcript << 20 and r.message is not null and r.subtype is not 'prompt_snapshot'
order by b.id;
