-- thread_agents: who works in each thread. One row a thread.
--   thread_key  surrogate key of the thread, for joins; it differs from store to store
--   agent       main for the main thread, else the agent type; null = not logged. Exact.
create view thread_agents as
select
  h.id as thread_key,
  case when h.kind = 'main' then 'main' else coalesce(
    case when h.kind = 'subagent' then t.agent_type end,
    (select u.agent_type
      -- Ids are stored without their prefix and indexed by their ends.
      from (select case when i.id glob 'toolu_[^=]*' then substr(i.id, 7) else '=' || i.id end as use_key
          from (select coalesce(h.parent_tool_use_id, t.parent_tool_use_id) as id) i) p
        cross join tool_uses u
          on u.key_end = substr(p.use_key, iif(length(p.use_key) = 24, -6, -64)) and u.use_key = p.use_key
        join transcripts o on o.id = u.transcript_id
      where u.agent_type is not null
      order by u.owns desc, u.use_ms is null, u.use_ms, o.path, u.id limit 1),
    (select u.agent_type from tool_uses u join transcripts o on o.id = u.transcript_id
      where u.agent_id = coalesce(h.agent_id, t.agent_id) and u.agent_type is not null
      order by u.owns desc, u.use_ms is null, u.use_ms, o.path, u.id limit 1)
  ) end as agent
from threads h join transcripts t on t.id = h.transcript_id;
