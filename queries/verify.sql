-- verify: what Claude Code says that sessions cost (its last cost-state, D15), beside what their calls cost here. One row
-- a session that has one, those that differ most first.
-- Columns: session_id. told_usd: as logged. calls_usd: its own calls, subagents included (D2), at list price, derived;
-- null = a call is unpriced. copied_usd: calls on its main thread that another session made, which a fork's cost-state
-- counts too (that of a `/branch` does not: 0). rest_usd: told less both: compaction requests and side questions are billed
-- and stand in no transcript; below 0 where calls came after Claude Code wrote its cost.
with told as (
  select t.session_id, k.transcript_id, sum(k.cost_usd) as usd, max(k.record_id) as record_id
  from cost_states as k join transcripts as t on t.id = k.transcript_id
  where t.kind = 'main'
  group by k.transcript_id
),
latest as (
  select session_id, usd, row_number() over (partition by session_id order by t.last_ms desc, record_id desc) as nth
  from told join transcripts as t using (session_id) where t.id = told.transcript_id
),
summed as (
  select
    s.id, s.session_id, l.usd as told_usd,
    (select iif(sum(c.unpriced_calls), null, ifnull(sum(c.cost_usd), 0.0))
      from transcripts as t join priced_sums as c on c.transcript_id = t.id where t.session_id = s.id) as calls_usd,
    (select ifnull(sum(c.cost_usd), 0.0)
      from transcripts as t
      join responses as r on r.thread_id = t.id << 20
      join priced_calls as c on c.id = r.call_id
      join transcripts as o on o.id = c.transcript_id
      where t.session_id = s.id and t.kind = 'main' and t.in_view = 1 and r.id > 0 and o.session_id <> s.id) as copies_usd
  from latest as l join sessions as s on s.id = l.session_id
  where l.nth = 1
),
counted as (
  select *, iif(told_usd - calls_usd >= 0.999 * copies_usd, copies_usd, 0.0) as copied_usd from summed
)
select session_id, round(told_usd, 6) as told_usd, round(calls_usd, 6) as calls_usd, round(copied_usd, 6) as copied_usd,
  round(told_usd - calls_usd - copied_usd, 6) as rest_usd
from counted
order by abs(told_usd - calls_usd - copied_usd) desc, session_id;
