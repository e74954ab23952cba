-- usage_tools: what tools or MCP servers put into the context, one row each, and one total row.
-- A use and its result count once, where they were first made (D2).
--   :by       tool or server (MCP servers only); null = tool
--   :since    UTC milliseconds: uses and results at or after it; null = all
--   :until    UTC milliseconds: uses and results before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: key: the tool's or server's name, null where only a result is left of the use. uses: exact.
-- result_tokens: characters / 4 and 1,500 an image, estimated (X-size). carried_tokens: the same times the
-- later calls of the result's epoch, estimated (D13). errors: results that are an error, exact.
-- Whole quarters of an hour come from sums, what stands before the first and behind the last of them use by use; so
-- does where a result may stand behind the last call of its epoch.
with
ends (first, last) as (
  select
    case when :since is not null then max(:since + 899999, 0) / 900000 when :until is not null then 0 else -1 end,
    ifnull(:until / 900000, 1 << 60)
),
wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
),
chosen as (
  select s.* from stored_tool_sums as s
  where :project is null or s.thread_id >> 20 in (select transcript_id from wanted)
),
summed as (
  select s.name, sum(s.uses) as uses, sum(s.results) as results, sum(s.result_tokens) as result_tokens,
    sum(case when p.last_result <= p.last_call then p.last_call * s.result_tokens - s.behind_calls end)
      as carried_tokens,
    sum(s.errors) as errors
  from ends as e cross join chosen as s
    left join spans as p on p.thread_id = s.thread_id and p.branch = s.branch and p.epoch = s.epoch
  where s.quarter >= e.first and s.quarter < e.last and s.name > 0
  group by s.name
),
-- Uses, and results that are to be looked at one by one: those of the edges whole, else for what they carried alone.
edges as materialized (
  select distinct s.thread_id >> 20 as transcript_id from ends as e cross join chosen as s
  where s.quarter = e.first - 1 or s.quarter = e.last
),
late as materialized (
  select distinct s.thread_id >> 20 as transcript_id from chosen as s
    cross join spans as p on p.thread_id = s.thread_id and p.branch = s.branch and p.epoch = s.epoch
  where p.last_result > p.last_call
),
-- Results whose use stands in another transcript have its name.
nameless as materialized (
  select distinct s.thread_id >> 20 as transcript_id from chosen as s where s.name = 0
),
looked_at as (
  select u.*, ifnull(u.name, (select o.name from tool_uses as o where o.key_end = u.key_end
      and o.use_key = u.use_key and o.owns = 1)) as tool,
    u.owns = 1 and u.name is not null and (:since is null or u.use_ms >= :since)
      and (:until is null or u.use_ms < :until)
      and not ifnull(ifnull(u.use_ms / 900000, -1) >= e.first and ifnull(u.use_ms / 900000, -1) < e.last, 0) as is_use,
    u.owns_result and u.result_record_id is not null and (:since is null or u.result_ms >= :since)
      and (:until is null or u.result_ms < :until) as is_result,
    ifnull(u.result_ms / 900000, -1) >= e.first and ifnull(u.result_ms / 900000, -1) < e.last and u.name is not null
      as is_summed
  from (select transcript_id from edges union select transcript_id from late
        union select transcript_id from nameless) as t
    cross join ends as e
    cross join tool_uses as u on u.id >= t.transcript_id << 40 and u.id < (t.transcript_id + 1) << 40
),
by_tool as (
  select (select w.word from words as w where w.id = s.name) as tool, uses, results, result_tokens, carried_tokens, errors
  from summed as s
  union all
  select tool, is_use, is_result and not is_summed, iif(is_result and not is_summed, l.result_tokens, 0),
    case when is_result and r.call_ordinal < p.last_call and (not is_summed or p.last_result > p.last_call)
      then l.result_tokens * (p.last_call - r.call_ordinal) end,
    is_result and not is_summed and l.is_error
  from looked_at as l
    left join records as r on r.id = l.result_record_id and l.is_result
    left join spans as p on p.thread_id = r.thread_id and p.branch = r.branch and p.epoch = r.epoch
  where l.is_use or l.is_result
),
listed as (
  select
    case when :by = 'server' then server else tool end as key,
    sum(uses) as uses, ifnull(sum(result_tokens), 0) as result_tokens,
    ifnull(sum(carried_tokens), 0) as carried_tokens, sum(errors) as errors
  from (
    select *, case when substr(tool, 1, 5) = 'mcp__'
      then nullif(substr(tool, 6, instr(substr(tool, 6) || '__', '__') - 1), '') end as server
    from by_tool)
  where :by is not 'server' or server is not null
  group by 1
  having sum(uses) > 0 or sum(results) > 0
)
select key, uses, result_tokens, carried_tokens, errors, 0 as is_total from listed
union all
select
  null, ifnull(sum(uses), 0), ifnull(sum(result_tokens), 0), ifnull(sum(carried_tokens), 0),
  ifnull(sum(errors), 0), 1
from listed
order by is_total, result_tokens desc, uses desc, key;
