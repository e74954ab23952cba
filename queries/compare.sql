-- compare: what a session was billed for: the API calls that it owns, subagents included (D2). One row.
--   :session  the session's id
-- Columns: calls. input, cache_read, cache_write, output: tokens, exact. cost_usd: list price (D15), derived; null = a
-- call is unpriced. priced_usd: the sum of what is priced; null = nothing is. unpriced_calls: how many are not.
-- placeholder_calls: their output is a placeholder (D9), so output and cost are at least so much; output_missing,
-- cost_missing_usd: how much more it would be, estimated, in no other sum. main_calls: of the main thread; main_usd,
-- subagents_usd: what that and all others cost, null = a call of theirs is unpriced.
with missing as materialized (
  select m.output_missing, m.output_price
  from sessions as s
  join transcripts as t on t.session_id = s.id
  cross join missing_outputs as m on m.usage_id >= t.id << 40 and m.usage_id < (t.id + 1) << 40
  where s.session_id = :session
)
select
  ifnull(sum(c.calls), 0) as calls,
  ifnull(sum(c.input_tokens), 0) as input,
  ifnull(sum(c.cache_read_tokens), 0) as cache_read,
  ifnull(sum(c.cache_write_tokens), 0) as cache_write,
  ifnull(sum(c.output_tokens), 0) as output,
  case when ifnull(sum(c.unpriced_calls), 0) = 0 then round(ifnull(sum(c.cost_usd), 0), 6) end as cost_usd,
  case when ifnull(sum(c.calls), 0) = 0 then 0.0 else round(sum(c.cost_usd), 6) end as priced_usd,
  ifnull(sum(c.unpriced_calls), 0) as unpriced_calls,
  ifnull(sum(c.placeholders), 0) as placeholder_calls,
  (select ifnull(sum(output_missing), 0) from missing) as output_missing,
  (select round(ifnull(sum(output_missing * output_price) / 1e6, 0.0), 6) from missing) as cost_missing_usd,
  ifnull(sum(c.calls) filter (where h.kind = 'main'), 0) as main_calls,
  case when ifnull(sum(c.unpriced_calls) filter (where h.kind = 'main'), 0) = 0
    then round(ifnull(sum(c.cost_usd) filter (where h.kind = 'main'), 0), 6) end as main_usd,
  case when ifnull(sum(c.unpriced_calls) filter (where h.kind <> 'main'), 0) = 0
    then round(ifnull(sum(c.cost_usd) filter (where h.kind <> 'main'), 0), 6) end as subagents_usd
from sessions as s
join transcripts as t on t.session_id = s.id
left join priced_sums as c on c.thread_id >= t.id << 20 and c.thread_id < (t.id + 1) << 20
left join threads as h on h.id = c.thread_id
where s.session_id = :session;
