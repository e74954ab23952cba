-- readout: totals of the billed API calls of a period (X-cache). One row. Each call counts once, main threads
-- and subagents (D1, D2). All exact, but for write_usd, which is list price (D15).
--   :since    UTC milliseconds: calls at or after it; null = all that have a time
--   :project  part of a project's path, in any case; null = all
-- Columns: calls. context, cache_read, cache_write, input: tokens. write_usd: what the cache writes cost,
-- summing what is priced; null where nothing is. unpriced_calls: calls without a price. nonstandard_calls: calls with a
-- speed, tier or place of their own that the price list has no price for: costed as standard.
-- Whole quarters of an hour come from sums; only what stands before the first of them is added up call by call.
with first (quarter) as (select max(ifnull(:since, 0) + 899999, 0) / 900000),
wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
),
spent as (
  select s.calls, s.context_tokens, s.cache_read_tokens, s.cache_write_tokens, s.input_tokens, s.cache_write_usd,
    s.unpriced_calls, s.nonstandard_calls
  from first as f cross join priced_sums as s
  where s.quarter >= f.quarter and (:project is null or s.transcript_id in (select transcript_id from wanted))
  union all
  select 1, c.context_tokens, c.cache_read_tokens, c.cache_write_tokens, c.input_tokens, c.cache_write_usd,
    c.is_unpriced, c.is_nonstandard
  from first as f cross join priced_calls as c
  where c.time_ms >= ifnull(:since, 0) and c.time_ms < f.quarter * 900000
    and (:project is null or c.transcript_id in (select transcript_id from wanted))
)
select
  ifnull(sum(calls), 0) as calls,
  ifnull(sum(context_tokens), 0) as context,
  ifnull(sum(cache_read_tokens), 0) as cache_read,
  ifnull(sum(cache_write_tokens), 0) as cache_write,
  ifnull(sum(input_tokens), 0) as input,
  case when count(*) = 0 then 0.0 else round(sum(cache_write_usd), 6) end as write_usd,
  ifnull(sum(unpriced_calls), 0) as unpriced_calls,
  ifnull(sum(nonstandard_calls), 0) as nonstandard_calls
from spent;
