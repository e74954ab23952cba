-- trend_removals: the blocks that main threads say were taken out of the context (D10).
--   :transcripts  JSON array of transcripts
-- Columns: block_id.
select b.id as block_id
from removals as m
cross join records as r on r.id = m.record_id
cross join blocks as b on b.record_id = (
  select x.id from records as x where x.transcript_id = r.transcript_id and x.uuid = m.uuid and x.is_duplicate = 0)
where m.uuid is not null and r.thread_id = r.transcript_id << 20
  and r.transcript_id in (select value from json_each(:transcripts))
union
select b.id
from removals as m
cross join records as r on r.id = m.record_id
cross join tool_uses as u on u.tool_use_id = m.tool_use_id and +u.transcript_id = r.transcript_id
cross join blocks as b on b.record_id = u.result_record_id and b.tool_use_id = u.id and b.kind = 'tool_result'
where m.tool_use_id is not null and r.thread_id = r.transcript_id << 20
  and r.transcript_id in (select value from json_each(:transcripts));
