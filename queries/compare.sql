-- compare: what a session was billed for: the API calls that it owns, subagents included (D2). One row.
--   :session  the session's id
-- Columns: calls. input, cache_read, cache_write, output: tokens, exact. cost_usd: list price (D15), derived; null = a
-- call is unpriced. unpriced_calls: how many.
select
  ifnull(sum(c.calls), 0) as calls,
  ifnull(sum(c.input_tokens), 0) as input,
  ifnull(sum(c.cache_read_tokens), 0) as cache_read,
  ifnull(sum(c.cache_write_tokens), 0) as cache_write,
  ifnull(sum(c.output_tokens), 0) as output,
  case when ifnull(sum(c.unpriced_calls), 0) = 0 then round(ifnull(sum(c.cost_usd), 0), 6) end as cost_usd,
  ifnull(sum(c.unpriced_calls), 0) as unpriced_calls
from sessions as s
join transcripts as t on t.session_id = s.id
left join priced_sums as c on c.thread_id >= t.id << 20 and c.thread_id < (t.id + 1) << 20
where s.session_id = :session;
