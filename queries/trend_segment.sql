-- trend_segment: the messages of a transcript's main thread from one record to another, both included.
--   :transcript  id of the transcript
--   :first       id of the first record
--   :last        id of the last one
select id
from records
where id between :first and :last and thread_id = :transcript << 20 and message is not null
order by id;
