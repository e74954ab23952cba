-- status_calls: those rows of session_calls that a window is judged by: the first call, the largest of each model, and
-- the last ones.
--   :transcript  the transcript
--   :last        how many of the last ones
--   :largest     0 = without the largest ones
with chosen (id) as (
  select * from (
    select r.id from stored_responses as r cross join api_calls as c on c.id = ifnull(r.shared_call_id, r.id)
    where r.thread_id = :transcript << 20 and r.id > 0 and r.flags & 12 = 8 and c.context_tokens > 0
    order by r.id limit 1)
  union
  select id from (
    select r.id, max(r.input_tokens + r.cache_read_tokens + r.cache_write_tokens)
    from stored_responses as r
    where :largest and r.thread_id = :transcript << 20 and r.id > 0 and r.flags & 4 = 0
    group by r.model)
  union
  select * from (
    select r.id from stored_responses as r
    where r.thread_id = :transcript << 20 and r.id > 0 and r.flags & 4 = 0
    order by r.id desc limit ifnull(:last, -1))
)
select r.id, r.last_record_id, r.message, r.ordinal, r.branch, r.epoch, coalesce(c.model, 'unknown') as model, c.time_ms,
       c.input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.cache_write_1h_tokens,
       c.output_tokens, c.thinking_tokens, c.context_tokens, null as cost_usd, null as cache_read_usd,
       r.stop_reason, r.effort
from chosen
join responses as r on r.id = chosen.id
cross join api_calls as c on c.id = r.call_id
where c.context_tokens > 0
order by r.id;
