-- responses: one row an API response in a thread of a transcript (D1, D7); several may be one billed call (api_calls).
--   id                    of its first record; below 0 = retained: its bytes are gone (D4)
--   transcript_id, thread_id   where it stands
--   last_record_id        its last record there
--   call_id               the API call that it is an occurrence of; null = it logged no usage
--   request_id, message_id, record_session   as logged; of copies that name it, the session that asked
--   message, ordinal      number of its message; its place among the responses of its thread, from 1
--   branch, epoch         of its thread (D10)
--   is_copied, is_nested, is_advisor   1 = copied; found inside a progress record; an advisor's, in no curve (D1, D2)
--   first_ms, last_ms     times of its first and last record, UTC milliseconds
--   has_usage             1 = a record of it carried a usage object
--   model                 as logged on its last record with usage
--   input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens   exact
--   output_tokens         as logged; a placeholder where is_placeholder = 1 (D9); thinking_tokens: of it
--   web_searches          searches made
--   service_tier, speed, geo, stop_reason, effort   as logged; null = standard or not logged
--   git_branch            as logged; null = none
--   is_aborted            1 = it was cut off
create view responses as
select
  r.id,
  r.thread_id >> 20 as transcript_id,
  r.thread_id,
  r.id + r.last_ahead as last_record_id,
  case when r.flags & 8 then ifnull(r.shared_call_id, r.id) end as call_id,
  case when substr(r.request_id, 1, 1) = '=' then substr(r.request_id, 2) else 'req_' || r.request_id end as request_id,
  case when substr(r.message_id, 1, 1) = '=' then substr(r.message_id, 2) else 'msg_' || r.message_id end as message_id,
  (select w.word from words w where w.id = r.record_session) as record_session,
  r.message,
  r.ordinal,
  r.branch,
  r.epoch,
  r.flags & 1 as is_copied,
  r.flags >> 1 & 1 as is_nested,
  r.flags >> 2 & 1 as is_advisor,
  r.last_ms - r.took_ms as first_ms,
  r.last_ms,
  r.flags >> 3 & 1 as has_usage,
  (select w.word from words w where w.id = r.model) as model,
  r.input_tokens,
  r.cache_read_tokens,
  r.cache_write_tokens,
  r.cache_write_1h_tokens,
  r.output_tokens,
  r.thinking_tokens,
  r.web_searches,
  (select w.word from words w where w.id = r.service_tier) as service_tier,
  (select w.word from words w where w.id = r.speed) as speed,
  (select w.word from words w where w.id = r.geo) as geo,
  (select w.word from words w where w.id = r.stop_reason) as stop_reason,
  (select w.word from words w where w.id = r.effort) as effort,
  (select w.word from words w where w.id = r.git_branch) as git_branch,
  r.flags >> 4 & 1 as is_aborted,
  r.flags >> 5 & 1 as is_placeholder
from stored_responses r;
