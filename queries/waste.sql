-- waste: what was put into contexts for nothing, over all sessions: by habit, file, tool, MCP server, project and
-- session. A result counts once, where it was first made (D2), and under one habit only, the first that fits:
--   duplicate_read  a Read of the same path, offset and limit as before in its thread and on its branch, with no
--                   successful edit in between, unless there is an excuse: a compaction in between, a result that
--                   differs, or an earlier one that was an error, a stub or cut short (D13)
--   noise_read      a Read of what is installed, built or locked (node_modules/, dist/, build/, .next/, target/, .git/,
--                   lock files)
--   repeated_call   another tool's call with the same input and the same result as the one before in its window
--   failed_call     a result that is an error, but of a command line: what a test, a build or a commit says when it
--                   fails is what it was run for (D13)
--   :since    UTC milliseconds: results at or after it; null = all
--   :until    UTC milliseconds: results before it; null = all
--   :project  part of a project's path, in any case; null = all
--   :limit    rows of each kind; null = all
-- Columns: kind: total, habit, file, tool, server, project or session. key. uses: results, exact. tokens: theirs,
-- estimated (D9). wasted_uses, wasted_tokens: of these, what served nothing. carried_tokens: the wasted ones times the
-- later calls of their epoch; carried_usd: that at the cache-read list price, derived, null = a call has no price;
-- priced_usd: of what has one, null = nothing has (D13, D15).
-- sessions: in how many there was waste.
with recursive
wanted as materialized (
  select t.id as transcript_id, s.session_id, p.path as project
  from transcripts t
  left join sessions s on s.id = t.session_id
  left join projects p on p.id = s.project_id
  where :project is null or instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))
),
-- A branch's past: the branches it came from, each up to the record at which it was left.
pasts (thread_id, branch, ancestor, until_id) as (
  select thread_id, branch, branch, null from branches
  union all
  select x.thread_id, x.branch, b.parent_branch,
    ifnull((select min(r.id) from records r where r.transcript_id = b.thread_id >> 20
      and substr(r.uuid, 1, 4) = substr(b.fork_uuid, 1, 4) and r.uuid = b.fork_uuid),
      b.first_record_id)
  from pasts x
  join branches b on b.thread_id = x.thread_id and b.branch = x.ancestor
  where b.fork_uuid is not null and b.parent_branch <> b.branch
),
last_calls as materialized (
  select r.thread_id, r.branch, r.epoch, r.ordinal, p.cache_read_usd
  from (
    select thread_id, branch, epoch, max(ordinal) as ordinal, call_id
    from responses where id > 0 group by thread_id, branch, epoch) r
  left join api_calls c on c.id = r.call_id
  left join prices p on p.id = c.price_id
),
counted as (
  select u.id, r.thread_id, r.branch, r.epoch, r.call_ordinal
  from tool_uses u
  join records r on r.id = u.result_record_id
  where u.owns_result = 1 and u.transcript_id in (select transcript_id from wanted)
),
-- Of each result, the one before of the same call. Apart, so that no text goes through the sorting.
compared as materialized (
  select
    a.*, b.id as block_id,
    lag(u.result_hash) over same_call as hash_before,
    lag(a.epoch) over same_call as epoch_before,
    lag(a.branch) over same_call as branch_before
  from counted a
  join tool_uses u on u.id = a.id
  join stored_records q on q.id = u.result_record_id
  cross join blocks b on b.id >= q.id and b.id < q.id + q.length and b.tool_use_id = u.id and b.kind = 'tool_result'
  window same_call as (partition by u.thread_id, u.input_hash order by u.id)
),
results as (
  select
    u.id, u.path, u.name, u.prior_read_id, u.prior_edit_id, u.is_error, u.is_stub, u.result_hash, u.result_chars,
    u.result_ms, u.input_hash, a.thread_id, a.branch, a.epoch, a.call_ordinal,
    a.hash_before, a.epoch_before, a.branch_before, b.category, b.tokens, w.session_id, w.project,
    case when u.name is null
      then (select o.name from tool_uses o where o.key_end = u.key_end
    and o.use_key = u.use_key and o.owns = 1)
      else u.name end as tool,
    case when u.name is null
      then (select o.server from tool_uses o where o.key_end = u.key_end
    and o.use_key = u.use_key and o.owns = 1)
      else u.server end as of_server
  from compared a
  join tool_uses u on u.id = a.id
  join wanted w on w.transcript_id = u.transcript_id
  join blocks b on b.id = a.block_id
),
inside as (
  select *,
    -- Of a read, the path within the project, since what lies above the project says nothing about the file.
    case when name = 'Read' then
      lower(replace(case when lower(substr(path, 1, length(project))) = lower(project)
        then substr(path, length(project) + 1) else '/' || path end, '\', '/')) end as inside
  from results
),
judged as materialized (
  select
    u.path, u.name, u.tool, u.of_server, u.project, u.session_id, u.tokens,
    case
      when u.prior_read_id is not null
        and (u.prior_edit_id is null or u.prior_edit_id < u.prior_read_id or not exists (
          select 1 from tool_uses e
          where e.thread_id = u.thread_id and e.path = u.path and e.id > u.prior_read_id and e.id < u.id
            and e.name in (select t.name from tool_traits as t where t.edits = 1)
            and e.is_error = 0))
        and exists (
          select 1
          from tool_uses p join records q on q.id = p.result_record_id
          where p.id = u.prior_read_id and p.is_error = 0 and p.is_stub = 0 and p.is_cut = 0 and q.epoch = u.epoch
            and (u.is_stub = 1 or p.result_hash is null or u.result_hash is null or p.result_hash = u.result_hash)
            and (q.branch = u.branch or exists (
              select 1 from pasts x
              where x.thread_id = u.thread_id and x.branch = u.branch and x.ancestor = q.branch
                and q.id <= x.until_id)))
        then 'duplicate_read'
      when u.inside is not null and u.is_error = 0 and (
          instr(inside, '/node_modules/') or instr(inside, '/dist/') or instr(inside, '/build/')
          or instr(inside, '/.next/') or instr(inside, '/target/') or instr(inside, '/.git/')
          or replace(inside, rtrim(inside, replace(inside, '/', '')), '') in (
            'package-lock.lock', 'bun.lock', 'yarn.lock', 'pnpm.lock', 'cargo.lock', 'poetry.lock', 'pipfile.lock',
            'uv.lock', 'gemfile.lock', 'composer.lock', 'package-lock.json', 'pnpm-lock.yaml'))
        then 'noise_read'
      when u.name <> 'Read' and u.input_hash is not null and u.result_hash = u.hash_before
        and u.epoch = u.epoch_before and u.branch = u.branch_before and u.tokens > 0
        then 'repeated_call'
      when u.is_error = 1 and u.name not in (select t.name from tool_traits as t where t.runs_commands = 1)
        then 'failed_call'
    end as habit,
    u.tokens * max(ifnull(l.ordinal - u.call_ordinal, 0), 0) as carried,
    l.cache_read_usd
  from inside u
  left join last_calls l on l.thread_id = u.thread_id and l.branch = u.branch and l.epoch = u.epoch
  where (:since is null or u.result_ms >= :since) and (:until is null or u.result_ms < :until)
),
keyed as (
  select 'total' as kind, null as key, session_id, tokens, habit, carried, cache_read_usd from judged
  union all
  select 'habit', habit, session_id, tokens, habit, carried, cache_read_usd from judged where habit is not null
  union all
  select 'file', path, session_id, tokens, habit, carried, cache_read_usd
  from judged where path is not null and name = 'Read'
  union all
  select 'tool', tool, session_id, tokens, habit, carried, cache_read_usd from judged where tool is not null
  union all
  select 'server', of_server, session_id, tokens, habit, carried, cache_read_usd from judged where of_server is not null
  union all
  select 'project', project, session_id, tokens, habit, carried, cache_read_usd from judged where project is not null
  union all
  select 'session', session_id, session_id, tokens, habit, carried, cache_read_usd
  from judged where session_id is not null
),
summed as (
  select
    kind, key,
    count(*) as uses,
    sum(tokens) as tokens,
    count(habit) as wasted_uses,
    ifnull(sum(tokens) filter (where habit is not null), 0) as wasted_tokens,
    ifnull(sum(carried) filter (where habit is not null), 0) as carried_tokens,
    case when count(*) filter (where habit is not null and carried > 0 and cache_read_usd is null) = 0
      then round(ifnull(sum(carried * cache_read_usd / 1e6) filter (where habit is not null), 0), 6) end as carried_usd,
    round(ifnull(sum(carried * cache_read_usd / 1e6) filter (where habit is not null),
      iif(ifnull(sum(carried) filter (where habit is not null), 0), null, 0)), 6) as priced_usd,
    count(distinct case when habit is not null then session_id end) as sessions
  from keyed
  group by kind, key
),
ranked as (
  select *, row_number() over (partition by kind order by wasted_tokens desc, tokens desc, key) as place from summed
)
select kind, key, uses, tokens, wasted_uses, wasted_tokens, carried_tokens, carried_usd, priced_usd, sessions
from ranked
where (wasted_tokens > 0 or kind = 'total') and (:limit is null or place <= :limit)
order by
  case kind when 'total' then 0 when 'habit' then 1 when 'file' then 2 when 'tool' then 3 when 'server' then 4
    when 'project' then 5 else 6 end,
  place;
