-- accuracy: what stands between two calls of a thread that follow each other, as estimated, beside what the second call
-- carried more than the first, exactly (D9). One row a pair; nothing was compacted or rewound between its calls.
--   :since    UTC milliseconds: first calls at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- version: the transcript's last Claude Code version. model: of the first call. kind: what gave most of the content: the
-- tool whose result it is, or what else it was. estimate: tokens of all messages from the first call's own up to the next
-- call's, most: of that kind. growth: tokens, at least 50: below it errors in per cent say nothing.
with pair as materialized (
  select r.id, r.thread_id & ((1 << 20) - 1) as thread, r.branch, r.epoch, c.model,
         lead(c.context_tokens) over same - c.context_tokens as growth, lead(r.id) over same as next_id
  from responses as r
  cross join api_calls as c on c.id = r.call_id
  cross join transcripts as t on t.id = r.thread_id >> 20 and t.in_view = 1 and t.superseded = 0
  where r.id > 0 and r.is_nested = 0 and r.is_advisor = 0 and c.context_tokens > 0
    and c.time_ms >= ifnull(:since, 0)
    and (:project is null or r.transcript_id in (
      select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))))
  window same as (partition by r.thread_id, r.branch, r.epoch order by r.id)
),
form as materialized (
  select id, word from words where word in ('attachment', 'tool_result')
),
-- what a tool's results are called
result as materialized (
  select id, iif(word glob 'mcp__?*' and not word glob 'mcp____*', 'MCP result', word || ' result') as kind from words
),
part as (
  select p.id, p.growth, p.model,
         case f.word when 'attachment' then 'attachment'
                     when 'tool_result' then ifnull(n.kind, 'other result')
                     else iif(r.response_back is null, 'prompt', 'answer') end as kind,
         sum(ifnull(b.share, b.estimate)) as tokens
  from pair as p
  -- by ranges of ids: the planner would walk all records of a branch
  cross join stored_records as r on r.id >= p.id and r.id < p.next_id and +r.thread = p.thread
    and +r.branch = p.branch and +r.epoch = p.epoch
  cross join stored_blocks as b on b.id >= r.id and b.id < r.id + r.length
  left join form as f on f.id = b.kind
  left join stored_tool_uses as u on u.id = b.id - b.use_back
  left join result as n on n.id = u.name
  where p.growth >= 50 and r.message is not null
  group by 1, 4
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
