-- before_breaks: what stood before each of the breaks (rebuilds), one row a break.
--   response_key          the break: rebuilds.response_id
--   before_key            the response before it in its thread that has a usage
--   cached                tokens that this one read from the cache or wrote to it; read_before: of these, read
--   is_early              1 = the break read no more than the fixed context and the first prompt, which the first call of
--                         the thread tells, and less than nine tenths of what stood before: nothing else was in the cache
create view before_breaks as
select
  m.response_id as response_key,
  b.id as before_key,
  b.cache_read_tokens + b.cache_write_tokens as cached,
  b.cache_read_tokens as read_before,
  r.cache_read_tokens < 9 * m.rebuilt_tokens and r.cache_read_tokens * 20 <= 21 * (
    select cast(v.contexts as integer) from stored_curves v where v.thread_id = b.thread_id order by v.part limit 1)
    as is_early
from stored_rebuilds m
  cross join stored_responses r on r.id = m.response_id
  cross join stored_responses b on b.id = (
    select max(o.id) from stored_responses o
    where o.thread_id = r.thread_id and o.id < r.id and o.flags & 12 = 8
      and o.input_tokens + o.cache_read_tokens + o.cache_write_tokens > 0);
