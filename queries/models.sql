-- models: which models a session used, one row a run of calls of one model on its main thread, in log order,
-- rewound branches included.
--   :session  the session's id; null = the one last active
-- Columns: model: as logged. first_message, last_message: numbers of the run's first and last message, from 1
-- over all transcripts of the session (D7). calls and tokens: exact, as billed; cost_usd: at list price,
-- derived, null = a call is unpriced; priced_usd: what is priced, null = nothing is. placeholder_calls: their output is a
-- placeholder (D9), so output and cost are at least so much; output_missing, cost_missing_usd: how much more it would be,
-- estimated, in no other sum. first_seen, last_seen: ISO 8601, UTC.
with parts as (
  select
    t.id,
    row_number() over (order by t.first_ms is null, t.first_ms, t.path) as place,
    ifnull(h.messages, 0) as messages
  from transcripts t left join threads h on h.id = t.id << 20
  where t.kind = 'main' and t.in_view = 1 and t.superseded = 0
    and t.session_id = (
      select session_key from sessions_overview
      where :session is null or session_id = :session
      order by has_messages desc, last_active_ms desc, session_id limit 1)
),
points as (
  select
    c.*,
    p.place,
    r.message + (select ifnull(sum(before.messages), 0) from parts before where before.place < p.place) as number,
    row_number() over (order by p.place, r.id) as nth,
    row_number() over (order by p.place, r.id)
      - row_number() over (partition by c.model order by p.place, r.id) as run
  from parts p join responses r on r.thread_id = p.id << 20 join priced_calls c on c.id = r.call_id
  where r.id > 0 and r.is_advisor = 0 and c.context_tokens > 0
)
select
  ifnull(p.model, 'unknown') as model,
  min(p.number) as first_message,
  max(p.number) as last_message,
  count(*) as calls,
  sum(p.input_tokens) as input_tokens,
  sum(p.output_tokens) as output_tokens,
  sum(p.cache_read_tokens) as cache_read_tokens,
  sum(p.cache_write_tokens) as cache_write_tokens,
  case when max(p.is_unpriced) = 0 then round(sum(p.cost_usd), 6) end as cost_usd,
  round(sum(p.cost_usd), 6) as priced_usd,
  sum(p.is_unpriced) as unpriced_calls,
  sum(p.is_placeholder) as placeholder_calls,
  sum(p.output_missing) as output_missing,
  round(ifnull(sum(p.cost_missing_usd), 0.0), 6) as cost_missing_usd,
  strftime('%Y-%m-%dT%H:%M:%fZ', min(p.time_ms) / 1000.0, 'unixepoch') as first_seen,
  strftime('%Y-%m-%dT%H:%M:%fZ', max(p.time_ms) / 1000.0, 'unixepoch') as last_seen
from points p
group by p.model, p.run
order by min(p.nth);
