-- session_calls: the responses of a transcript's main thread that are points of its curve, in log order (D1, D2).
--   :transcript  id of the transcript
select r.id, r.last_record_id, r.message, r.ordinal, r.branch, r.epoch, coalesce(c.model, 'unknown') as model, c.time_ms,
       c.input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.cache_write_1h_tokens,
       c.output_tokens, c.thinking_tokens, c.context_tokens,
       c.cost_usd, c.cache_read_price as cache_read_usd, r.stop_reason, r.effort
from responses as r
cross join priced_calls as c on c.id = r.call_id
where r.thread_id = :transcript << 20 and r.id > 0 and r.is_advisor = 0 and c.context_tokens > 0
order by r.id;
