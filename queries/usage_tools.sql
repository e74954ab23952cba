-- usage_tools: what tools or MCP servers put into the context, one row each, and one total row.
-- A use and its result count once, where they were first made (D2).
--   :by       tool or server (MCP servers only); null = tool
--   :since    UTC milliseconds: uses and results at or after it; null = all
--   :until    UTC milliseconds: uses and results before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: key: the tool's or server's name, null where only a result is left of the use. uses: exact.
-- result_tokens: characters / 4 and 1,500 an image, estimated (X-size). carried_tokens: the same times the
-- later calls of the result's epoch, estimated (D13). errors: results that are an error, exact.
with
wanted_projects as (
  select t.id as transcript_id
  from projects p join sessions s on s.project_id = p.id join transcripts t on t.session_id = s.id
  where instr(lower(p.path), lower(:project))
),
last_calls as materialized (
  select thread_id, branch, epoch, max(ordinal) as ordinal
  from responses where id > 0 group by thread_id, branch, epoch
),
named as (
  select
    u.*,
    -- A result without its use in this transcript has its name from where the use stands.
    case when u.name is null
      then (select o.name from tool_uses o where o.tool_use_id = u.tool_use_id and o.owns = 1)
      else u.name end as tool,
    case when u.name is null
      then (select o.server from tool_uses o where o.tool_use_id = u.tool_use_id and o.owns = 1)
      else u.server end as of_server
  from tool_uses u
  where :project is null or u.transcript_id in (select transcript_id from wanted_projects)
),
counted as (
  select
    case when :by = 'server' then of_server else tool end as key,
    owns = 1 and name is not null and (:since is null or use_ms >= :since) and (:until is null or use_ms < :until) as is_use,
    owns_result = 1 and result_record_id is not null
      and (:since is null or result_ms >= :since) and (:until is null or result_ms < :until) as is_result,
    result_tokens, is_error, result_record_id
  from named
  where :by is not 'server' or of_server is not null
),
summed as (
  select
    0 as is_total,
    c.key,
    sum(c.is_use) as uses,
    ifnull(sum(c.result_tokens) filter (where c.is_result), 0) as result_tokens,
    ifnull(sum(c.result_tokens * max(ifnull(l.ordinal - r.call_ordinal, 0), 0)) filter (where c.is_result), 0)
      as carried_tokens,
    ifnull(sum(c.is_error) filter (where c.is_result), 0) as errors
  from counted c
  left join records r on r.id = c.result_record_id
  left join last_calls l on l.thread_id = r.thread_id and l.branch = r.branch and l.epoch = r.epoch
  where c.is_use or c.is_result
  group by c.key
)
select key, uses, result_tokens, carried_tokens, errors, is_total from summed
union all
select null, ifnull(sum(uses), 0), ifnull(sum(result_tokens), 0), ifnull(sum(carried_tokens), 0),
  ifnull(sum(errors), 0), 1
from summed
order by is_total, result_tokens desc, uses desc, key;
