-- usage: tokens and cost of the billed API calls, one row a model, day, project …, and one total row.
-- Each call counts once, where it was first made (D1, D2). Exact, but for cost_usd, which is list price (D15).
--   :by       model, day, week, month, block, project, session or agent; null = model
--   :since    UTC milliseconds: calls at or after it; null = all
--   :until    UTC milliseconds: calls before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: key: the model; the user's day, the Monday of the week or the month (D6); the start of the 5-hour
-- block; the project's path; the session's id; the agent type, main for the main thread.
-- input, cache_read, cache_write (of which 5m and 1h), output: tokens. cost_usd: null where a call has no
-- price, in the total the sum of what is priced. retained_calls: billed, but no longer in any transcript (D4).
-- nonstandard_calls: with a speed, tier or place of its own that the price list has no price for: costed as standard.
with recursive
-- A block begins at the full hour of the first call after the block before it has ended, five hours later.
blocks (start) as (
  select min(time_ms) / 3600000 * 3600000 from api_calls where :by = 'block'
  union all
  select (select min(time_ms) / 3600000 * 3600000 from api_calls where time_ms >= start + 18000000)
  from blocks where start is not null
),
quarters (n) as (values (0) union all select n + 1 from quarters where n < 19),
block_quarters as materialized (
  select start / 900000 + n as quarter, start from blocks cross join quarters where start is not null
),
wanted_projects as (
  select t.id as transcript_id
  from projects p join sessions s on s.project_id = p.id join transcripts t on t.session_id = s.id
  where instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))
),
-- part: what a row is made of. Of time a quarter of an hour, since turning a time into the user's day is slow; every
-- zone is made of them.
spent as (
  select
    case ifnull(:by, 'model')
      when 'model' then model
      when 'project' then transcript_id
      when 'session' then transcript_id
      when 'agent' then thread_id
      else time_ms / 900000
    end as part,
    price_id,
    speed,
    count(*) as calls,
    sum(input_tokens) as input,
    sum(cache_read_tokens) as cache_read,
    sum(cache_write_tokens) as cache_write,
    sum(cache_write_1h_tokens) as cache_write_1h,
    sum(output_tokens) as output,
    sum(web_searches) as searches,
    sum(retained) as retained_calls,
    sum(is_placeholder) as placeholder_calls,
    sum(output_missing) as output_missing
  from api_calls
  where (:since is null or time_ms >= :since)
    and (:until is null or time_ms < :until)
    and (:project is null or transcript_id in (select transcript_id from wanted_projects))
  group by part, price_id, speed
),
priced as (
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
    s.*,
    case when s.speed is not null and s.speed is not p.speed then s.calls else 0 end as nonstandard_calls,
    (s.input * p.input_usd + s.cache_read * p.cache_read_usd
      + (s.cache_write - s.cache_write_1h) * p.cache_write_5m_usd + s.cache_write_1h * p.cache_write_1h_usd
      + s.output * p.output_usd) / 1e6 + ifnull(s.searches * p.web_search_usd / 1e3, 0) as usd,
    s.output_missing * p.output_usd / 1e6 as missing_usd
  from spent s left join prices p on p.id = s.price_id
),
summed as (
  select
    0 as is_total, key, sum(calls) as calls, sum(input) as input, sum(cache_read) as cache_read,
    sum(cache_write) as cache_write, sum(cache_write - cache_write_1h) as cache_write_5m,
    sum(cache_write_1h) as cache_write_1h, sum(output) as output, sum(usd) as priced_usd,
    ifnull(sum(calls) filter (where price_id is null), 0) as unpriced_calls,
    sum(retained_calls) as retained_calls, sum(nonstandard_calls) as nonstandard_calls,
    sum(placeholder_calls) as placeholder_calls, sum(output_missing) as output_missing,
    ifnull(sum(missing_usd), 0.0) as missing_usd
  from priced group by key
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
