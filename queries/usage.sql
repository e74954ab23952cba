-- usage: tokens and cost of the billed API calls, one row a model, day, project …, and one total row.
-- Each call counts once, where it was first made (D1, D2). Exact, but for cost_usd, which is list price (D15).
--   :by       model, day, week, month, block, project, session or agent; null = model
--   :since    UTC milliseconds: calls at or after it; null = all
--   :until    UTC milliseconds: calls before it; null = all
--   :project  part of a project's path, in any case; null = all
--   :apart    1 = estimate what placeholders lack, which takes as long as all else; null = no
-- Columns: key: the model; the user's day, the Monday of the week or the month (D6); the start of the 5-hour
-- block; the project's path; the session's id; the agent type, main for the main thread.
-- input, cache_read, cache_write (of which 5m and 1h), output: tokens. cost_usd: null where a call has no
-- price, in the total the sum of what is priced, as is priced_usd in each row (null = nothing is), by which they stand.
-- retained_calls: billed, but no longer in any transcript (D4).
-- nonstandard_calls: with a speed, tier or place of its own that the price list has no price for: costed as standard.
-- placeholder_calls: their output is a placeholder (D9), so output and cost are at least so much; output_missing,
-- cost_missing_usd: how much more it would be, estimated, in no other sum; null = not asked for.
with recursive
-- A block begins at the full hour of the first call after the block before it has ended, five hours later.
blocks (start) as (
  select min(time_ms) / 3600000 * 3600000 from stored_calls where :by = 'block'
  union all
  select (select min(time_ms) / 3600000 * 3600000 from stored_calls where time_ms >= start + 18000000)
  from blocks where start is not null
),
quarters (n) as (values (0) union all select n + 1 from quarters where n < 19),
block_quarters as materialized (
  select start / 900000 + n as quarter, start from blocks cross join quarters where start is not null
),
wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
),
-- Whole quarters of an hour come from sums, what stands before the first and behind the last of them call by call.
ends (first, last) as (
  select
    case when :since is not null then max(:since + 899999, 0) / 900000 when :until is not null then 0 else -1 end,
    ifnull(:until / 900000, 1 << 60)
),
-- What placeholders lack: only transcripts that have some in the period are looked through, each once.
lacking as materialized (
  select distinct s.transcript_id from ends as e cross join priced_sums as s
  where :apart and s.placeholders > 0 and ifnull(s.quarter, -1) >= e.first - 1 and ifnull(s.quarter, -1) <= e.last
),
missing as materialized (
  select m.thread_id, m.time_ms / 900000 as quarter, m.model, m.output_missing, m.output_price
  from lacking as l
  cross join missing_outputs as m on m.usage_id >= l.transcript_id << 40 and m.usage_id < (l.transcript_id + 1) << 40
  where (:since is null or m.time_ms >= :since) and (:until is null or m.time_ms < :until)
),
counted as (
  select s.thread_id, s.quarter, s.model, s.calls, s.input_tokens, s.cache_read_tokens, s.cache_write_tokens,
    s.cache_write_1h_tokens, s.output_tokens, s.retained, s.unpriced_calls, s.nonstandard_calls, s.cost_usd,
    s.placeholders, 0 as output_missing, null as missing_usd
  from ends as e cross join priced_sums as s
  where ifnull(s.quarter, -1) >= e.first and ifnull(s.quarter, -1) < e.last
  union all
  select c.thread_id, c.time_ms / 900000, c.model, 1, c.input_tokens, c.cache_read_tokens, c.cache_write_tokens,
    c.cache_write_1h_tokens, c.output_tokens, c.retained, c.is_unpriced, c.is_nonstandard, c.cost_usd,
    c.is_placeholder, 0, null
  from ends as e cross join priced_calls as c
  where c.time_ms >= :since and c.time_ms < min(e.first * 900000, ifnull(:until, 1 << 60))
  union all
  select c.thread_id, c.time_ms / 900000, c.model, 1, c.input_tokens, c.cache_read_tokens, c.cache_write_tokens,
    c.cache_write_1h_tokens, c.output_tokens, c.retained, c.is_unpriced, c.is_nonstandard, c.cost_usd,
    c.is_placeholder, 0, null
  from ends as e cross join priced_calls as c
  where c.time_ms >= max(e.last * 900000, e.first * 900000) and c.time_ms < :until
  union all
  select thread_id, quarter, model, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, 0, output_missing,
    output_missing * output_price / 1e6
  from missing
),
-- part: what a row is made of. Of time a quarter of an hour, since turning a time into the user's day is slow; every
-- zone is made of them.
spent as (
  select
    case ifnull(:by, 'model')
      when 'model' then model
      when 'project' then thread_id >> 20
      when 'session' then thread_id >> 20
      when 'agent' then thread_id
      else quarter
    end as part,
    sum(calls) as calls,
    sum(input_tokens) as input,
    sum(cache_read_tokens) as cache_read,
    sum(cache_write_tokens) as cache_write,
    sum(cache_write_1h_tokens) as cache_write_1h,
    sum(output_tokens) as output,
    sum(cost_usd) as usd,
    sum(retained) as retained_calls,
    sum(unpriced_calls) as unpriced_calls,
    sum(nonstandard_calls) as nonstandard_calls,
    sum(placeholders) as placeholder_calls,
    sum(output_missing) as output_missing,
    sum(missing_usd) as missing_usd
  from counted
  where :project is null or thread_id >> 20 in (select transcript_id from wanted)
  group by part
),
named as (
  select
    case ifnull(:by, 'model')
      when 'model' then s.part
      when 'day' then date(s.part * 900, 'unixepoch', 'localtime')
      when 'week' then date(s.part * 900, 'unixepoch', 'localtime', 'weekday 0', '-6 days')
      when 'month' then strftime('%Y-%m', s.part * 900, 'unixepoch', 'localtime')
      when 'block' then strftime('%Y-%m-%dT%H:%M:%SZ', (
        select start from block_quarters b where b.quarter = s.part) / 1000, 'unixepoch')
      when 'project' then (
        select p.path from transcripts t join sessions n on n.id = t.session_id
        join projects p on p.id = n.project_id where t.id = s.part)
      when 'session' then (
        select n.session_id from transcripts t join sessions n on n.id = t.session_id
        where t.id = s.part)
      when 'agent' then (select a.agent from thread_agents a where a.thread_key = s.part)
    end as key,
    s.*
  from spent s
),
summed as (
  select
    0 as is_total, key, sum(calls) as calls, sum(input) as input, sum(cache_read) as cache_read,
    sum(cache_write) as cache_write, sum(cache_write - cache_write_1h) as cache_write_5m,
    sum(cache_write_1h) as cache_write_1h, sum(output) as output, sum(usd) as priced_usd,
    sum(unpriced_calls) as unpriced_calls, sum(retained_calls) as retained_calls,
    sum(nonstandard_calls) as nonstandard_calls, sum(placeholder_calls) as placeholder_calls,
    sum(output_missing) as output_missing, ifnull(sum(missing_usd), 0.0) as missing_usd
  from named group by key
),
listed as (
  select
    key, calls, input, cache_read, cache_write, cache_write_5m, cache_write_1h, output,
    case when unpriced_calls = 0 then priced_usd end as cost_usd, priced_usd,
    unpriced_calls, retained_calls, nonstandard_calls, placeholder_calls, output_missing, missing_usd, is_total
  from summed
  union all
  select
    null, ifnull(sum(calls), 0), ifnull(sum(input), 0), ifnull(sum(cache_read), 0),
    ifnull(sum(cache_write), 0), ifnull(sum(cache_write_5m), 0), ifnull(sum(cache_write_1h), 0),
    ifnull(sum(output), 0),
    case when count(*) = 0 then 0.0 else sum(priced_usd) end,
    case when count(*) = 0 then 0.0 else sum(priced_usd) end,
    ifnull(sum(unpriced_calls), 0), ifnull(sum(retained_calls), 0), ifnull(sum(nonstandard_calls), 0),
    ifnull(sum(placeholder_calls), 0), ifnull(sum(output_missing), 0), ifnull(sum(missing_usd), 0.0), 1
  from summed
)
select key, calls, input, cache_read, cache_write, cache_write_5m, cache_write_1h, output,
  round(cost_usd, 6) as cost_usd, round(priced_usd, 6) as priced_usd, unpriced_calls, retained_calls, nonstandard_calls,
  placeholder_calls, case when :apart then output_missing end as output_missing,
  case when :apart then round(missing_usd, 6) end as cost_missing_usd, is_total
from listed
order by
  is_total,
  case when :by in ('day', 'week', 'month', 'block') then ifnull(key, '') end,
  priced_usd desc, input + cache_read + cache_write + output desc, key;
