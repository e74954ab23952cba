-- trend_repeats: the transcripts whose live path begins with a history that was written again (D10): behind its first
-- record stand lines of answers, or results of tool uses, that stand before it.
--   :roots  JSON array of [transcript, branch that follows nothing]
-- Columns: transcript.
select a.thread_id >> 20 as transcript
from json_each(:roots) as w
cross join branches as a on a.thread_id = (w.value ->> 0) << 20 and a.branch = w.value ->> 1
where exists (
    select 1 from stored_records as r
    where r.id >= a.first_record_id and r.id < (w.value ->> 0) + 1 << 40
      and r.id - r.response_back < a.first_record_id)
  or exists (
    select 1 from stored_blocks as b
    where b.id >= a.first_record_id and b.id < (w.value ->> 0) + 1 << 40
      and b.id - b.use_back < a.first_record_id)
order by transcript;
