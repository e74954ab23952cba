-- trend_removals: the blocks that main threads say were taken out of the context (D10).
--   :transcripts  JSON array of transcripts
-- Columns: block_id.
select b.id as block_id
from removals as m
cross join records as r on r.id = m.record_id
cross join records as x on x.transcript_id = r.transcript_id
  and substr(x.uuid, 1, 4) = substr(m.uuid, 1, 4) and x.uuid = m.uuid and x.is_duplicate = 0
cross join blocks as b on b.id >= x.id and b.id < x.id + x.length
where m.uuid is not null and r.thread_id = r.transcript_id << 20
  and r.transcript_id in (select value from json_each(:transcripts))
union
select b.id
from removals as m
cross join records as r on r.id = m.record_id
cross join tool_uses as u
  on u.key_end = substr(m.use_key, iif(length(m.use_key) = 24, -6, -64)) and u.use_key = m.use_key
    and +u.transcript_id = r.transcript_id
cross join stored_records as q on q.id = u.result_record_id
cross join blocks as b on b.id >= q.id and b.id < q.id + q.length and b.tool_use_id = u.id and b.kind = 'tool_result'
where m.use_key is not null and r.thread_id = r.transcript_id << 20
  and r.transcript_id in (select value from json_each(:transcripts));
