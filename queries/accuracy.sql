-- accuracy: what stands between two calls of a thread that follow each other, as estimated, beside what the second call
-- carried more than the first, exactly (D9). One row a pair; nothing was compacted or rewound between its calls.
--   :since    UTC milliseconds: first calls at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- version: the transcript's last Claude Code version. model: of the first call. kind: what gave most of the content: the
-- tool whose result it is, or what else it was. estimate: tokens of all messages from the first call's own up to the next
-- call's, most: of that kind. growth: tokens, at least 50: below it errors in per cent say nothing.
with pair as materialized (
  select r.thread_id, r.branch, r.epoch, r.id, r.ordinal, c.model,
         lead(c.context_tokens) over same - c.context_tokens as growth, lead(r.ordinal) over same as next_ordinal
  from responses as r
  cross join api_calls as c on c.id = r.call_id
  cross join transcripts as t on t.id = r.thread_id >> 20 and t.in_view = 1 and t.superseded = 0
  where r.id > 0 and r.is_nested = 0 and r.is_advisor = 0 and c.context_tokens > 0
    and c.time_ms >= ifnull(:since, 0)
    and (:project is null or r.transcript_id in (
      select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))))
  window same as (partition by r.thread_id, r.branch, r.epoch order by r.id)
),
part as (
  select pair.id, pair.growth, pair.model,
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
   and r.call_ordinal >= pair.ordinal and r.call_ordinal < pair.next_ordinal
  left join tool_uses as u on u.id = b.tool_use_id
  where pair.growth >= 50 and r.message is not null
  group by pair.id, kind
),
-- of the kinds the one with the most tokens: SQLite takes the bare columns from the row of the maximum
whole as (
  select id, growth, model, kind, sum(tokens) as estimate, max(tokens) as most
  from part
  group by id
)
select ifnull(t.last_version, 'unknown') as version, ifnull(w.model, 'unknown') as model, w.kind, w.estimate, w.most,
       w.growth
from whole as w
join transcripts as t on t.id = w.id >> 40
order by t.path, w.id;
