-- trend_calls: the last call of each live window, and how much each of its last calls grew beyond what is known.
--   :windows  JSON array of [transcript, epoch]
--   :paths    JSON array of [transcript, branch, last record, response]: the live paths (D10); a null last record is none
-- Columns: transcript. id, model, context, output: of the last call. answer: tokens of its blocks if its output is a
-- placeholder (D9), else null. excess, counts: JSON arrays, a value for each of the last 20 spans between two calls: growth
-- less the tokens of the messages in it, and how many these are; null = none. For the framing (D10).
with paths as materialized (
  select value ->> 0 as transcript, value ->> 1 as branch, value ->> 2 as bound, value ->> 3 as response
  from json_each(:paths)
),
windows as materialized (
  select value ->> 0 as transcript, value ->> 1 as epoch from json_each(:windows)
),
last_calls as materialized (
  select w.transcript, r.id, c.model, c.context_tokens as context, c.output_tokens as output,
         r.last_record_id, r.ordinal, first_value(r.id) over same as first_id, row_number() over same as nth,
         lead(r.ordinal) over same as next_ordinal, lead(c.context_tokens) over same as next_context
  from windows as w
  cross join responses as r on r.id in (
    select x.id
    from responses as x
    cross join api_calls as y on y.id = x.call_id
    join paths as p on p.transcript = w.transcript and p.branch = x.branch
      and (p.bound is null or x.id <= p.bound or x.id = p.response)
    where x.thread_id = w.transcript << 20 and x.id > 0 and x.is_advisor = 0 and y.context_tokens > 0
      and x.epoch = w.epoch
    order by x.id desc
    limit 21)
  cross join api_calls as c on c.id = r.call_id
  window same as (partition by r.thread_id order by r.id)
),
-- what came between two responses of a thread, by the number of the one before it; three spans are needed at least
between_calls as materialized (
  select k.transcript, r.call_ordinal as ordinal, sum(b.tokens) as tokens, count(distinct r.message) as messages
  from last_calls as k
  cross join records as r on r.id >= k.first_id and r.id < (k.transcript + 1) << 40 and +r.thread_id = k.transcript << 20
    and r.message is not null
  cross join paths as p on p.transcript = k.transcript and p.branch = r.branch
    and (p.bound is null or r.id <= p.bound or r.response_id = p.response)
  cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
  where k.next_ordinal is null and k.nth > 3
  group by k.transcript, r.call_ordinal
),
spans as materialized (
  select k.transcript, k.next_context - k.context - sum(n.tokens) as excess, sum(n.messages) as messages
  from last_calls as k
  join between_calls as n on n.transcript = k.transcript and n.ordinal >= k.ordinal and n.ordinal < k.next_ordinal
  where k.next_context > k.context
  group by k.id
),
samples as materialized (
  select transcript, json_group_array(excess) as excess, json_group_array(messages) as counts
  from spans
  where excess between 0 and 50 * messages
  group by transcript
)
select k.transcript, k.id, coalesce(k.model, 'unknown') as model, k.context, k.output,
       (select sum(b.tokens) from records as r cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
        where r.id between k.id and k.last_record_id and r.response_id = k.id
        having min(b.is_exact) = 0) as answer,
       n.excess, n.counts
from last_calls as k
left join samples as n on n.transcript = k.transcript
where k.next_ordinal is null
order by k.transcript;
