-- session_first: the first message of a transcript's main thread, and the parent it names.
--   :transcript  id of the transcript
select id, parent_uuid
from records
where id >= :transcript << 40 and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
  and message is not null
order by id
limit 1;
