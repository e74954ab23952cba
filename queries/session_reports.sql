-- session_reports: what /context said in a session, in its transcripts (id above 0) or pasted by the user.
--   :session  the session's id
select c.id, c.time_ms, c.model, c.version, c.used_tokens, c.window_tokens, c.rows
from context_reports as c
left join transcripts as t on c.id > 0 and t.id = c.id >> 40
join sessions as s on s.id = coalesce(t.session_id, c.session_id)
where s.session_id = :session
order by c.time_ms is null, c.time_ms, t.path, c.id;
