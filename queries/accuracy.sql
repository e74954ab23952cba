-- accuracy: what the content between two calls of a thread was estimated at, beside what the second call carried more
-- than the first, exactly: its context less the first one's (D9). One row a pair whose content is mostly of one kind.
--   :since    UTC milliseconds, null for all time
--   :project  part of a project's path, null for all
-- version is the transcript's last Claude Code version; kind the tool that gave most of the content, or what else it was.
with pair as materialized (
  select r.thread_id, r.branch, r.epoch, r.ordinal, r.id, lead(c.context_tokens) over same - c.context_tokens as growth,
         lead(r.ordinal) over same as next_ordinal
  from responses as r
  cross join api_calls as c on c.id = r.call_id
  where r.id > 0 and r.is_nested = 0 and r.is_advisor = 0 and c.context_tokens > 0
    and c.time_ms >= ifnull(:since, 0)
    and (:project is null or r.transcript_id in (
      select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))))
  window same as (partition by r.thread_id, r.branch, r.epoch order by r.id)
),
part as (
  select pair.id, pair.growth,
         case when b.kind = 'attachment' then 'attachment'
              when u.server is not null then 'MCP result'
              when u.name is not null and b.kind = 'tool_result' then u.name || ' result'
              when b.kind = 'tool_result' then 'other result'
              when r.response_id is not null then 'answer'
              else 'prompt' end as kind,
         sum(b.tokens) as tokens
  from blocks as b
  cross join records as r on r.id = b.record_id
  cross join pair on r.thread_id = pair.thread_id and r.branch = pair.branch and r.epoch = pair.epoch
   and r.call_ordinal = pair.ordinal
  left join tool_uses as u on u.id = b.tool_use_id
  where pair.next_ordinal = pair.ordinal + 1 and pair.growth > 0
  group by pair.id, kind
),
-- of the kinds the one with the most tokens: SQLite takes the bare columns from the row of the maximum
whole as (
  select id, growth, kind, sum(tokens) as estimate, max(tokens) as most
  from part
  group by id
)
select ifnull(t.last_version, 'unknown') as version, w.kind, w.estimate, w.growth
from whole as w
join transcripts as t on t.id = w.id >> 40
where w.most >= 0.8 * w.estimate and w.estimate >= 200
order by t.path, w.id;
