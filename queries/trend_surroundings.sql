-- trend_surroundings: what was seen around every project and when, as in session_surroundings.
select kind, path, name, project_path, tokens, detail, mtime_ns, first_seen_ms, last_seen_ms
from surroundings
order by kind, path, name, mtime_ns, id;
