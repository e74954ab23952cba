-- trend_told: as session_told, of many sessions at once.
--   :transcripts  JSON array of transcripts
--   :unasked      JSON array of those whose last call does not say which model was asked for
select c.transcript_id as transcript, 'cost' as source, c.model, null as tokens, null as time_ms
from json_each(:unasked) as u
cross join cost_states as c on c.transcript_id = u.value
union all
select u.value, 'attachment', a.name, null, null
from json_each(:unasked) as u
cross join attachments as a on a.record_id >= u.value << 40 and a.record_id < (u.value + 1) << 40
where a.type = 'model' and a.name is not null
union all
select t.value, 'payload', f.model, f.window_tokens, f.time_ms
from json_each(:transcripts) as t
cross join transcripts as p on p.id = t.value
cross join sessions as s on s.id = p.session_id
cross join payload_facts as f on f.session_id = s.session_id
order by 1, 2, 3;
