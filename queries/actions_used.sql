-- actions_used: the MCP servers and skills that the last 20 sessions of a project made use of (D18).
--   :session  the session's id; its project is all sessions of its repository, else of its folder
--   :until    UTC milliseconds: sessions that began later do not count
-- Columns: kind: server or skill; name: a server's as in the names of its tools, a skill's as it was called; of what a
-- person typed, the begin of the logged command.
with
last_sessions as materialized (
  select s.id
  from sessions s
  left join projects p on p.id = s.project_id
  join transcripts t on t.session_id = s.id
  join threads h on h.transcript_id = t.id
  join stored_call_sums m on m.thread_id = h.id
  where coalesce(s.repo, p.path, '') = (
      select coalesce(x.repo, y.path, '') from sessions x left join projects y on y.id = x.project_id
      where x.session_id = :session)
    and m.quarter >= 0 and m.quarter * 900000 <= :until
  group by s.id
  order by max(t.last_ms) desc, s.session_id
  limit 20
),
transcripts_of as materialized (
  select id from transcripts where session_id in (select id from last_sessions)
),
callers as materialized (
  select id from words where word in (select name from tool_traits where calls_skills)
)
select distinct 'server' as kind, m.server as name
from transcripts_of t
join threads h on h.transcript_id = t.id
join tool_sums m on m.thread_id = h.id
where m.server is not null and m.uses > 0
union
select distinct 'skill', u.command
from (
  select distinct h.transcript_id
  from transcripts_of t
  join threads h on h.transcript_id = t.id
  join stored_tool_sums m on m.thread_id = h.id
  where m.name in (select id from callers)) c
join stored_tool_uses u on u.id >= c.transcript_id << 40 and u.id < (c.transcript_id + 1) << 40
where u.name in (select id from callers) and u.command is not null
union
select distinct 'skill', x.text
from transcripts_of t
join texts x on x.block_id >= t.id << 40 and x.block_id < (t.id + 1) << 40
where substr(x.text, 1, 9) = '<command-';
