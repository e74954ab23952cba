-- live_results: the results that came into a transcript's main thread from a call on, with what they cost.
--   :transcript  the transcript
--   :since       id of the call
select id, name, path, result_tokens,
       prior_read_id is not null and (prior_edit_id is null or prior_edit_id < prior_read_id) as is_reread
from tool_uses
where id >= :since and id < (:transcript + 1) << 40 and thread_id = :transcript << 20 and result_record_id is not null
order by id;
