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
last_calls as materialized (
  select thread_id, branch, epoch, max(ordinal) as ordinal
  from responses where id > 0 group by thread_id, branch, epoch
),
by_tool as (
  select
    -- A result without its use in this transcript has its name from where the use stands.
    ifnull(u.name, (select o.name from tool_uses o where o.key_end = u.key_end
    and o.use_key = u.use_key and o.owns = 1))
      as tool,
    max(u.server) as server,
    count(case when u.owns = 1 and (:since is null or u.use_ms >= :since)
      and (:until is null or u.use_ms < :until) then u.name end) as uses,
    count(r.id) as results,
    sum(case when r.id is not null then u.result_tokens end) as result_tokens,
    sum(case when l.ordinal > r.call_ordinal then u.result_tokens * (l.ordinal - r.call_ordinal) end)
      as carried_tokens,
    count(case when r.id is not null then nullif(u.is_error, 0) end) as errors
  from tool_uses u
    left join records r on r.id = u.result_record_id and u.owns_result = 1
      and (:since is null or u.result_ms >= :since) and (:until is null or u.result_ms < :until)
    left join last_calls l on l.thread_id = r.thread_id and l.branch = r.branch and l.epoch = r.epoch
  where :project is null or u.transcript_id in (
    select t.id from projects p join sessions s on s.project_id = p.id
    join transcripts t on t.session_id = s.id
      where instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/')))
  group by 1
),
listed as (
  select
    case when :by = 'server' then server else tool end as key,
    sum(uses) as uses, ifnull(sum(result_tokens), 0) as result_tokens,
    ifnull(sum(carried_tokens), 0) as carried_tokens, sum(errors) as errors
  from by_tool
  where (uses > 0 or results > 0) and (:by is not 'server' or server is not null)
  group by 1
)
select key, uses, result_tokens, carried_tokens, errors, 0 as is_total from listed
union all
select
  null, ifnull(sum(uses), 0), ifnull(sum(result_tokens), 0), ifnull(sum(carried_tokens), 0),
  ifnull(sum(errors), 0), 1
from listed
order by is_total, result_tokens desc, uses desc, key;
