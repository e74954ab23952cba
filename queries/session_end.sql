-- session_end: the last record of the messages 1 to :message (null = all) of a transcript's main thread, where it
-- stands, the highest number among them, and the latest time logged up to it.
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
