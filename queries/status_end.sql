-- status_end: session_end for the whole of a transcript; the number of messages is what the reader counted.
--   :transcript  the transcript
--   :messages    numbers given so far
select r.id, r.branch, r.epoch, :messages as message,
       (select t.last_ms from transcripts as t where t.id = :transcript) as last_ms
from records as r
where r.id >= :transcript << 40 and r.id < (:transcript + 1) << 40 and r.thread_id = :transcript << 20
  and r.message is not null
order by r.id desc
limit 1;
