-- compare: what a session was billed for: the API calls that it owns, subagents included (D2). One row.
--   :session  the session's id
-- Columns: calls. input, cache_read, cache_write, output: tokens, exact. cost_usd: list price (D15), derived; null = a
-- call is unpriced. unpriced_calls: how many.
select
  count(c.id) as calls,
  ifnull(sum(c.input_tokens), 0) as input,
  ifnull(sum(c.cache_read_tokens), 0) as cache_read,
  ifnull(sum(c.cache_write_tokens), 0) as cache_write,
  ifnull(sum(c.output_tokens), 0) as output,
  case when count(c.id) = count(c.price_id) then round(ifnull(sum(
    (c.input_tokens * p.input_usd + c.cache_read_tokens * p.cache_read_usd
      + (c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
      + c.cache_write_1h_tokens * p.cache_write_1h_usd + c.output_tokens * p.output_usd) / 1e6
    + ifnull(c.web_searches * p.web_search_usd / 1e3, 0)), 0), 6) end as cost_usd,
  case when count(c.id) = 0 then 0.0 else round(sum(
    (c.input_tokens * p.input_usd + c.cache_read_tokens * p.cache_read_usd
      + (c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
      + c.cache_write_1h_tokens * p.cache_write_1h_usd + c.output_tokens * p.output_usd) / 1e6
    + ifnull(c.web_searches * p.web_search_usd / 1e3, 0)), 6) end as priced_usd,
  count(c.id) - count(c.price_id) as unpriced_calls,
  ifnull(sum(c.is_placeholder), 0) as placeholder_calls,
  ifnull(sum(c.output_missing), 0) as output_missing,
  round(ifnull(sum(c.output_missing * p.output_usd) / 1e6, 0.0), 6) as cost_missing_usd,
  count(c.id) filter (where h.kind = 'main') as main_calls,
  case when count(c.id) filter (where h.kind = 'main') = count(c.price_id) filter (where h.kind = 'main')
    then round(ifnull(sum((c.input_tokens * p.input_usd + c.cache_read_tokens * p.cache_read_usd
      + (c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
      + c.cache_write_1h_tokens * p.cache_write_1h_usd + c.output_tokens * p.output_usd) / 1e6
    + ifnull(c.web_searches * p.web_search_usd / 1e3, 0)) filter (where h.kind = 'main'), 0), 6) end as main_usd,
  case when count(c.id) filter (where h.kind <> 'main') = count(c.price_id) filter (where h.kind <> 'main')
    then round(ifnull(sum((c.input_tokens * p.input_usd + c.cache_read_tokens * p.cache_read_usd
      + (c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
      + c.cache_write_1h_tokens * p.cache_write_1h_usd + c.output_tokens * p.output_usd) / 1e6
    + ifnull(c.web_searches * p.web_search_usd / 1e3, 0)) filter (where h.kind <> 'main'), 0), 6) end as subagents_usd
from sessions as s
join transcripts as t on t.session_id = s.id
left join api_calls as c on c.transcript_id = t.id
left join prices as p on p.id = c.price_id
left join threads as h on h.id = c.thread_id
where s.session_id = :session;
