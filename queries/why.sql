-- why: what API calls cost, by part (D21): one row a thread of a session; without a session one row an agent type. Each
-- call counts once, where it was first made (D1, D2). As the view cost_parts has them.
--   :session  the session's id; null = all
--   :since    UTC milliseconds: calls at or after it; null = all
--   :until    UTC milliseconds: calls before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: is_main: 1 = main thread. agent: its type, main for the main thread; null = not logged. description: what it was
-- started for. spawn: the number of the message that started it. calls, unpriced_calls, placeholder_calls: how many, those
-- without a price, and those whose output is a placeholder (D9). Tokens exact, output as logged; USD at list price (D15),
-- summing what is priced; cost_usd: null = a call is unpriced; priced_usd: what is priced.
with wanted as materialized (
  select t.id, t.kind from transcripts t join sessions s on s.id = t.session_id
  where (:session is null or s.session_id = :session)
    and (:project is null or t.id in (
      select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))))
),
part as (
  select p.*
  from wanted w
    cross join stored_responses r on r.thread_id >= w.id << 20 and r.thread_id < (w.id + 1) << 20
    cross join cost_parts p on p.call_key = ifnull(r.shared_call_id, r.id) and p.response_key = r.id
  where r.flags & 8 and (:since is null or p.time_ms >= :since) and (:until is null or p.time_ms < :until)
),
summed as (
  select
    min(thread_key) as thread_key,
    thread_kind,
    agent,
    min(time_ms) as first_ms,
    count(*) as calls,
    sum(is_unpriced) as unpriced_calls,
    sum(is_placeholder) as placeholder_calls,
    sum(new_tokens) as new_tokens,
    sum(carried_tokens) as carried_tokens,
    sum(rebuilt_tokens) as rebuilt_tokens,
    sum(compaction_tokens) as compaction_tokens,
    sum(output_tokens) as output_tokens,
    sum(thinking_tokens) as thinking_tokens,
    sum(searches) as searches,
    ifnull(sum(new_usd), 0.0) as new_usd,
    ifnull(sum(carried_usd), 0.0) as carried_usd,
    ifnull(sum(rebuilt_usd), 0.0) as rebuilt_usd,
    ifnull(sum(compaction_usd), 0.0) as compaction_usd,
    ifnull(sum(output_usd), 0.0) as output_usd,
    ifnull(sum(thinking_usd), 0.0) as thinking_usd,
    ifnull(sum(searches_usd), 0.0) as searches_usd,
    case when count(cost_usd) = count(*) then sum(cost_usd) end as cost_usd,
    ifnull(sum(cost_usd), 0.0) as priced_usd
  from part
  group by
    thread_kind = 'main',
    case when thread_kind = 'main' then 0 when :session is null then agent else thread_key end
)
select
  c.thread_kind = 'main' as is_main,
  c.agent,
  case when :session is not null and c.thread_kind = 'subagent' then t.agent_description end as description,
  case when :session is not null and c.thread_kind <> 'main' then (
    select k.message + o.before
    from (
        select case when i.id glob 'toolu_[^=]*' then substr(i.id, 7) else '=' || i.id end as use_key
        from (select coalesce(h.parent_tool_use_id, t.parent_tool_use_id) as id) i) n
      cross join tool_uses u on u.key_end = substr(n.use_key, iif(length(n.use_key) = 24, -6, -64))
        and u.use_key = n.use_key
      join stored_records k on k.id = u.use_record_id
      join message_offsets o on o.transcript_id = u.transcript_id
    order by u.owns desc, u.id limit 1) end as spawn,
  c.calls,
  c.unpriced_calls,
  c.placeholder_calls,
  c.new_tokens,
  c.carried_tokens,
  c.rebuilt_tokens,
  c.compaction_tokens,
  c.output_tokens,
  c.thinking_tokens,
  c.searches,
  c.new_usd,
  c.carried_usd,
  c.rebuilt_usd,
  c.compaction_usd,
  c.output_usd,
  c.thinking_usd,
  c.searches_usd,
  c.cost_usd,
  c.priced_usd
from summed c
  left join threads h on h.id = c.thread_key
  left join transcripts t on t.id = h.transcript_id
order by is_main desc, c.first_ms is null, c.first_ms, t.path, c.thread_key;
