-- session_record: the record of a transcript's main thread that bears a uuid, its first occurrence (D2).
--   :transcript  id of the transcript
--   :uuid        16 bytes
select id, branch, epoch, response_id, message
from records
where id >= :transcript << 40 and id < (:transcript + 1) << 40
  -- As uuids are indexed.
  and substr(uuid, 1, 4) = substr(:uuid, 1, 4) and uuid = :uuid
  and thread_id = :transcript << 20 and is_duplicate = 0;
