-- calls: one row a billed API call, each once, where it was first made (D1, D2). Totals come from here.
--   session_id, project   the session that owns it and its project's path
--   thread_kind           main, subagent, sidechain or progress
--   agent                 main, or the agent type; null = not logged
--   model                 as logged
--   timestamp             of its last record, ISO 8601 UTC; time_ms the same in milliseconds
--   context_tokens        input + cache read + cache write (X-ctx), exact
--   input_tokens          uncached input, exact
--   cache_read_tokens, cache_write_tokens            exact; cache_write_1h_tokens: of these, for one hour
--   output_tokens         as logged; thinking_tokens: of it, null = not logged
--   is_placeholder        1 = its output is what was known at the start: it and the cost are at least so much (D9)
--   output_missing        how much more output a placeholder stands for, estimated; cost_missing_usd: what that costs
--   web_searches          searches made by the service, exact
--   cost_usd              at list price (D15), derived; null = unpriced
--   is_advisor            1 = an advisor's call: billed, but in no curve
--   retained              1 = its bytes are gone from every transcript; it was billed and stays (D4)
--   stop_reason, effort                              as logged
--   service_tier, speed, geo                         as logged; null = standard or not logged
--   request_id, message_id                           as logged in the owning record
--   git_branch            as logged; null = none
--   requested_model, skill, plugin, mcp_server, mcp_tool   as newer versions log them (D20); null = not logged
--   miss_reason, missed_tokens   why the prompt cache did not hold, as the API told; null = not told
--   path                  the owning transcript
create view calls as
select
  s.session_id,
  p.path as project,
  h.kind as thread_kind,
  (select a.agent from thread_agents a where a.thread_key = c.thread_id) as agent,
  c.model,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.time_ms / 1000.0, 'unixepoch') as timestamp,
  c.context_tokens,
  c.input_tokens,
  c.cache_read_tokens,
  c.cache_write_tokens,
  c.cache_write_1h_tokens,
  c.output_tokens,
  c.thinking_tokens,
  c.is_placeholder,
  c.output_missing,
  c.web_searches,
  c.cost_usd,
  c.cost_missing_usd,
  c.is_advisor,
  c.retained,
  r.stop_reason,
  r.service_tier,
  r.speed,
  r.geo,
  r.effort,
  r.request_id,
  r.message_id,
  r.git_branch,
  f.requested_model,
  f.skill,
  f.plugin,
  f.mcp_server,
  f.mcp_tool,
  f.miss_reason,
  f.missed_tokens,
  t.path,
  c.time_ms
from priced_calls c
  left join responses r on r.id = c.response_id
  left join response_facts f on f.response_id = c.response_id
  left join threads h on h.id = c.thread_id
  left join transcripts t on t.id = c.transcript_id
  left join sessions s on s.id = t.session_id
  left join projects p on p.id = s.project_id;
