-- tool_results: one row a tool use and its result in a transcript.
--   session_id, project   its session and the project's path
--   thread_kind           main, subagent, sidechain or progress
--   tool                  the tool's name; null = only the result is left
--   server                MCP server in the name; null = a built-in tool
--   path, command         what it was used on: file; command, pattern, URL, query or skill, as logged up to 2 KiB
--   read_offset, read_limit   of a Read, as logged
--   agent_type            of Task and Agent: the agent it started
--   timestamp             of the use, ISO 8601 UTC; time_ms the same in milliseconds
--   result_timestamp      of the result; null = none logged
--   result_chars          characters of its text, exact
--   result_tokens         characters / 4 and 1,500 an image, estimated (X-size)
--   is_error, is_stub, is_cut   1 = an error; only says that nothing changed; cut short or moved to a file
--   tool_use_id           as logged
--   is_owner              1 = totals count the use; is_result_owner: 1 = totals count the result (D2)
--   in_view               1 = its session's own view shows it (D3)
--   transcript            the transcript it stands in; offset: the byte at which the record of the use begins
create view tool_results as
select
  s.session_id,
  p.path as project,
  h.kind as thread_kind,
  u.name as tool,
  u.server,
  u.path,
  u.command,
  u.read_offset,
  u.read_limit,
  u.agent_type,
  strftime('%Y-%m-%dT%H:%M:%fZ', u.use_ms / 1000.0, 'unixepoch') as timestamp,
  strftime('%Y-%m-%dT%H:%M:%fZ', u.result_ms / 1000.0, 'unixepoch') as result_timestamp,
  u.result_chars,
  u.result_tokens,
  u.is_error,
  u.is_stub,
  u.is_cut,
  u.tool_use_id,
  u.owns = 1 and u.name is not null as is_owner,
  u.owns_result = 1 and u.result_record_id is not null as is_result_owner,
  t.in_view = 1 and t.superseded = 0 as in_view,
  t.path as transcript,
  u.use_record_id & ((1 << 40) - 1) as offset,
  u.use_ms as time_ms
from tool_uses u
  left join threads h on h.id = u.thread_id
  left join transcripts t on t.id = u.transcript_id
  left join sessions s on s.id = t.session_id
  left join projects p on p.id = s.project_id;
