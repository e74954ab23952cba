-- status_response: a response of a transcript's main thread by its message id or, without one, its request id.
--   :transcript  id of the transcript
--   :message_id  as logged; null = go by the request id
--   :request_id  as logged
select r.id, r.message, r.ordinal, r.branch, r.epoch, r.request_id,
       r.input_tokens, r.cache_read_tokens, r.cache_write_tokens
from responses as r
where (r.message_id = :message_id or (:message_id is null and r.request_id = :request_id))
  and r.id between :transcript << 40 and ((:transcript + 1) << 40) - 1 and r.thread_id = :transcript << 20
  and r.is_advisor = 0
order by r.id;
