-- priced_sums: what call_sums come to at list price (D15): the one place that prices sums. One row a sum.
--   thread_id, transcript_id   the thread that owns the calls, and its transcript
--   quarter, model, price_id   as in call_sums; quarter null = without a time
--   calls, retained, placeholders   as in call_sums
--   context_tokens        input + cache read + cache write
--   input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, web_searches   sums
--   unpriced_calls        calls without a price
--   nonstandard_calls     calls with a speed, tier or place of their own that has no price: costed as standard
--   cache_write_usd       what the cache writes cost; cache_read_usd: the reads; sent_usd: input and cache writes; cost_usd:
--                         all; derived, null = unpriced
create view priced_sums as
select
  s.thread_id,
  s.thread_id >> 20 as transcript_id,
  nullif(s.quarter, -1) as quarter,
  (select w.word from words w where w.id = s.model) as model,
  p.id as price_id,
  s.calls,
  s.input_tokens + s.cache_read_tokens + s.cache_write_tokens as context_tokens,
  s.input_tokens,
  s.cache_read_tokens,
  s.cache_write_tokens,
  s.cache_write_1h_tokens,
  s.output_tokens,
  s.web_searches,
  s.retained,
  s.placeholders,
  iif(p.id is null, s.calls, 0) as unpriced_calls,
  iif(s.mode <> '' and s.mode is not p.speed, s.calls, 0) as nonstandard_calls,
  ((s.cache_write_tokens - s.cache_write_1h_tokens) * p.cache_write_5m_usd
    + s.cache_write_1h_tokens * p.cache_write_1h_usd) / 1e6 as cache_write_usd,
  s.cache_read_tokens * p.cache_read_usd / 1e6 as cache_read_usd,
  (s.input_tokens * p.input_usd + (s.cache_write_tokens - s.cache_write_1h_tokens) * p.cache_write_5m_usd
    + s.cache_write_1h_tokens * p.cache_write_1h_usd) / 1e6 as sent_usd,
  (s.input_tokens * p.input_usd + s.cache_read_tokens * p.cache_read_usd
    + (s.cache_write_tokens - s.cache_write_1h_tokens) * p.cache_write_5m_usd
    + s.cache_write_1h_tokens * p.cache_write_1h_usd + s.output_tokens * p.output_usd) / 1e6
    + ifnull(s.web_searches * p.web_search_usd / 1e3, 0) as cost_usd
from stored_call_sums s left join prices p on p.id = s.price_id;
