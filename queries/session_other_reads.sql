-- session_other_reads: what a session's other threads (subagents, sidechains) read, for the excuse that another
-- thread had read a file before (D13).
--   :session  the session's id
-- Columns: path, offset, limit as logged; time of the use in UTC milliseconds; hash of the result's text.
select u.path, u.read_offset, u.read_limit, u.use_ms, u.result_hash
from sessions as s
join transcripts as t on t.session_id = s.id and t.in_view = 1
join threads as h on h.transcript_id = t.id and h.kind <> 'main'
join tool_uses as u on u.id >= t.id << 40 and u.id < (t.id + 1) << 40 and u.thread_id = h.id
where s.session_id = :session and u.name = 'Read' and u.path is not null and u.is_error = 0
order by t.path, u.id;
