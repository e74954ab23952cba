-- session_calls: a session's own view of its API calls: one row a call and thread in which it stands, copied
-- history included, since it was in the context (D2). For sums over sessions take the view calls.
--   session_id            the session
--   thread_kind           main, subagent, sidechain or progress
--   ordinal               place among the API responses of its thread, from 1
--   message               number of its message in its thread (D7)
--   branch, epoch         of its thread: rewinds and compactions so far (D10)
--   timestamp             of its last record there, ISO 8601 UTC; time_ms the same in milliseconds
--   model, context_tokens, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens   as in calls
--   is_placeholder        as in calls
--   cost_usd              as in calls; paid once, even if the call stands in several sessions
--   is_advisor            1 = in no curve
--   is_copied             1 = copied from another session
--   path                  its transcript
--   session_key, transcript_key, thread_key, response_key, call_key, starts_ms   for joins and order; keys differ from
--                         store to store, so order by starts_ms, path, response_key
create view session_calls as
select
  s.session_id,
  h.kind as thread_kind,
  r.ordinal,
  r.message,
  r.branch,
  r.epoch,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.last_ms / 1000.0, 'unixepoch') as timestamp,
  c.model,
  c.context_tokens,
  c.input_tokens,
  c.cache_read_tokens,
  c.cache_write_tokens,
  c.output_tokens,
  c.is_placeholder,
  c.cost_usd,
  r.is_advisor,
  r.is_copied,
  r.last_ms as time_ms,
  t.path,
  t.session_id as session_key,
  t.id as transcript_key,
  h.id as thread_key,
  r.id as response_key,
  c.id as call_key,
  t.first_ms as starts_ms
from sessions s
  join transcripts t on t.session_id = s.id
  join threads h on h.transcript_id = t.id
  join responses r on r.thread_id = h.id
  cross join priced_calls c on c.id = r.call_id
where t.in_view = 1 and t.superseded = 0 and r.id > 0;
