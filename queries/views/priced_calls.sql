-- priced_calls: what each billed API call cost, one row a call (D15). What a call costs is said here and nowhere else.
--   id, response_id       of the call and its owning response, as in api_calls
--   transcript_id, thread_id, time_ms, model   of its owner, as in api_calls
--   context_tokens, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens,
--   thinking_tokens, web_searches, retained, is_advisor, is_placeholder, output_missing, usage_id   as in api_calls
--   price_id              null = unpriced; is_unpriced: 1 = so
--   cache_read_price      USD a million tokens read from the cache; null = unpriced
--   is_nonstandard        1 = its mode may have a price of its own that is not known; 0 = the price is that of its mode
--   input_usd, cache_read_usd, cache_write_usd, output_usd, searches_usd   its parts at list price; null = unpriced
--   cost_usd              their sum, derived; null = unpriced; of a placeholder at least so much
--   output_price          USD a million tokens of output; null = unpriced
--   cost_missing_usd      what output_missing would cost, estimated, never part of cost_usd; null = unpriced
create view priced_calls as
select
  c.id,
  c.response_id,
  c.transcript_id,
  c.thread_id,
  c.time_ms,
  c.model,
  c.context_tokens,
  c.input_tokens,
  c.cache_read_tokens,
  c.cache_write_tokens,
  c.cache_write_1h_tokens,
  c.output_tokens,
  c.thinking_tokens,
  c.web_searches,
  c.retained,
  c.is_advisor,
  c.is_placeholder,
  c.output_missing,
  c.usage_id,
  c.price_id,
  p.id is null as is_unpriced,
  c.speed is not null and c.speed is not p.speed as is_nonstandard,
  p.cache_read_usd as cache_read_price,
  c.input_tokens * p.input_usd / 1e6 as input_usd,
  c.cache_read_tokens * p.cache_read_usd / 1e6 as cache_read_usd,
  ((c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
    + c.cache_write_1h_tokens * p.cache_write_1h_usd) / 1e6 as cache_write_usd,
  c.output_tokens * p.output_usd / 1e6 as output_usd,
  ifnull(c.web_searches * p.web_search_usd / 1e3, 0) as searches_usd,
  (c.input_tokens * p.input_usd + c.cache_read_tokens * p.cache_read_usd
    + (c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
    + c.cache_write_1h_tokens * p.cache_write_1h_usd + c.output_tokens * p.output_usd) / 1e6
    + ifnull(c.web_searches * p.web_search_usd / 1e3, 0) as cost_usd,
  p.output_usd as output_price,
  c.output_missing * p.output_usd / 1e6 as cost_missing_usd
from api_calls c
  left join prices p on p.id = c.price_id;
