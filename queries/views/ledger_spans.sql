-- ledger_spans: what the windows were made of: one row for each block of a message and stretch of calls that carried
-- it. Made of blocks, branches and epochs alone, so that it holds on rewound branches too, and after the transcripts
-- are gone. Each call counts where it was first made (D2). For names beside the numbers take the view ledger.
--   category              conversation, retrieved, user, system, tools or state (D8); a prompt is user until the next
--                         one comes, then conversation
--   kind                  of the block: text, thinking, tool_use, tool_result, image, document or attachment; fixed =
--                         what a thread's every call carries without its standing in the transcript (D11)
--   tokens                of the block: its share of the billed output, or estimated (D9); of fixed context derived
--   is_exact              1 = a share of the billed output
--   first_call, last_call the stretch: ordinals of API responses of the thread (D13), both included
--   calls                 how many calls that is
--   carried_tokens        tokens times calls
--   carried_usd           the same at the stretch's mean price of cache reads; null = a call has no price
--   time_ms               when the block came, UTC milliseconds
--   branch, epoch         of the calls that carried it: rewinds and compactions of its thread so far (D10)
--   thread_key, block_key, tool_use_key   for joins; differ from store to store
-- What a record says was taken out is carried up to that record. Messages that a compaction preserved count up to it.
create view ledger_spans as
with recursive
-- The calls that are counted: each where it was first made (D2).
points as (
  select p.thread_id, p.branch, p.epoch, p.ordinal, c.context_tokens, c.price_id
  from api_calls as c
  cross join responses as p on p.id = c.response_id
  where p.id > 0 and p.is_advisor = 0 and c.context_tokens > 0
),
spans as materialized (
  select n.thread_id, n.branch, n.epoch, min(n.ordinal) as first_call, max(n.ordinal) as last_call,
         count(*) as calls, min(n.context_tokens) as least_context,
         -- Rounded, or its last digits would follow the order in which calls were read.
         case when count(*) = count(x.cache_read_usd) then round(avg(x.cache_read_usd), 9) end as usd
  from points as n
  left join prices as x on x.id = n.price_id
  group by n.thread_id, n.branch, n.epoch
),
-- What a branch takes over from those it came out of: their records up to the fork (D10).
forks as (
  select b.thread_id, b.branch, coalesce(f.branch, b.parent_branch) as parent,
         coalesce(f.id, b.first_record_id - 1) as until_record
  from branches as b
  left join records as f on f.transcript_id = b.thread_id >> 20
    and substr(f.uuid, 1, 4) = substr(b.fork_uuid, 1, 4) and f.uuid = b.fork_uuid and f.is_duplicate = 0
  where b.fork_uuid is not null
),
lineage (thread_id, branch, ancestor, until_record) as (
  select thread_id, branch, parent, until_record from forks
  union
  select l.thread_id, l.branch, f.parent, min(f.until_record, l.until_record)
  from lineage as l
  join forks as f on f.thread_id = l.thread_id and f.branch = l.ancestor
),
taken_out as materialized (
  select b.id as block_id, r.call_ordinal as ordinal
  from removals as m
  cross join records as r on r.id = m.record_id
  cross join tool_uses as u
    on u.key_end = substr(m.use_key, iif(length(m.use_key) = 24, -6, -64)) and u.use_key = m.use_key
      and +u.transcript_id = r.transcript_id
  cross join stored_records as q on q.id = u.result_record_id
  cross join blocks as b on b.id >= q.id and b.id < q.id + q.length and b.tool_use_id = u.id and b.kind = 'tool_result'
  where m.use_key is not null
  union all
  select b.id, r.call_ordinal
  from removals as m
  cross join records as r on r.id = m.record_id
  cross join records as x on x.transcript_id = r.transcript_id
    and substr(x.uuid, 1, 4) = substr(m.uuid, 1, 4) and x.uuid = m.uuid and x.is_duplicate = 0
  cross join blocks as b on b.id >= x.id and b.id < x.id + x.length
  where m.uuid is not null
),
removed as materialized (select block_id, min(ordinal) as ordinal from taken_out group by block_id),
prompts as materialized (
  select id as record_id, length, (id >> 40) << 20 | thread as thread_id, branch, epoch, call_ordinal, time_ms,
         lead(call_ordinal) over (partition by id >> 40, thread, branch, epoch order by id) as replaced_at
  from stored_records
  where flags & 6 and flags & 2 and message is not null
),
firsts as (
  select g.*, min(g.least_context) over (partition by g.thread_id) as least,
         (select p.id from responses as p cross join api_calls as c on c.id = p.call_id and c.response_id = p.id
          where p.thread_id = g.thread_id and p.id > 0 and p.is_advisor = 0 and c.context_tokens > 0
          order by p.id limit 1) as response_id
  from spans as g
),
-- What every call of a thread carries: of its first call what the messages before do not explain, and never more than
-- any call had (D11).
fixed as materialized (
  select f.*, p.first_ms as time_ms, min(f.least, c.context_tokens - ifnull((
      select sum(b.tokens)
      from blocks as b
      cross join records as r on r.id = b.record_id
      where b.id >= (f.thread_id >> 20) << 40 and b.id < f.response_id and r.thread_id = f.thread_id
        and r.message is not null and r.subtype is not 'prompt_snapshot'), 0)) as tokens
  from firsts as f
  cross join responses as p on p.id = f.response_id
  cross join api_calls as c on c.id = p.call_id
),
carried (thread_id, branch, epoch, block_id, tool_use_id, category, kind, tokens, is_exact, time_ms, first_call, last_call,
         calls, usd) as (
  -- What came on the branch itself.
  select r.thread_id, r.branch, r.epoch, b.id, b.tool_use_id, b.category, b.kind, b.tokens, b.is_exact, r.time_ms,
         max(r.call_ordinal + 1, g.first_call), min(g.last_call, ifnull(x.ordinal, g.last_call)), g.calls, g.usd
  from blocks as b
  cross join records as r on r.id = b.record_id
  cross join spans as g on g.thread_id = r.thread_id and g.branch = r.branch and g.epoch = r.epoch
  left join removed as x on x.block_id = b.id
  where r.message is not null and r.call_ordinal < g.last_call and r.subtype is not 'prompt_snapshot'
    and not (r.is_prompt = 1 and b.category = 'conversation')
  union all
  -- A prompt is the category user until the next one comes.
  select p.thread_id, p.branch, p.epoch, b.id, null, iif(s.value = 0, 'user', 'conversation'), b.kind, b.tokens,
         b.is_exact, p.time_ms,
         max(iif(s.value = 0, p.call_ordinal, p.replaced_at) + 1, g.first_call),
         min(g.last_call, ifnull(x.ordinal, g.last_call), iif(s.value = 0, ifnull(p.replaced_at, g.last_call), g.last_call)),
         g.calls, g.usd
  from prompts as p
  cross join spans as g on g.thread_id = p.thread_id and g.branch = p.branch and g.epoch = p.epoch
  cross join blocks as b on b.id >= p.record_id and b.id < p.record_id + p.length and b.category = 'conversation'
  cross join json_each('[0,1]') as s
  left join removed as x on x.block_id = b.id
  where s.value = 0 or p.replaced_at is not null
  union all
  -- What it took over.
  select g.thread_id, g.branch, g.epoch, b.id, b.tool_use_id, b.category, b.kind, b.tokens, b.is_exact, r.time_ms,
         g.first_call, min(g.last_call, ifnull(x.ordinal, g.last_call)), g.calls, g.usd
  from lineage as l
  cross join spans as g on g.thread_id = l.thread_id and g.branch = l.branch
  cross join records as r on r.id >= (l.thread_id >> 20) << 40 and r.id <= l.until_record
    and +r.thread_id = l.thread_id and +r.branch = l.ancestor and +r.epoch = g.epoch
  cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
  left join removed as x on x.block_id = b.id
  where r.message is not null and r.subtype is not 'prompt_snapshot'
  union all
  -- What every call carries without its standing in the transcript.
  select thread_id, branch, epoch, null, null, 'system', 'fixed', tokens, 0, time_ms, first_call, last_call, calls, usd
  from fixed
  where tokens >= 1000
)
select
  category,
  kind,
  tokens,
  is_exact,
  first_call,
  last_call,
  min(last_call - first_call + 1, calls) as calls,
  tokens * min(last_call - first_call + 1, calls) as carried_tokens,
  tokens * min(last_call - first_call + 1, calls) * usd / 1e6 as carried_usd,
  time_ms,
  branch,
  epoch,
  thread_id as thread_key,
  block_id as block_key,
  tool_use_id as tool_use_key
from carried
where last_call >= first_call;
