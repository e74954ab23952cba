-- session_loads: the deferred tools that ToolSearch results loaded in a transcript's main thread.
--   :transcript  id of the transcript
select l.record_id, r.message, l.name
from tool_loads as l
join records as r on r.id = l.record_id
where l.record_id >= :transcript << 40 and l.record_id < (:transcript + 1) << 40 and r.thread_id = :transcript << 20
order by l.record_id, l.name;
