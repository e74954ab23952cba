-- usage_windows: what filled the windows, one row a category or file, and one total row: the ledger, summed.
--   :by       category or file (as logged); null = category
--   :since    UTC milliseconds: what came at or after it; null = all
--   :until    UTC milliseconds: what came before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: key: the category or the path. blocks: parts of messages. tokens: what came in once; shares of the billed
-- output, else estimated (D9). carried_tokens: times the calls that carried it, estimated. carried_usd: the same at
-- the price of cache reads, derived; in the total the sum of what is priced, in a row null where a call has no price;
-- priced_usd: the sum of what is priced; null = nothing is.
with
wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
),
named as (
  select
    case when :by = 'file' then (select u.path from tool_uses as u where u.id = l.tool_use_key) else l.category end as key,
    l.block_key, l.tokens, l.carried_tokens, l.carried_usd
  from ledger_spans as l
  where (:by is not 'file' or l.tool_use_key is not null)
    and (:since is null or l.time_ms >= :since)
    and (:until is null or l.time_ms < :until)
    and (:project is null or l.thread_key >> 20 in (select transcript_id from wanted))
),
summed as (
  select key, count(*) as blocks, sum(tokens) as tokens, sum(carried_tokens) as carried_tokens,
         sum(carried_usd) as priced_usd, count(*) = count(carried_usd) as is_priced
  from named
  where key is not null
  group by key
)
select key, blocks, tokens, carried_tokens, round(case when is_priced then priced_usd end, 6) as carried_usd,
       round(priced_usd, 6) as priced_usd, 0 as is_total
from summed
union all
select null, ifnull(sum(blocks), 0), ifnull(sum(tokens), 0), ifnull(sum(carried_tokens), 0),
       round(case when count(*) = 0 then 0.0 else sum(priced_usd) end, 6),
       round(case when count(*) = 0 then 0.0 else sum(priced_usd) end, 6), 1
from summed
order by is_total, carried_tokens desc, key;
