-- readout_curve: context tokens of the main thread's calls in a period, session by session, in log order
-- (X-ctx). A session's own view: copied history is in it, and what a later copy replaced is not (D2, D3).
--   :since    UTC milliseconds: calls at or after it; null = all
-- Columns: session_key: as in readout_sessions; it has several rows. contexts: tokens, exact, parted by commas.
select t.session_id as session_key,
  case when :since is null or k.first_ms >= :since then k.contexts else (
    -- A part that the period begins in, call by call.
    select group_concat(context) from (
      select c.context_tokens as context
      from stored_responses as r cross join api_calls as c on c.id = ifnull(r.shared_call_id, r.id)
      where r.thread_id = k.thread_id
        and r.id >= (select min(m.first_id) from stored_curve_models as m
          where m.thread_id = k.thread_id and m.part = k.part)
        and r.id <= (select max(m.last_id) from stored_curve_models as m
          where m.thread_id = k.thread_id and m.part = k.part)
        and r.flags & 12 = 8 and c.context_tokens > 0 and r.last_ms >= :since
      order by r.id))
  end as contexts
from transcripts as t indexed by transcripts_by_session
  cross join stored_curves as k on k.thread_id = t.id << 20
where t.kind = 'main' and t.in_view = 1 and t.superseded = 0 and (:since is null or k.last_ms >= :since)
order by t.session_id, t.first_ms is null, t.first_ms, t.path, k.part;
