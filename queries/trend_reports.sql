-- trend_reports: what /context said in any session, as in session_reports: in a message of its main thread, or pasted.
select s.session_id, c.id, c.time_ms, c.model, c.version, c.used_tokens, c.window_tokens, c.rows
from context_reports as c
left join transcripts as t on c.id > 0 and t.id = c.id >> 40
join sessions as s on s.id = coalesce(t.session_id, c.session_id)
left join records as r on c.id > 0 and r.id = c.id
where c.id < 0 or (r.message is not null and r.thread_id = r.transcript_id << 20)
order by c.time_ms is null, c.time_ms, t.path, c.id;
