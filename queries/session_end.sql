-- session_end: the last record of a transcript's main thread up to a message, where it stands, the highest number of a
-- message up to it, and the latest time logged up to it.
--   :transcript  id of the transcript
--   :message     number of the last message, null = all
with kept as (
  select id, message
  from records
  where id >= :transcript << 40 and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
    and message is not null and (:message is null or message <= :message)
), ends as (
  select max(id) as id, max(message) as message from kept
)
select e.id, r.branch, r.epoch, e.message,
       (select max(time_ms) from records
        where id >= :transcript << 40 and id <= e.id
          and (message is null or thread_id <> :transcript << 20 or :message is null or message <= :message)) as last_ms
from ends as e
join records as r on r.id = e.id;
