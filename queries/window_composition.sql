-- window_composition: what the window was made of at one call of a session's main thread, one row a category, most
-- tokens first. Estimated, but for shares of the billed output (D9).
--   :session  the session's id
--   :call     the call's ordinal in its thread, as in the view session_calls
-- Columns: category; blocks: parts of messages; tokens. The fixed context is in system.
with asked as (
  select r.thread_id, r.branch, r.epoch, r.ordinal
  from sessions as s
  join transcripts as t on t.session_id = s.id and t.kind = 'main' and t.in_view = 1
  join responses as r on r.thread_id = t.id << 20 and r.id > 0 and r.is_advisor = 0
  where s.session_id = :session and r.ordinal = :call
)
select l.category, count(*) as blocks, sum(l.tokens) as tokens
from asked as a
join ledger_spans as l on l.thread_key = a.thread_id and l.branch = a.branch and l.epoch = a.epoch
  and a.ordinal between l.first_call and l.last_call
group by l.category
order by tokens desc, l.category;
