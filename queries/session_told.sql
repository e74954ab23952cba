-- session_told: what was told of the models of a session and of how large their windows are (D10).
--   :session  the session's id
-- Columns: source: asked (the model as a call asked for it), attachment, cost (a key of Claude Code's own count) or
-- payload. model: the name told; may end in [1m]. answered: the model that the calls logged, of source asked. first_id,
-- last_id: the first and last record that told it. tokens: the window's size. time_ms: when, UTC milliseconds.
with parts as materialized (
  select t.id from transcripts as t
  join sessions as s on s.id = t.session_id
  where s.session_id = :session and t.kind = 'main' and t.in_view = 1
)
select 'asked' as source, (select w.word from words as w where w.id = f.requested_model) as model,
       (select w.word from words as w where w.id = r.model) as answered,
       min(r.id) as first_id, max(r.id) as last_id, null as tokens, null as time_ms
from parts as p
cross join stored_response_facts as f on f.response_id >= p.id << 40 and f.response_id < (p.id + 1) << 40
cross join stored_responses as r on r.id = f.response_id
where f.requested_model is not null and r.thread_id = p.id << 20
group by p.id, r.model, f.requested_model
union all
select 'attachment', a.name, null, a.record_id, a.record_id, null, null
from parts as p
cross join attachments as a on a.record_id >= p.id << 40 and a.record_id < (p.id + 1) << 40
where a.type = 'model' and a.name is not null
union all
select 'cost', c.model, null, c.record_id, c.record_id, null, null
from parts as p
cross join cost_states as c on c.transcript_id = p.id
union all
select 'payload', f.model, null, null, null, f.window_tokens, f.time_ms
from payload_facts as f
where f.session_id = :session
order by 1, 4, 2;
