-- cost_by_day: tokens and cost of the billed API calls, one row a day and model (D2, D15).
--   day                   YYYY-MM-DD in the zone of the program that asks (TZ); null = a call without a time
--   model                 as logged
--   calls                 exact
--   input_tokens, cache_read_tokens, cache_write_tokens, output_tokens   exact
--   cost_usd              at list price, derived; null = a call is unpriced
--   unpriced_calls        calls without a price
create view cost_by_day as
select
  date(q.quarter * 900, 'unixepoch', 'localtime') as day,
  q.model,
  sum(q.calls) as calls,
  sum(q.input) as input_tokens,
  sum(q.cache_read) as cache_read_tokens,
  sum(q.cache_write) as cache_write_tokens,
  sum(q.output) as output_tokens,
  case when count(*) = count(q.price_id) then round(sum(
    (q.input * x.input_usd + q.cache_read * x.cache_read_usd
      + (q.cache_write - q.cache_write_1h) * x.cache_write_5m_usd
      + q.cache_write_1h * x.cache_write_1h_usd + q.output * x.output_usd) / 1e6
      + ifnull(q.searches * x.web_search_usd / 1e3, 0)), 6) end as cost_usd,
  round(sum(
    (q.input * x.input_usd + q.cache_read * x.cache_read_usd
      + (q.cache_write - q.cache_write_1h) * x.cache_write_5m_usd
      + q.cache_write_1h * x.cache_write_1h_usd + q.output * x.output_usd) / 1e6
      + ifnull(q.searches * x.web_search_usd / 1e3, 0)), 6) as priced_usd,
  sum(case when q.price_id is null then q.calls else 0 end) as unpriced_calls,
  sum(q.placeholders) as placeholder_calls
from (
    -- By the quarter of an hour first: turning a time into the user's day is slow.
    select
      time_ms / 900000 as quarter, model, price_id, count(*) as calls, sum(input_tokens) as input,
      sum(cache_read_tokens) as cache_read, sum(cache_write_tokens) as cache_write,
      sum(cache_write_1h_tokens) as cache_write_1h, sum(output_tokens) as output,
      sum(web_searches) as searches, sum(is_placeholder) as placeholders
    from api_calls group by 1, 2, 3
  ) q
  left join prices x on x.id = q.price_id
group by 1, 2;
