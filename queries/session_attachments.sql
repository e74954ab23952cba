-- session_attachments: the attachments of a transcript's main thread, in log order.
--   :transcript  id of the transcript
select a.record_id, r.message, a.type, a.name, a.event, a.added, a.removed
from attachments as a
join records as r on r.id = a.record_id
where a.record_id >= :transcript << 40 and a.record_id < (:transcript + 1) << 40 and r.thread_id = :transcript << 20
order by a.record_id;
