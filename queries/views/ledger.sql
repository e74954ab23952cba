-- ledger: what filled the windows, with names: one row for each block of a message and stretch of calls that carried it,
-- so that sums by any column say what took the room. Each call counts where it was first made (D2).
--   session_id            the session
--   project               path of its project; null = not told
--   thread_kind           main, subagent, sidechain or progress
--   category              conversation, retrieved, user, system, tools or state (D8)
--   kind                  of the block: text, thinking, tool_use, tool_result, image, document, attachment; or fixed
--   tool, server, file    of a tool use or its result: the tool, its MCP server, the path as logged; else null
--   tokens                of the block: its share of the billed output, or estimated (D9)
--   is_exact              1 = a share of the billed output
--   first_call, last_call the stretch of calls that carried it: ordinals in its thread (D13), both included
--   calls                 how many calls that is
--   carried_tokens        tokens times calls
--   carried_usd           the same at the price of cache reads, derived; null = a call has no price
--   timestamp             when the block came, ISO 8601 UTC; time_ms the same in milliseconds
--   branch, epoch         of the calls that carried it: rewinds and compactions of its thread so far (D10)
--   thread_key, block_key for joins; differ from store to store
create view ledger as
select
  s.session_id,
  p.path as project,
  h.kind as thread_kind,
  l.category,
  l.kind,
  u.name as tool,
  u.server,
  u.path as file,
  l.tokens,
  l.is_exact,
  l.first_call,
  l.last_call,
  l.calls,
  l.carried_tokens,
  l.carried_usd,
  strftime('%Y-%m-%dT%H:%M:%fZ', l.time_ms / 1000.0, 'unixepoch') as timestamp,
  l.time_ms,
  l.branch,
  l.epoch,
  l.thread_key,
  l.block_key
from ledger_spans as l
left join threads as h on h.id = l.thread_key
left join transcripts as t on t.id = h.transcript_id
left join sessions as s on s.id = t.session_id
left join projects as p on p.id = s.project_id
left join tool_uses as u on u.id = l.tool_use_key;
