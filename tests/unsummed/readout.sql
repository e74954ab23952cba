-- readout: totals of the billed API calls of a period (X-cache). One row. Each call counts once, main threads
-- and subagents (D1, D2). All exact, but for write_usd, which is list price (D15).
--   :since    UTC milliseconds: calls at or after it; null = all that have a time
--   :project  part of a project's path, in any case; null = all
-- Columns: calls. context, cache_read, cache_write, input: tokens. write_usd: what the cache writes cost,
-- summing what is priced; null where nothing is. unpriced_calls: calls without a price. nonstandard_calls: calls with a
-- speed, tier or place of their own that the price list has no price for: costed as standard.
select
  count(*) as calls,
  ifnull(sum(c.context_tokens), 0) as context,
  ifnull(sum(c.cache_read_tokens), 0) as cache_read,
  ifnull(sum(c.cache_write_tokens), 0) as cache_write,
  ifnull(sum(c.input_tokens), 0) as input,
  case when count(*) = 0 then 0.0 else round(sum(
    (c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
    + c.cache_write_1h_tokens * p.cache_write_1h_usd) / 1e6, 6) end as write_usd,
  count(*) - count(c.price_id) as unpriced_calls,
  ifnull(sum(c.speed is not null and c.speed is not p.speed), 0) as nonstandard_calls
from api_calls c left join prices p on p.id = c.price_id
where c.time_ms >= ifnull(:since, 0)
  and (:project is null or c.transcript_id in (
    select t.id from projects p join sessions s on s.project_id = p.id
    join transcripts t on t.session_id = s.id
      where instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))));
