-- cost_by_day: tokens and cost of the billed API calls, one row a day and model (D2, D15).
--   day                   YYYY-MM-DD in the zone of the program that asks (TZ); null = a call without a time
--   model                 as logged
--   calls                 exact
--   input_tokens, cache_read_tokens, cache_write_tokens, output_tokens   exact; but see placeholder_calls
--   cost_usd              at list price, derived; null = a call is unpriced; priced_usd: what is priced, null = nothing is
--   unpriced_calls        calls without a price
--   placeholder_calls     calls whose output is a placeholder (D9): output and cost are at least so much
create view cost_by_day as
select
  date(q.quarter * 900, 'unixepoch', 'localtime') as day,
  q.model,
  sum(q.calls) as calls,
  sum(q.input_tokens) as input_tokens,
  sum(q.cache_read_tokens) as cache_read_tokens,
  sum(q.cache_write_tokens) as cache_write_tokens,
  sum(q.output_tokens) as output_tokens,
  case when count(*) = count(q.price_id) then round(sum(q.cost_usd), 6) end as cost_usd,
  round(sum(q.cost_usd), 6) as priced_usd,
  sum(q.unpriced_calls) as unpriced_calls,
  sum(q.placeholders) as placeholder_calls
from priced_sums q
group by 1, 2;
