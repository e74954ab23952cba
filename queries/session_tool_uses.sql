-- session_tool_uses: the tool uses of a transcript's main thread with their results, in log order.
--   :transcript  id of the transcript
select id, tool_use_id, name, server, path, read_offset, read_limit, command, agent_type, agent_id, input_hash,
       use_record_id, use_ms, result_record_id, result_ms, result_hash, result_chars, result_tokens,
       is_error, is_stub, is_cut, is_own, prior_read_id, prior_edit_id
from tool_uses
where id >= :transcript << 40 and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
order by id;
