-- trend_calls: the last call of each live window, and how much each of its last calls grew beyond what is known.
--   :windows  JSON array of [transcript, epoch, branch at its end]
--   :paths    JSON array of [transcript, branch, last record, response]: the live paths (D10); a null last record is none
-- Columns: transcript. id, model, context, output: of the last call. answer: tokens of its blocks if its output is a
-- placeholder (D9), else null. spans: JSON array, for each of the last 20 spans between two calls in which the context grew
-- [growth less the tokens of the messages in it, how many these are]; null = none. For the framing (D10).
with paths as materialized (
  select value ->> 0 as transcript, value ->> 1 as branch, value ->> 2 as bound, value ->> 3 as response
  from json_each(:paths)
),
windows as materialized (
  select value ->> 0 as transcript, value ->> 1 as epoch, value ->> 2 as branch from json_each(:windows)
),
-- From the last 21 calls of each on; most stand on the branch that it ends with, which is of its path as a whole.
since as materialized (
  select w.*, ifnull((
    select x.id
    from responses as x
    cross join api_calls as y on y.id = x.call_id
    where x.thread_id = w.transcript << 20 and x.id > 0 and x.is_advisor = 0 and y.context_tokens > 0
      and x.epoch = w.epoch and (x.branch = w.branch or exists (
        select 1 from paths as p where p.transcript = w.transcript and p.branch = x.branch
          and (p.bound is null or x.id <= p.bound or x.id = p.response)))
    order by x.id desc
    limit 1 offset 20), 1) as first_id
  from windows as w
),
last_calls as (
  select w.transcript, w.branch, r.id, r.call_id, c.context_tokens as context, r.ordinal, r.last_record_id,
         lead(r.id) over same as next_id, lead(r.ordinal) over same as next_ordinal,
         lead(c.context_tokens) over same as next_context
  from since as w
  cross join responses as r on r.thread_id = w.transcript << 20 and r.id >= w.first_id
  cross join api_calls as c on c.id = r.call_id
  where r.is_advisor = 0 and c.context_tokens > 0 and r.epoch = w.epoch
    and (r.branch = w.branch or exists (
        select 1 from paths as p where p.transcript = w.transcript and p.branch = r.branch
          and (p.bound is null or r.id <= p.bound or r.id = p.response)))
  window same as (partition by w.transcript order by r.id)
),
spans as (
  select k.transcript, k.id, k.call_id, k.context, k.last_record_id, (
      select '[' || (k.next_context - k.context - sum(b.tokens)) || ',' || count(distinct r.message) || ']'
      from stored_records as r
      cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
      where r.id >= k.id and r.id <= max(k.next_id, iif(k.next_ordinal = k.ordinal + 1, k.last_record_id, (
          select max(x.last_record_id) from responses as x
          where x.thread_id = k.transcript << 20 and x.id between k.id and k.next_id)))
        and r.call_ordinal >= k.ordinal and r.call_ordinal < k.next_ordinal
        and +r.thread = 0 and r.message is not null
        and (r.branch = k.branch or exists (
          select 1 from paths as p where p.transcript = k.transcript and p.branch = r.branch
            and (p.bound is null or r.id <= p.bound or r.id - r.response_back = p.response)))
        and k.next_context > k.context) as span
  from last_calls as k
),
ended as materialized (
  select transcript, max(id) as id, call_id, context, last_record_id, '[' || group_concat(span) || ']' as spans
  from spans
  group by transcript
)
select k.transcript, k.id, coalesce(c.model, 'unknown') as model, k.context, c.output_tokens as output,
       (select sum(b.tokens) from records as r cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
        where r.id between k.id and k.last_record_id and r.response_id = k.id
        having min(b.is_exact) = 0) as answer,
       k.spans
from ended as k cross join api_calls as c on c.id = k.call_id
order by k.transcript;
