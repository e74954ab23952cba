-- readout: totals of the billed API calls of a period (X-cache). One row. Each call counts once, main threads
-- and subagents (D1, D2). All exact, but for write_usd, which is list price (D15).
--   :since    UTC milliseconds: calls at or after it; null = all that have a time
--   :project  part of a project's path, in any case; null = all
-- Columns: calls. context, cache_read, cache_write, input: tokens. write_usd: what the cache writes cost,
-- summing what is priced; null where nothing is. unpriced_calls: calls without a price.
with spent as (
  select
    price_id, count(*) as calls, sum(context_tokens) as context, sum(cache_read_tokens) as cache_read,
    sum(cache_write_tokens) as cache_write, sum(cache_write_1h_tokens) as cache_write_1h,
    sum(input_tokens) as input
  from api_calls
  where time_ms >= ifnull(:since, 0)
    and (:project is null or transcript_id in (
      select t.id from projects p join sessions s on s.project_id = p.id
      join transcripts t on t.session_id = s.id where instr(lower(p.path), lower(:project))))
  group by price_id
)
select
  ifnull(sum(s.calls), 0) as calls,
  ifnull(sum(s.context), 0) as context,
  ifnull(sum(s.cache_read), 0) as cache_read,
  ifnull(sum(s.cache_write), 0) as cache_write,
  ifnull(sum(s.input), 0) as input,
  case when count(*) = 0 then 0.0 else round(sum(
    (s.cache_write - s.cache_write_1h) * p.cache_write_5m_usd + s.cache_write_1h * p.cache_write_1h_usd
  ) / 1e6, 6) end as write_usd,
  ifnull(sum(s.calls) filter (where s.price_id is null), 0) as unpriced_calls
from spent s left join prices p on p.id = s.price_id;
