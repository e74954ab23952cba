-- sent_calls: what each billed API call sent, and at which price: priced_calls without all that takes longer. One row a
-- call.
--   response_id, transcript_id, time_ms   of its owner, as in api_calls
--   sent, sent_usd        input and cache write, exact, and what they cost at list price (D15); null = unpriced
--   cache_read_price      USD a million tokens read from the cache; null = unpriced
create view sent_calls as
select
  ifnull(c.response_id, c.id) as response_id,
  -- A response's id begins with its transcript's, but for those whose bytes are gone.
  iif(ifnull(c.response_id, c.id) > 0, ifnull(c.response_id, c.id) >> 40, (
    select r.thread_id >> 20 from stored_responses r where r.id = ifnull(c.response_id, c.id))) as transcript_id,
  c.time_ms,
  u.input_tokens + u.cache_write_tokens as sent,
  (u.input_tokens * p.input_usd + (u.cache_write_tokens - u.cache_write_1h_tokens) * p.cache_write_5m_usd
    + u.cache_write_1h_tokens * p.cache_write_1h_usd) / 1e6 as sent_usd,
  p.cache_read_usd as cache_read_price
from stored_calls c
  cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
  left join prices p on p.id = c.price_id;
