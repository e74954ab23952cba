-- records: one row a record of a transcript, in log order by id; what stored_records keeps narrow, as it is meant.
--   id                    transcript_id << 40 | offset of its first byte; differs from store to store
--   transcript_id, thread_id   where it stands
--   length                bytes, line end left out
--   type, subtype         as logged; subtype of an attachment: its type
--   uuid, parent_uuid     16 bytes; text where it is no uuid; null = none, or of the parent: not kept
--   time_ms               UTC milliseconds; null = none
--   branch, epoch         of its thread: rewinds and compactions so far (D10)
--   call_ordinal          API responses of its thread begun so far, its own included (D13)
--   message               number of its message in its thread; null = it puts nothing into the context (D7)
--   response_id           the API response that it is a line of
--   opens                 1 = a human prompt or a boundary: what can open a branch (D10)
--   is_prompt, is_summary, is_meta   1 = a human prompt (D8); a compaction summary; `isMeta`
--   is_copied             1 = it names another session as its origin (D2)
--   is_duplicate          1 = its uuid stood before in this transcript: kept, counted nowhere (D2)
--   origin                why a user record is no human prompt; of a line of an answer that was cut off: aborted
create view records as
select
  r.id,
  r.id >> 40 as transcript_id,
  r.length,
  (select w.word from words w where w.id = r.type) as type,
  (select w.word from words w where w.id = r.subtype) as subtype,
  r.uuid,
  r.parent_uuid,
  r.time_ms,
  (r.id >> 40) << 20 | r.thread as thread_id,
  r.branch,
  r.epoch,
  r.call_ordinal,
  r.message,
  r.id - r.response_back as response_id,
  r.flags & 1 as opens,
  r.flags >> 1 & 1 as is_prompt,
  r.flags >> 2 & 1 as is_summary,
  r.flags >> 3 & 1 as is_meta,
  r.flags >> 4 & 1 as is_copied,
  r.flags >> 5 & 1 as is_duplicate,
  (select w.word from words w where w.id = r.origin) as origin
from stored_records r;
