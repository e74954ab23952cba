-- session_titles: what each session is called: one row a session.
--   session_id   its id
--   title        the first there is of: the name that the user gave it, Claude Code's title for it, the agent's name,
--                its first human prompt by time without what Claude Code wrapped around it, its first slash command,
--                its summary; one line of up to 100 characters; null = none, or no text is kept
--   session_key  for joins; differs from store to store
create view session_titles as
select
  s.session_id,
  (select substr(m.value, 1, 100)
    from transcripts t
      join meta_records m on m.transcript_id = t.id
      left join records r on r.id = m.record_id and m.key in ('prompt', 'command')
    where t.session_id = s.id and t.kind = 'main'
      and m.key in ('custom-title', 'ai-title', 'agent-name', 'prompt', 'command', 'summary')
    order by
      case m.key when 'custom-title' then 1 when 'ai-title' then 2 when 'agent-name' then 3 when 'prompt' then 4
        when 'command' then 5 else 6 end,
      r.time_ms is null, r.time_ms, case when r.id is not null then t.path end,
      t.in_view desc, t.last_ms desc, t.path
    limit 1) as title,
  s.id as session_key
from sessions s;
