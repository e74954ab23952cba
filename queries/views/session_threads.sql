-- session_threads: the threads that a session's own view shows, one row a thread: those of its transcripts,
-- less of transcripts that a later copy replaces (D3).
--   session_id            the session
--   kind                  main, subagent, sidechain or progress
--   path, thread          its transcript and its number in it, from 0
--   session_key, transcript_key, thread_key, starts_ms   for joins and order; keys differ from store to store
create view session_threads as
select
  s.session_id,
  h.kind,
  t.path,
  h.id & ((1 << 20) - 1) as thread,
  t.session_id as session_key,
  t.id as transcript_key,
  h.id as thread_key,
  t.first_ms as starts_ms
from transcripts t
  join sessions s on s.id = t.session_id
  join threads h on h.transcript_id = t.id
where t.in_view = 1 and t.superseded = 0;
