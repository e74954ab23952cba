-- session_reports: what /context said in a session, in its transcripts or pasted by the user.
select c.id, c.time_ms, c.model, c.version, c.used_tokens, c.window_tokens, c.rows
from context_reports as c
join sessions as s on s.id = c.session_id
where s.session_id = :session
order by c.time_ms is null, c.time_ms, c.id;
