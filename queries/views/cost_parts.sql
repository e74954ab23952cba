-- cost_parts: what each billed API call cost, by part (D21), one row a call: the parts sum to cost_usd. Totals come from
-- here as they do from calls.
--   session_id, project   the session that owns it and its project's path
--   thread_kind           main, subagent, sidechain or progress
--   agent                 main, or the agent type; null = not logged
--   model                 as logged
--   timestamp             of its last record, ISO 8601 UTC; time_ms the same in milliseconds
--   message               number of its message in its thread, on the main one as in every report (D7)
-- Of the tokens sent, exact:
--   new_tokens            sent for the first time
--   carried_tokens        read from the cache
--   rebuilt_tokens        in the context before, and sent again instead of read from the cache
--   compaction_tokens     sent by the first call behind a compaction boundary; all of a call that made a summary
-- Of the answer, as logged:
--   output_tokens         without thinking, where that is logged apart
--   thinking_tokens       thinking
--   searches              web searches
-- At list price (D15), derived, null = unpriced. What a call sent is one mass, each token of it at the same price:
--   new_usd, carried_usd, rebuilt_usd, compaction_usd, output_usd, thinking_usd, searches_usd
--   cost_usd              their sum
--   saved_usd             what rebuilt_tokens would have cost less, read from the cache: what was avoidable
--   is_placeholder        1 = output and cost are at least so much (D9)
--   is_unpriced           1 = so
--   call_key, response_key, thread_key, transcript_key   for joins; they differ from store to store
create view cost_parts as
select
  s.session_id,
  p.path as project,
  h.kind as thread_kind,
  (select a.agent from thread_agents a where a.thread_key = c.thread_id) as agent,
  c.model,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.time_ms / 1000.0, 'unixepoch') as timestamp,
  (select r.message from stored_responses r where r.id = c.response_id)
    + iif(h.kind = 'main', (select o.before from message_offsets o where o.transcript_id = c.transcript_id), 0)
    as message,
  c.sent * (1 - c.is_summary) * (1 - c.is_compaction) - c.rebuilt as new_tokens,
  c.cache_read_tokens * (1 - c.is_summary) as carried_tokens,
  c.rebuilt as rebuilt_tokens,
  iif(c.is_summary, c.context_tokens + c.output_tokens, c.sent * c.is_compaction) as compaction_tokens,
  (c.output_tokens - c.thinking) * (1 - c.is_summary) as output_tokens,
  c.thinking * (1 - c.is_summary) as thinking_tokens,
  c.web_searches as searches,
  c.sent_usd * (1 - c.is_summary) * (1 - c.is_compaction) - c.sent_usd * c.rebuilt / max(c.sent, 1) as new_usd,
  c.cache_read_usd * (1 - c.is_summary) as carried_usd,
  c.sent_usd * c.rebuilt / max(c.sent, 1) as rebuilt_usd,
  iif(c.is_summary, c.sent_usd + c.cache_read_usd + c.output_usd, c.sent_usd * c.is_compaction) as compaction_usd,
  (c.output_usd - c.output_usd * c.thinking / max(c.output_tokens, 1)) * (1 - c.is_summary) as output_usd,
  c.output_usd * c.thinking / max(c.output_tokens, 1) * (1 - c.is_summary) as thinking_usd,
  iif(c.cost_usd is null, null, c.searches_usd) as searches_usd,
  c.cost_usd,
  c.sent_usd * c.rebuilt / max(c.sent, 1) - c.rebuilt * c.cache_read_price / 1e6 as saved_usd,
  c.is_placeholder,
  c.is_unpriced,
  c.time_ms,
  c.id as call_key,
  c.response_id as response_key,
  c.thread_id as thread_key,
  c.transcript_id as transcript_key
from (
  select
    q.*,
    q.input_tokens + q.cache_write_tokens as sent,
    q.input_usd + q.cache_write_usd as sent_usd,
    min(ifnull(q.thinking_tokens, 0), q.output_tokens) as thinking,
    -- A call may have been settled with another usage than when it was looked at: never more than it sent.
    iif(m.changes & 1 or t.stem glob 'agent-acompact-*', 0,
      min(ifnull(m.rebuilt_tokens, 0), q.input_tokens + q.cache_write_tokens)) as rebuilt,
    t.stem glob 'agent-acompact-*' as is_summary,
    ifnull(m.changes & 1, 0) * (t.stem not glob 'agent-acompact-*') as is_compaction
  from priced_calls q
    left join stored_rebuilds m on m.response_id = q.response_id
    left join transcripts t on t.id = q.transcript_id) c
  left join transcripts f on f.id = c.transcript_id
  left join threads h on h.id = c.thread_id
  left join sessions s on s.id = f.session_id
  left join projects p on p.id = s.project_id;
