-- cache_breaks: the calls that sent 2,000 tokens or more again although they had been cached (D21), one row a call, and
-- why. The first call behind a compaction boundary is none.
--   session_id, project, thread_kind, agent, model, timestamp, time_ms   as in cost_parts
--   message               number of its message in its thread, on the main one as in every report (D7)
--   gap_s                 seconds from the last line of the response before it to its first; null = not known
--   reason                not_written       the call before had not cached it
--                         resumed_agent     a subagent was asked again
--                         rewind            the user went back to an earlier message
--                         model_switched    another model has a cache of its own
--                         context_edited    something was taken out of the context
--                         pause             longer than the cache lives: five minutes or, written for it, an hour; no
--                                           more than the fixed context was read
--                         long_pause        longer than an hour
--                         updated           another version of Claude Code
--                         tools_changed     tools, MCP servers, skills or agents
--                         system_changed    the system prompt; instructions_changed: CLAUDE.md files
--                         effort_changed, cache_control_changed   so
--                         opened_again      another process went on with the session, or with a copy of it
--                         prefix_changed    everything before the messages: nothing was read
--                         messages_changed  earlier messages: about the fixed context was read, or as told
--                         unknown           none of these; or a word that the API told
--   certainty             logged = the API told it; exact = by the requests, as they are logged; inferred = by what stands
--                         between the two calls, the first of the reasons above that holds
--   inferred              what would be inferred, whatever is told: to see how well that agrees
--   told                  the API's own word; null = none
--   context_tokens        the call's, exact; read_tokens: of it, from the cache
--   rebuilt_tokens        sent again; rebuilt_usd: what that cost, at list price; null = unpriced
--   avoidable_usd         what it would have cost less, read from the cache
--   has_tools, has_messages   as in rebuilds: what the requests tell of what changed is in break_details
--   call_key, response_key, before_key, thread_key, transcript_key, session_key   for joins; the response before it
create view cache_breaks as
select
  b.session_id,
  b.project,
  b.thread_kind,
  b.agent,
  b.model,
  b.timestamp,
  b.message,
  b.gap_ms / 1000.0 as gap_s,
  case
    when b.told = 'model_changed' then 'model_switched'
    when b.told = 'messages_changed' and b.is_rewind then 'rewind'
    when b.told = 'messages_changed' and (b.is_cut or b.is_smaller) then 'context_edited'
    when b.told = 'messages_changed' and b.is_instructed then 'instructions_changed'
    when b.told in ('system_changed', 'tools_changed') and b.is_version then 'updated'
    when b.told = 'system_changed' and b.is_instructed then 'instructions_changed'
    when b.told is not null then b.told
    else ifnull(b.exact, b.inferred)
  end as reason,
  case when b.told is not null then 'logged' when b.exact is not null then 'exact' else 'inferred' end as certainty,
  b.inferred,
  b.told,
  b.context_tokens,
  b.read_tokens,
  b.rebuilt_tokens,
  b.rebuilt_usd,
  b.avoidable_usd,
  b.has_tools,
  b.has_messages,
  b.time_ms,
  b.call_key,
  b.response_key,
  b.before_key,
  b.thread_key,
  b.transcript_key,
  b.session_key
from (
  select
    s.session_id,
    s.id as session_key,
    p.path as project,
    h.kind as thread_kind,
    (select a.agent from thread_agents a where a.thread_key = c.thread_id) as agent,
    c.model,
    strftime('%Y-%m-%dT%H:%M:%fZ', c.time_ms / 1000.0, 'unixepoch') as timestamp,
    (select r.message from stored_responses r where r.id = c.response_id)
      + iif(h.kind = 'main', (select o.before from message_offsets o where o.transcript_id = c.transcript_id), 0)
      as message,
    m.gap_ms,
    m.is_rewind,
    m.is_cut,
    m.is_smaller,
    m.is_version,
    m.is_instructed,
    m.has_tools,
    m.has_messages,
    -- 'none' and the like tell that the API does not know either.
    nullif(nullif(nullif(f.miss_reason, 'none'), 'unavailable'), 'previous_message_not_found') as told,
    case
      when m.has_model then 'model_switched'
      when m.has_sent and m.is_version then 'updated'
      when m.has_sent and m.has_tools then 'tools_changed'
      when m.has_sent and m.is_instructed then 'instructions_changed'
      when m.has_sent then 'system_changed'
      when m.has_effort then 'effort_changed'
      when m.has_cache then 'cache_control_changed'
      when m.has_messages and m.is_rewind then 'rewind'
      when m.has_messages and (m.is_cut or m.is_smaller) then 'context_edited'
      when m.has_messages and m.is_instructed then 'instructions_changed'
      when m.has_messages then 'messages_changed'
    end as exact,
    case
      when c.cache_read_tokens >= o.cache_read_tokens + o.cache_write_tokens - 16 then 'not_written'
      when m.is_asked_again then 'resumed_agent'
      when m.is_rewind then 'rewind'
      when m.is_model then 'model_switched'
      when m.is_cut then 'context_edited'
      -- What is read beyond the fixed context and the first prompt, which the first call of the thread tells, shows that
      -- the cache was alive, and that what stands before is as it was.
      when c.cache_read_tokens >= 9 * m.rebuilt_tokens or c.cache_read_tokens * 20 > 21 * (
        select cast(v.contexts as integer) from stored_curves v where v.thread_id = c.thread_id order by v.part limit 1)
        then iif(m.is_smaller, 'context_edited', 'unknown')
      when m.gap_ms > 3600000 then 'long_pause'
      when m.gap_ms > 300000 and not m.lives_hour then 'pause'
      when m.is_version then 'updated'
      when m.is_listed then 'tools_changed'
      when m.is_instructed then 'instructions_changed'
      when m.is_opened then 'opened_again'
      when m.is_smaller then 'context_edited'
      when m.has_requests then 'unknown'
      when c.cache_read_tokens = 0 then 'prefix_changed'
      -- As much as the call before read: what that one wrote was not found, which changed messages do not explain.
      when c.cache_read_tokens = o.cache_read_tokens then 'unknown'
      else 'messages_changed'
    end as inferred,
    c.context_tokens,
    c.cache_read_tokens as read_tokens,
    m.rebuilt_tokens,
    (c.input_usd + c.cache_write_usd) * m.rebuilt_tokens / (c.input_tokens + c.cache_write_tokens) as rebuilt_usd,
    (c.input_usd + c.cache_write_usd) * m.rebuilt_tokens / (c.input_tokens + c.cache_write_tokens)
      - m.rebuilt_tokens * c.cache_read_price / 1e6 as avoidable_usd,
    c.time_ms,
    c.id as call_key,
    c.response_id as response_key,
    o.id as before_key,
    c.thread_id as thread_key,
    c.transcript_id as transcript_key
  from rebuilds m
    cross join responses r on r.id = m.response_id
    cross join priced_calls c on c.id = r.call_id and c.response_id = m.response_id
    left join stored_responses o on o.id = (
      select max(x.id) from stored_responses x
      where x.thread_id = c.thread_id and x.id < m.response_id and x.flags & 12 = 8
        and x.input_tokens + x.cache_read_tokens + x.cache_write_tokens > 0)
    left join response_facts f on f.response_id = m.response_id
    left join threads h on h.id = c.thread_id
    left join transcripts t on t.id = c.transcript_id
    left join sessions s on s.id = t.session_id
    left join projects p on p.id = s.project_id
  where m.rebuilt_tokens >= 2000 and not m.is_compaction and t.stem not glob 'agent-acompact-*') b;
