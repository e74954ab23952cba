-- status_opener: whether a record of a transcript's main thread has a prompt or boundary as its child (D10).
--   :transcript  id of the transcript
--   :uuid        of the record, 16 bytes; null = the records without a parent
select 1 as opens
from records
where transcript_id = :transcript and parent_uuid is :uuid and opens = 1 and thread_id = :transcript << 20
limit 1;
