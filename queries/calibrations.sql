-- calibrations: every /context output in the store, recorded in a transcript or pasted (id below 0), with its session.
select c.id, s.session_id, c.time_ms, c.model, c.version, c.used_tokens, c.window_tokens, c.rows
from context_reports as c
left join transcripts as t on c.id > 0 and t.id = c.id >> 40
left join sessions as s on s.id = coalesce(t.session_id, c.session_id)
order by c.time_ms is null, c.time_ms, t.path, c.id;
