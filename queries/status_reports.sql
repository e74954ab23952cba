-- status_reports: session_reports without their rows, as if all were pasted: nothing is cut off behind them.
--   :session  the session's id
select -abs(c.id) as id, c.time_ms, c.model, c.version, c.used_tokens, c.window_tokens, '[]' as rows
from context_reports as c
join sessions as s on s.id = c.session_id
where s.session_id = :session
order by c.time_ms is null, c.time_ms, c.id;
