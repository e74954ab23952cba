-- threads_overview: one row a thread of a session: the main one, those of its subagents.
--   session_id, project   its session and the project's path
--   kind                  main, subagent (own file), sidechain (inside a main file) or progress (nested)
--   agent                 main, or the agent type; null = not logged
--   agent_id              as logged
--   description           what the agent was started for, from its .meta.json
--   messages              messages of the thread (D7), exact
--   calls                 API calls that stand in it, exact; owned_calls: those it owns (D2)
--   peak_ctx              most context tokens of one of them (X-ctx), exact
--   in_view               1 = the session's own view shows it (D3)
--   path, thread          its transcript and its number in it, from 0
--   parent_tool_use_id    the tool use that started it
create view threads_overview as
select
  s.session_id,
  p.path as project,
  h.kind,
  (select a.agent from thread_agents a where a.thread_key = h.id) as agent,
  coalesce(h.agent_id, case when h.kind = 'subagent' then t.agent_id end) as agent_id,
  case when h.kind = 'subagent' then t.agent_description end as description,
  h.messages,
  (select count(*) from responses r where r.thread_id = h.id and r.id > 0 and r.call_id is not null) as calls,
  ifnull((select sum(c.calls) from stored_call_sums c where c.thread_id = h.id), 0) as owned_calls,
  (select max(c.peak_tokens) from stored_curves c where c.thread_id = h.id) as peak_ctx,
  t.in_view = 1 and t.superseded = 0 as in_view,
  t.path,
  h.id & ((1 << 20) - 1) as thread,
  coalesce(h.parent_tool_use_id, case when h.kind = 'subagent' then t.parent_tool_use_id end)
    as parent_tool_use_id
from threads h
  join transcripts t on t.id = h.transcript_id
  left join sessions s on s.id = t.session_id
  left join projects p on p.id = s.project_id;
