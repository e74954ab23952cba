-- actions: what the user's own history says of what an action frees and saves (D18), one row.
--   :session  the session's id; its project is all sessions of its repository, else of its folder
--   :until    UTC milliseconds: nothing that began later counts
-- Columns: compactions: those with a call before and one after; freed_share: the median share of the context that they
-- freed, null without any; sessions: of the project, with a call, the last 20; session_calls: their calls; days:
-- with calls of the project among the last 30 (of the zone that is the process's); day_calls: calls in these.
with
project_sessions as materialized (
  select s.id, s.session_id
  from sessions s
  left join projects p on p.id = s.project_id
  where coalesce(s.repo, p.path, '') = (
    select coalesce(x.repo, y.path, '') from sessions x left join projects y on y.id = x.project_id
    where x.session_id = :session)
),
summed as materialized (
  select s.session_id, t.last_ms, m.quarter * 900000 as time_ms, m.calls
  from project_sessions s
  join transcripts t on t.session_id = s.id
  join threads h on h.transcript_id = t.id
  join stored_call_sums m on m.thread_id = h.id
  where m.quarter >= 0 and m.quarter * 900000 <= :until
),
last_sessions as (
  select session_id, sum(calls) as calls from summed group by session_id order by max(last_ms) desc, session_id limit 20
),
days as (
  select date(time_ms / 1000, 'unixepoch', 'localtime') as day, sum(calls) as calls
  from summed where time_ms > :until - 30 * 86400000 group by day
),
freed as (
  select 1.0 - 1.0 * c.call_after_tokens / c.before_tokens as share
  from compactions_overview c
  where c.is_owner = 1 and c.thread_kind = 'main' and c.before_tokens > 0 and c.call_after_tokens >= 1000
    and c.call_after_tokens < c.before_tokens and c.time_ms <= :until
),
ranked as (select share, row_number() over (order by share) as place, count(*) over () as count from freed)
select
  (select count(*) from freed) as compactions,
  (select avg(share) from ranked where place in ((count + 1) / 2, (count + 2) / 2)) as freed_share,
  (select count(*) from last_sessions) as sessions,
  (select ifnull(sum(calls), 0) from last_sessions) as session_calls,
  (select count(*) from days) as days,
  (select ifnull(sum(calls), 0) from days) as day_calls;
