-- compactions_overview: one row a compaction boundary in a transcript (X-compact).
--   session_id, project   its session and the project's path
--   thread_kind           main, subagent, sidechain or progress
--   timestamp             of the boundary, ISO 8601 UTC; time_ms the same in milliseconds
--   trigger               auto or manual, as logged
--   before_tokens         context before it: pre_tokens if logged, else that of the call just before; exact
--   before_source         logged or call; null = neither
--   after_tokens          after it: post_tokens if logged (messages only), else that of the call just after; exact
--   after_source          logged or call; null = neither
--   pre_tokens, post_tokens          as logged; null = not logged
--   call_before_tokens, call_before_ms   the last call before it in its thread: context tokens, exact, and time
--   call_after_tokens, call_after_ms     the first call after it
--   dropped_tokens        cumulativeDroppedTokens as logged; duration_ms, messages_summarized likewise
--   focus                 what the user asked it to keep
--   uuid                  of the boundary
--   is_owner              1 = totals count it; 0 = a copy of one counted elsewhere (D2)
--   in_view               1 = its session's own view shows it (D3)
--   path, offset          its transcript and the byte at which its record begins
create view compactions_overview as
select
  s.session_id,
  p.path as project,
  h.kind as thread_kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', k.time_ms / 1000.0, 'unixepoch') as timestamp,
  k.trigger,
  coalesce(k.pre_tokens, k.before_tokens) as before_tokens,
  case when k.pre_tokens is not null then 'logged' when k.before_id is not null then 'call' end as before_source,
  coalesce(k.post_tokens, k.after_tokens) as after_tokens,
  case when k.post_tokens is not null then 'logged' when k.after_id is not null then 'call' end as after_source,
  k.pre_tokens,
  k.post_tokens,
  k.before_tokens as call_before_tokens,
  (select b.time_ms from stored_calls b where b.id = k.before_id) as call_before_ms,
  k.after_tokens as call_after_tokens,
  (select a.time_ms from stored_calls a where a.id = k.after_id) as call_after_ms,
  k.dropped_tokens,
  k.duration_ms,
  k.messages_summarized,
  k.focus,
  case when typeof(k.uuid) = 'blob' then lower(
    substr(hex(k.uuid), 1, 8) || '-' || substr(hex(k.uuid), 9, 4) || '-' || substr(hex(k.uuid), 13, 4) || '-'
    || substr(hex(k.uuid), 17, 4) || '-' || substr(hex(k.uuid), 21)) else k.uuid end as uuid,
  k.place = 1 as is_owner,
  t.in_view = 1 and t.superseded = 0 as in_view,
  t.path,
  k.id & ((1 << 40) - 1) as offset,
  k.time_ms
from (
    select
      w.*,
      (select b.context_tokens from api_calls b where b.id = w.before_id) as before_tokens,
      (select a.context_tokens from api_calls a where a.id = w.after_id) as after_tokens
    from (
    select
      c.*,
      r.time_ms,
      o.place,
      (select x.call_id from responses x cross join api_calls y on y.id = x.call_id
        where x.thread_id = c.thread_id and x.id > 0 and x.id < c.id and x.is_advisor = 0
          and y.context_tokens > 0
        order by x.id desc limit 1) as before_id,
      (select x.call_id from responses x cross join api_calls y on y.id = x.call_id
        where x.thread_id = c.thread_id and x.id > c.id and x.is_advisor = 0 and y.context_tokens > 0
        order by x.id limit 1) as after_id
    from compaction_owners o
      join compactions c on c.id = o.compaction_key
      join records r on r.id = c.id
    ) w
  ) k
  join threads h on h.id = k.thread_id
  join transcripts t on t.id = k.transcript_id
  left join sessions s on s.id = t.session_id
  left join projects p on p.id = s.project_id;
