-- api_calls: one row a billed API call, each once, whatever the number of responses that are it (D1, D2). For names
-- beside the numbers take the view calls, for cost priced_calls.
--   id                    for joins: responses.call_id; differs from store to store
--   response_id           the owning response; transcript_id, thread_id: where that stands
--   model                 as logged
--   time_ms               of its last record in the owning transcript
--   input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens   exact
--   output_tokens         as logged; thinking_tokens: of it; web_searches: made by the service
--   context_tokens        input + cache read + cache write (X-ctx), exact
--   speed                 what its usage says that may have a price of its own: speed, geo, tier; null = standard
--   is_advisor            1 = an advisor's call, in no curve
--   is_placeholder        1 = its output is what was known at the start: at least so much (D9)
--   output_missing        of a placeholder by how much the answer's estimate is larger, estimated; else 0
--   usage_id              the response that tells its usage (D1)
--   retained              1 = its bytes are gone from every transcript; it was billed and stays (D4)
--   price_id              the price that holds for it (D15); null = unpriced
create view api_calls as
select
  c.id,
  o.id as response_id,
  o.thread_id >> 20 as transcript_id,
  o.thread_id,
  (select w.word from words w where w.id = u.model) as model,
  c.time_ms,
  u.input_tokens,
  u.cache_read_tokens,
  u.cache_write_tokens,
  u.cache_write_1h_tokens,
  u.output_tokens,
  u.thinking_tokens,
  u.web_searches,
  u.input_tokens + u.cache_read_tokens + u.cache_write_tokens as context_tokens,
  case when coalesce(u.speed, u.geo, u.service_tier) is not null then nullif(trim(replace(
    ifnull(nullif((select w.word from words w where w.id = u.speed), 'standard'), '') || ' '
    || ifnull(nullif((select w.word from words w where w.id = u.geo), 'global'), '') || ' '
    || ifnull(nullif((select w.word from words w where w.id = u.service_tier), 'default'), ''), '  ', ' ')), '') end
    as speed,
  u.flags >> 2 & 1 as is_advisor,
  u.flags >> 5 & 1 as is_placeholder,
  case when u.flags & 32 then max(0, ifnull((
      select sum(b.estimate)
      from stored_records r cross join stored_blocks b on b.id >= r.id and b.id < r.id + r.length
      where r.id >= u.id and r.id <= u.id + u.last_ahead and r.id - r.response_back = u.id), 0) - u.output_tokens)
    else 0 end as output_missing,
  u.id as usage_id,
  c.retained,
  c.price_id
from stored_calls c
  cross join stored_responses o on o.id = ifnull(c.response_id, c.id)
  cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id);
