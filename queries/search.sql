-- search: prompts, answers, summaries and tool uses, the latest first; which of them match is asked of the search file.
--   :ids      a JSON array of block and tool use ids; null = all
--   :role     prompt, answer, summary or tool; null = all
--   :tool     name of a tool or MCP server, in any case; null = all
--   :session  a session's id; null = all
--   :project  part of a project's path, in any case; null = all
--   :since    UTC milliseconds: said at or after it; null = all
--   :until    UTC milliseconds: said before it; null = all
--   :limit    rows; null = all
-- Columns: id: for the preview. message: number in the session's own view, or in its thread where that is another
-- than the main one. agent: main, or the agent type. copies: the same in other transcripts, not shown. gone: 1 = its
-- transcript is no longer on disk. in_all: rows there are without the limit.
with wanted (id) as (
  select value from json_each(:ids)
  union select block_id from texts where :ids is null
  union select id from tool_uses where :ids is null
),
found as (
  select
    w.id, r.id as record_id, r.message, r.time_ms, r.thread_id,
    -- A copied prompt or summary may say nothing of itself: it goes with the call that answers it (D2).
    case when r.is_copied = 1 or r.type = 'assistant' then r.is_copied else ifnull((
      select x.is_copied from responses x where x.thread_id = r.thread_id and x.id > r.id order by x.id limit 1), 0)
    end as is_copied,
    b.chars as size, null as tool, null as server,
    case when r.is_summary = 1 then 'summary' when r.is_prompt = 1 then 'prompt' else 'answer' end as role
  from wanted w cross join blocks b on b.id = w.id cross join records r on r.id = b.record_id
  where r.is_prompt = 1 or r.is_summary = 1 or r.type = 'assistant' and b.kind = 'text'
  union all
  select
    w.id, r.id, r.message, ifnull(u.use_ms, r.time_ms), u.thread_id, u.is_copied, u.input_hash, u.name, u.server,
    'tool'
  from wanted w cross join tool_uses u on u.id = w.id cross join records r on r.id = u.use_record_id
  where u.name is not null and (u.is_nested = 0 or u.owns = 1)
),
placed as (
  select
    f.*, t.id as transcript_id, t.session_id as session_key, s.session_id, p.path as project, t.gone, t.kind,
    t.in_view, t.path, t.first_ms, f.thread_id = t.id << 20 and t.kind = 'main' as is_main,
    -- A copy tells the same at the same time.
    row_number() over same as nth,
    count(*) over (partition by f.role, ifnull(f.time_ms, -f.id), f.size) - 1 as copies
  from found f
    cross join transcripts t on t.id = f.record_id >> 40
    left join sessions s on s.id = t.session_id
    left join projects p on p.id = s.project_id
  where t.superseded = 0
    and (:role is null or f.role = :role)
    and (:tool is null or lower(f.tool) = lower(:tool) or lower(f.server) = lower(:tool))
    and (:session is null or s.session_id = :session)
    and (:project is null or instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/')))
    and (:since is null or f.time_ms >= :since)
    and (:until is null or f.time_ms < :until)
  window same as (
    partition by f.role, ifnull(f.time_ms, -f.id), f.size
    order by f.is_copied, t.in_view desc, t.first_ms is null, t.first_ms, t.path, f.id)
),
shown as (
  select *, count(*) over () as in_all from placed where nth = 1
  order by time_ms is null, time_ms desc, path, id desc
  limit ifnull(:limit, -1)
)
select
  h.id,
  h.session_id as session,
  h.project,
  h.message + case when h.is_main = 0 or h.in_view = 0 then 0 else ifnull((
    -- Numbers run on over the parts of a session.
    select sum(f.messages)
    from transcripts o join threads f on f.id = o.id << 20
    where o.session_id = h.session_key and o.kind = 'main' and o.in_view = 1 and o.id <> h.transcript_id
      and (o.first_ms is null, ifnull(o.first_ms, 0), o.path)
        < (h.first_ms is null, ifnull(h.first_ms, 0), h.path)), 0) end as message,
  case when h.is_main then 'main' else (
    select a.agent from thread_agents a where a.thread_key = h.thread_id) end as agent,
  strftime('%Y-%m-%dT%H:%M:%fZ', h.time_ms / 1000.0, 'unixepoch') as time,
  strftime('%Y-%m-%d %H:%M', h.time_ms / 1000, 'unixepoch', 'localtime') as local_time,
  h.role,
  h.tool,
  h.copies,
  h.gone,
  h.in_all
from shown h
order by h.time_ms is null, h.time_ms desc, h.path, h.id desc;
