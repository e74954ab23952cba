-- status_opener: whether a record of a transcript's main thread has a prompt or boundary as its child (D10).
--   :transcript  id of the transcript
--   :uuid        of the record, 16 bytes; null = the records without a parent
select 1 as opens
from records
where id >= :transcript << 40 and id < (:transcript + 1) << 40
  -- As those are indexed that open a branch.
  and opens and substr(parent_uuid, 1, 4) is substr(:uuid, 1, 4) and parent_uuid is :uuid
  and thread_id = :transcript << 20
limit 1;
