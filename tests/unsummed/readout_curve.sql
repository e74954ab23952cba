-- readout_curve: context tokens of the main thread's calls in a period, session by session, in log order
-- (X-ctx). A session's own view: copied history is in it, and what a later copy replaced is not (D2, D3).
--   :since    UTC milliseconds: calls at or after it; null = all
-- Columns: session_key: as in readout_sessions. context: tokens, exact.
select t.session_id as session_key, c.context_tokens as context
from transcripts t indexed by transcripts_by_session
  cross join threads h on h.transcript_id = t.id
  cross join responses r on r.thread_id = h.id
  cross join api_calls c on c.id = r.call_id
where t.kind = 'main' and t.in_view = 1 and t.superseded = 0 and h.kind = 'main' and r.id > 0
  and r.is_advisor = 0 and c.context_tokens > 0
  and (:since is null or t.last_ms >= :since) and (:since is null or r.last_ms >= :since)
order by t.session_id, t.first_ms is null, t.first_ms, t.path, r.id;
