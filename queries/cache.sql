-- cache: the calls that sent 2,000 tokens or more again although they had been cached (D21), one row a call, in the order
-- of time; the first call behind a compaction is none. As the view cache_breaks has them.
--   :session  the session's id; null = all
--   :since    UTC milliseconds: calls at or after it; null = all
--   :until    UTC milliseconds: calls before it; null = all
--   :project  part of a project's path, in any case; null = all
--   :singly   1 = tell of each break all columns; null = no day, agent, message, time, detail, inferred and told: they take
--             as long as all else
-- Columns: session, project: its id and its project's path. day: the user's. agent: main for the main thread, else the
-- agent type. message: its number, in the main thread as in every report. gap_s: seconds since the response before it.
-- reason, certainty, detail: why, as in the view; certainty: logged, exact or inferred. inferred, told: what would be
-- inferred whatever is told, and the API's own word. context_tokens: the call's; tokens: sent again; usd: what that cost,
-- avoidable_usd: less read from the cache, derived; null = unpriced.
with wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
)
select
  b.session_id as session,
  b.project,
  case when :singly then date(b.time_ms / 1000.0, 'unixepoch', 'localtime') end as day,
  case when :singly then ifnull(b.agent, b.thread_kind) end as agent,
  b.model,
  case when :singly then b.message end as message,
  case when :singly then b.timestamp end as time,
  b.gap_s,
  b.reason,
  b.certainty,
  case when :singly then (
    select d.detail from break_details d where d.response_key = b.response_key) end as detail,
  case when :singly then b.inferred end as inferred,
  case when :singly then b.told end as told,
  b.context_tokens,
  b.rebuilt_tokens as tokens,
  b.rebuilt_usd as usd,
  b.avoidable_usd,
  b.time_ms
from cache_breaks b
where (:since is null or b.time_ms >= :since) and (:until is null or b.time_ms < :until)
  and (:session is null or b.session_key = (select s.id from sessions s where s.session_id = :session))
  and (:project is null or b.transcript_key in (select transcript_id from wanted))
order by b.time_ms is null, b.time_ms, b.session_id, b.response_key;
