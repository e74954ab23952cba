-- context_curve: how the context of a session's main thread grew, one row a call, in log order (X-ctx). It is
-- the session's own view: copied history is in it, retained calls are not.
--   session_id            the session
--   turn                  number of the call in the curve, from 1
--   message               number of its message (D7)
--   branch, epoch         rewinds and compactions so far (D10)
--   timestamp             of its last record, ISO 8601 UTC; time_ms the same in milliseconds
--   model                 as logged
--   context_tokens        input + cache read + cache write, exact
--   growth_tokens         more than the call before it; null = the first
--   output_tokens         as logged
create view context_curve as
select
  session_id,
  row_number() over log_order as turn,
  message,
  branch,
  epoch,
  timestamp,
  model,
  context_tokens,
  context_tokens - lag(context_tokens) over log_order as growth_tokens,
  output_tokens,
  time_ms
from session_calls
where thread_kind = 'main' and is_advisor = 0 and context_tokens > 0
window log_order as (partition by session_id order by starts_ms is null, starts_ms, path, response_key);
