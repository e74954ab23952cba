-- trend_contents: what live windows hold by category (D8, D10), in tokens (D9).
--   :windows  JSON array of [transcript, epoch, boundary or first record]
--   :paths    JSON array of [transcript, branch, last record, response]: the live paths; a null last record is none
--   :kept     JSON array of [transcript, record]: what the boundaries name as preserved
--   :removed  JSON array of blocks that were taken out
-- Columns: transcript. conversation, retrieved, user, system, tools, state: tokens. led_…: messages of which the largest
-- block is of that category. loads: JSON array of the tools that ToolSearch results behind the
-- boundary loaded; null = none.
-- From sums where these tell it: not where a part of a branch is the path, something was kept or taken out, or a message
-- has parts elsewhere.
with paths as materialized (
  select value ->> 0 as transcript, value ->> 1 as branch, value ->> 2 as bound, value ->> 3 as response
  from json_each(:paths)
),
windows as materialized (
  select value ->> 0 as transcript, value ->> 1 as epoch, value ->> 2 as since from json_each(:windows)
),
summed_up as materialized (
  select w.transcript, w.epoch, w.since, p.branch
  from windows as w
  join paths as p on p.transcript = w.transcript
  where p.bound is null
    and not exists (select 1 from paths as o where o.transcript = w.transcript and o.branch <> p.branch)
    and w.transcript not in (select value ->> 0 from json_each(:kept))
    and w.transcript not in (select value >> 40 from json_each(:removed))
    and not exists (
      select 1 from stored_window_sums as s
      where s.thread_id = w.transcript << 20 and s.branch = p.branch and s.epoch = w.epoch and s.category = 0)
),
-- The last prompt of each of these.
prompted as materialized (
  select w.*, (
    select q.id from stored_records as q
    where q.thread = 0 and q.flags & 6 and q.flags & 2 and q.id >= w.since and q.id < (w.transcript + 1) << 40
      and q.branch = w.branch and q.epoch = w.epoch and q.message is not null
    order by q.id desc limit 1) as prompt_id
  from summed_up as w
),
looked_at as (
  select * from windows as w where w.transcript not in (select transcript from summed_up)
),
inside as (
  select w.transcript, r.id as record_id, r.length, r.message, r.is_prompt, r.subtype
  from looked_at as w
  cross join records as r on r.id >= w.since and r.id < (w.transcript + 1) << 40
  cross join paths as p on p.transcript = w.transcript and p.branch = r.branch
    and (p.bound is null or r.id <= p.bound or r.response_id = p.response)
  where +r.thread_id = w.transcript << 20 and r.epoch = w.epoch and r.message is not null
  union all
  select k.value ->> 0, r.id, r.length, r.message, r.is_prompt, r.subtype
  from json_each(:kept) as k
  join records as r on r.id = k.value ->> 1 and r.message is not null
),
messages as materialized (
  select i.transcript, i.message, max(i.is_prompt) as is_prompt,
         sum(b.tokens) filter (where b.category = 'conversation') as conversation,
         sum(b.tokens) filter (where b.category = 'retrieved') as retrieved,
         sum(b.tokens) filter (where b.category = 'system') as system,
         sum(b.tokens) filter (where b.category = 'tools') as tools,
         sum(b.tokens) filter (where b.category = 'state') as state,
         -- of equal ones the first: SQLite takes the bare column from the row of the maximum
         max((b.tokens << 40) - (b.id - (i.transcript << 40))) as size, b.category as led
  from inside as i
  cross join blocks as b on b.id >= i.record_id and b.id < i.record_id + i.length
  where i.subtype is not 'prompt_snapshot' and b.id not in (select value from json_each(:removed))
    -- a second result of one tool use is a replay of the first
    and not (b.kind = 'tool_result'
             and (select u.result_record_id from tool_uses as u where u.id = b.tool_use_id) is not b.record_id)
  group by i.transcript, i.message
),
loads as materialized (
  select w.transcript, json_group_array(l.name) as names
  from tool_loads as l
  cross join records as r on r.id = l.record_id
  cross join windows as w on w.transcript = r.transcript_id
  cross join paths as p on p.transcript = w.transcript and p.branch = r.branch and (p.bound is null or r.id <= p.bound)
  where r.thread_id = w.transcript << 20 and r.epoch = w.epoch
  group by w.transcript
),
last_prompts as materialized (
  select transcript, max(message) as message from messages where is_prompt = 1 group by transcript
),
found as (
  select m.transcript,
         ifnull(sum(m.conversation) filter (where m.message is not p.message), 0) as conversation,
         ifnull(sum(m.retrieved), 0) as retrieved,
         ifnull(sum(m.conversation) filter (where m.message = p.message), 0) as user,
         ifnull(sum(m.system), 0) as system,
         ifnull(sum(m.tools), 0) as tools,
         ifnull(sum(m.state), 0) as state,
         count(*) filter (where m.led = 'conversation' and m.message is not p.message) as led_conversation,
         count(*) filter (where m.led = 'retrieved') as led_retrieved,
         count(*) filter (where m.led = 'conversation' and m.message = p.message) as led_user,
         count(*) filter (where m.led = 'system') as led_system,
         count(*) filter (where m.led = 'tools') as led_tools,
         count(*) filter (where m.led = 'state') as led_state
  from messages as m
  left join last_prompts as p on p.transcript = m.transcript
  group by m.transcript
  union all
  select s.transcript, s.conversation - s.user, s.retrieved, s.user, s.system, s.tools, s.state,
         s.led_conversation - s.led_user, s.led_retrieved, s.led_user, s.led_system, s.led_tools, s.led_state
  from (
    select w.transcript,
           ifnull(sum(s.tokens) filter (where c.word = 'conversation'), 0) as conversation,
           ifnull(sum(s.tokens) filter (where c.word = 'retrieved'), 0) as retrieved,
           ifnull(sum(s.tokens) filter (where c.word = 'system'), 0) as system,
           ifnull(sum(s.tokens) filter (where c.word = 'tools'), 0) as tools,
           ifnull(sum(s.tokens) filter (where c.word = 'state'), 0) as state,
           ifnull(sum(s.messages) filter (where c.word = 'conversation'), 0) as led_conversation,
           ifnull(sum(s.messages) filter (where c.word = 'retrieved'), 0) as led_retrieved,
           ifnull(sum(s.messages) filter (where c.word = 'system'), 0) as led_system,
           ifnull(sum(s.messages) filter (where c.word = 'tools'), 0) as led_tools,
           ifnull(sum(s.messages) filter (where c.word = 'state'), 0) as led_state,
           ifnull((select sum(b.tokens) from stored_records as q
             cross join blocks as b on b.id >= q.id and b.id < q.id + q.length
             where q.id = w.prompt_id and b.category = 'conversation'), 0) as user,
           ifnull((select b.category = 'conversation' from stored_records as q
             cross join blocks as b on b.id >= q.id and b.id < q.id + q.length
             where q.id = w.prompt_id order by b.tokens desc, b.id limit 1), 0) as led_user
    from prompted as w
    -- the sums as stored: their category's word is asked for once
    cross join stored_window_sums as s on s.thread_id = w.transcript << 20 and s.branch = w.branch and s.epoch = w.epoch
    cross join words as c on c.id = s.category
    group by w.transcript) as s
)
select f.*, l.names as loads from found as f left join loads as l on l.transcript = f.transcript order by f.transcript;
