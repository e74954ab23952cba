-- why_moments: the dearest API calls of a session or a period, by part (D21), one row a call, the dearest first. As the view
-- cost_parts has them.
--   :session  the session's id; null = all
--   :since    UTC milliseconds: calls at or after it; null = all
--   :until    UTC milliseconds: calls before it; null = all
--   :project  part of a project's path, in any case; null = all
--   :limit    how many; null = 5
-- Columns: session. agent: main for the main thread, else the agent type. message: its number. time: ISO 8601, UTC. reason:
-- of a cache break why it was one; null = it is none. cost_usd, and its parts in USD, at list price (D15), derived.
with wanted as materialized (
  select t.id from transcripts t join sessions s on s.id = t.session_id
  where (:session is null or s.session_id = :session)
    and (:project is null or t.id in (
      select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))))
),
dearest as materialized (
  select p.call_key, p.response_key, p.cost_usd
  from wanted w
    cross join stored_responses r on r.thread_id >= w.id << 20 and r.thread_id < (w.id + 1) << 20
    cross join cost_parts p on p.call_key = ifnull(r.shared_call_id, r.id) and p.response_key = r.id
  where r.flags & 8 and (:since is null or p.time_ms >= :since) and (:until is null or p.time_ms < :until)
    and p.cost_usd > 0
  order by p.cost_usd desc, p.time_ms, r.id limit ifnull(:limit, 5)
)
select
  p.session_id as session,
  ifnull(p.agent, p.thread_kind) as agent,
  p.message,
  p.timestamp as time,
  (select b.reason from cache_breaks b where b.response_key = d.response_key) as reason,
  p.cost_usd,
  p.new_usd,
  p.carried_usd,
  p.rebuilt_usd,
  p.compaction_usd,
  p.output_usd,
  p.thinking_usd,
  p.searches_usd
from dearest d cross join cost_parts p on p.call_key = d.call_key
order by p.cost_usd desc, p.time_ms, d.response_key;
