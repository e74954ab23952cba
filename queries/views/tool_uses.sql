-- tool_uses: one row a tool use in a transcript, with its result once that is there. For names of session and project
-- beside it take the view tool_results.
--   id                    id of its tool_use block; of its tool_result where the use is not in this transcript
--   transcript_id, thread_id   where it stands
--   tool_use_id           as logged; null = none. use_key: the same as stored, key_end: by what it is indexed: to find
--                         others of that id look for o.key_end = u.key_end and o.use_key = u.use_key
--   name, server          the tool's name; the MCP server in it. Null = not in this transcript; a built-in tool
--   path, command         file path; command, pattern, URL, query or skill; as logged up to 2 KiB
--   read_offset, read_limit   of a Read, as logged
--   agent_type, agent_id, resolved_model   of Task and Agent: what was asked for, which one ran, on which model
--   input_hash            over name and input: the same call again has the same; result_hash: over the result's text
--   use_record_id, use_ms, result_record_id, result_ms   its records and their times; null = none
--   result_chars          characters of the result's text parts, exact
--   result_images         images in it; result_tokens: ceil(chars / 4) + 1,500 an image (X-size), estimated
--   is_error, is_stub, is_cut   1 = an error; only says that nothing changed; cut short or moved to a file
--   is_own                1 = a call of crusts itself
--   prior_read_id         of a Read: the previous one of the same path, offset and limit in its thread
--   prior_edit_id         of a Read: the last edit of that path before it
--   owns, owns_result     1 = totals count this use, this result (D2)
--   is_copied, is_nested, is_result_copied   1 = copied; inside a progress record; the result or its use is copied
--   use_session, result_session   `sessionId` of its records; null = the session that the transcript's place tells
create view tool_uses as
select
  u.id,
  u.id >> 40 as transcript_id,
  (u.id >> 40) << 20 | u.thread as thread_id,
  case when substr(u.use_key, 1, 1) = '=' then substr(u.use_key, 2) else 'toolu_' || u.use_key end as tool_use_id,
  u.use_key,
  substr(u.use_key, iif(length(u.use_key) = 24, -6, -64)) as key_end,
  (select w.word from words w where w.id = u.name) as name,
  (select nullif(substr(w.word, 6, instr(substr(w.word, 6) || '__', '__') - 1), '')
    from words w where w.id = u.name and substr(w.word, 1, 5) = 'mcp__') as server,
  u.path,
  u.read_offset,
  u.read_limit,
  u.command,
  (select w.word from words w where w.id = u.agent_type) as agent_type,
  u.agent_id,
  (select w.word from words w where w.id = u.resolved_model) as resolved_model,
  u.input_hash,
  u.id - u.use_back as use_record_id,
  u.use_ms,
  u.id + u.result_ahead as result_record_id,
  u.result_ms + ifnull(u.use_ms, 0) as result_ms,
  u.result_hash,
  u.result_chars,
  (u.result_chars + 3) / 4 + 1500 * u.result_images as result_tokens,
  u.result_images,
  u.flags & 1 as is_error,
  u.flags >> 1 & 1 as is_stub,
  u.flags >> 2 & 1 as is_cut,
  u.flags >> 3 & 1 as is_own,
  u.id - u.prior_read_back as prior_read_id,
  u.id - u.prior_edit_back as prior_edit_id,
  u.flags & 128 = 0 as owns,
  u.flags & 256 = 0 as owns_result,
  u.flags >> 4 & 1 as is_copied,
  u.flags >> 5 & 1 as is_nested,
  (select w.word from words w where w.id = u.use_session) as use_session,
  (select w.word from words w where w.id = u.result_session) as result_session,
  u.flags >> 6 & 1 as is_result_copied
from stored_tool_uses u;
