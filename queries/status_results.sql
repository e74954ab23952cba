-- status_results: the tool uses of a transcript's main thread from one on, with what their results cost.
--   :transcript  the transcript
--   :since       id of a tool use
select id, tool_use_id, name, path, read_offset, read_limit, result_tokens,
       result_record_id is not null as has_result,
       prior_read_id is not null and (prior_edit_id is null or prior_edit_id < prior_read_id) as is_reread
from tool_uses
where id >= :since and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
order by id;
