-- sessions_overview: one row a session. What it shows of its context is its own view, copied history included;
-- calls and cost are those it owns, so that the rows add up to the bill (D2).
--   session_id            its id
--   title                 what it is called: see session_titles
--   project               path of its project; null = not told
--   repo                  the folder that its worktree belongs to (D22), by its transcripts, else by what the status line
--                         was told; null = it works in none
--   started, last_active  first record and last message of its main thread, ISO 8601 UTC; last_active_ms likewise
--   messages              messages of its main thread (D7), exact
--   calls                 billed API calls it owns, subagents included, exact
--   model                 of the last call of its main thread
--   peak_ctx              most context tokens of a call of its main thread (X-ctx), exact; null = no such call
--   compactions           boundaries on its main thread, exact
--   cost_usd              of the calls it owns, at list price (D15), derived; null = one is unpriced
--   priced_usd            of those that are priced; null = none is
--   placeholder_calls     of them, those whose output is a placeholder (D9): the cost is at least so much
--   version               of Claude Code, the last one
--   size_bytes            of its transcripts, as last read
--   gone                  1 = none of its transcripts is on disk any more
--   has_messages          1 = its main thread has a message
--   session_key           for joins; differs from store to store
create view sessions_overview as
select
  s.session_id,
  (select n.title from session_titles n where n.session_key = s.id) as title,
  p.path as project,
  coalesce(s.repo, (
    select f.worktree_of from payload_facts f
    where f.session_id = s.session_id and f.worktree_of is not null order by f.time_ms desc, f.model limit 1
  )) as repo,
  strftime('%Y-%m-%dT%H:%M:%fZ', (
    select min(t.first_ms) from transcripts t where t.session_id = s.id
  ) / 1000.0, 'unixepoch') as started,
  strftime('%Y-%m-%dT%H:%M:%fZ', a.last_active_ms / 1000.0, 'unixepoch') as last_active,
  ifnull((select sum(h.messages)
    from transcripts t join threads h on h.id = t.id << 20
    where t.session_id = s.id and t.kind = 'main' and t.in_view = 1 and t.superseded = 0), 0) as messages,
  ifnull((select sum(c.calls)
    from transcripts t join stored_call_sums c on c.thread_id >= t.id << 20 and c.thread_id < (t.id + 1) << 20
    where t.session_id = s.id), 0) as calls,
  (select (select c.model from api_calls c where c.id = l.call_id)
    from (
      select t.first_ms, t.path, (
        select r.call_id from responses r
        where r.thread_id = t.id << 20 and r.id > 0 and r.is_advisor = 0 and r.call_id is not null
        order by r.id desc limit 1) as call_id
      from transcripts t
      where t.session_id = s.id and t.kind = 'main' and t.in_view = 1 and t.superseded = 0) l
    where l.call_id is not null
    order by l.first_ms is null desc, l.first_ms desc, l.path desc limit 1) as model,
  (select max(c.peak_tokens) from transcripts t join stored_curves c on c.thread_id = t.id << 20
    where t.session_id = s.id and t.kind = 'main' and t.in_view = 1 and t.superseded = 0) as peak_ctx,
  (select count(*) from transcripts t join compactions k on k.thread_id = t.id << 20
    where t.session_id = s.id and t.kind = 'main' and t.in_view = 1 and t.superseded = 0) as compactions,
  (select case when count(*) = count(c.price_id) then round(ifnull(sum(c.cost_usd), 0), 6) end
    from transcripts t
      join priced_sums c on c.thread_id >= t.id << 20 and c.thread_id < (t.id + 1) << 20
    where t.session_id = s.id) as cost_usd,
  (select round(sum(c.cost_usd), 6)
    from transcripts t
      join priced_sums c on c.thread_id >= t.id << 20 and c.thread_id < (t.id + 1) << 20
    where t.session_id = s.id) as priced_usd,
  ifnull((select sum(c.placeholders)
    from transcripts t join stored_call_sums c on c.thread_id >= t.id << 20 and c.thread_id < (t.id + 1) << 20
    where t.session_id = s.id), 0) as placeholder_calls,
  (select t.last_version from transcripts t
    where t.session_id = s.id and t.last_version is not null
    order by t.kind = 'main' desc, t.in_view desc, t.last_ms desc, t.path limit 1) as version,
  (select sum(max(t.size, 0)) from transcripts t where t.session_id = s.id) as size_bytes,
  (select min(t.gone) from transcripts t where t.session_id = s.id) as gone,
  a.last_active_ms,
  a.has_messages,
  s.id as session_key
from sessions s
  join (
    select
      session_id,
      coalesce(max(case when kind = 'main' then ifnull(last_message_ms, last_ms) end), max(last_ms))
        as last_active_ms,
      max(kind = 'main' and last_message_ms is not null) as has_messages
    from transcripts group by session_id
  ) a on a.session_id = s.id
  left join projects p on p.id = s.project_id;
