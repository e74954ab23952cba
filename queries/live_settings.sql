-- live_settings: those rows of session_surroundings that are settings files.
--   :project        the path of its project
--   :first_call_ms  time of its first call, UTC milliseconds
--   :last_ms        time of its last record, likewise
select u.kind, u.path, u.name, u.project_path, u.tokens, u.detail, u.mtime_ns,
       u.mtime_ns <= :first_call_ms * 1000000
       or (u.first_seen_ms <= :last_ms and u.last_seen_ms >= :first_call_ms) as holds
from surroundings as u
where u.kind = 'settings' and (u.project_path is null or u.project_path = :project)
order by u.kind, u.path, u.name, u.mtime_ns, u.id;
