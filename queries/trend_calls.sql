-- trend_calls: the last call of each live window, and how it grew until then.
--   :windows  JSON array of [transcript, epoch, branch at its end, boundary or first record, 1 = all of the thread's
--             calls are in it]
--   :paths    JSON array of [transcript, branch, last record, response]: the live paths (D10); a null last record is none
-- Columns: transcript. id, model, context, output: of the call. asked: the model as it was asked for; null = not logged.
-- answer: tokens of its blocks if its output is a placeholder (D9), else null. first: context of the window's first
-- call. calls: how many it has.
with paths as materialized (
  select value ->> 0 as transcript, value ->> 1 as branch, value ->> 2 as bound, value ->> 3 as response
  from json_each(:paths)
),
last_calls as materialized (
  select w.value ->> 0 as transcript, w.value ->> 1 as epoch, w.value ->> 2 as branch, w.value ->> 3 as since,
         w.value ->> 4 as is_whole, r.id, r.last_record_id, c.model, c.context_tokens as context,
         c.output_tokens as output
  from json_each(:windows) as w
  cross join responses as r on r.id = (
    select x.id
    from responses as x
    cross join api_calls as y on y.id = x.call_id
    where x.thread_id = (w.value ->> 0) << 20 and x.id > 0 and x.is_advisor = 0 and y.context_tokens > 0
      and x.epoch = w.value ->> 1
      -- most stand on the branch that it ends with, which is of its path as a whole
      and (x.branch = w.value ->> 2 or exists (
        select 1 from paths as p where p.transcript = w.value ->> 0 and p.branch = x.branch
          and (p.bound is null or x.id <= p.bound or x.id = p.response)))
    order by x.id desc
    limit 1)
  cross join api_calls as c on c.id = r.call_id
),
-- Of a thread without branches and boundaries the index keeps the number.
parted as materialized (
  select k.transcript, count(*) as calls
  from last_calls as k
  cross join responses as x on x.id >= k.since and x.id <= k.id and x.thread_id = k.transcript << 20
  cross join api_calls as y on y.id = x.call_id
  where not k.is_whole and x.is_advisor = 0 and y.context_tokens > 0 and x.epoch = k.epoch
    and exists (
      select 1 from paths as p where p.transcript = k.transcript and p.branch = x.branch
        and (p.bound is null or x.id <= p.bound or x.id = p.response))
  group by k.transcript
)
select k.transcript, k.id, coalesce(k.model, 'unknown') as model, k.context, k.output,
       (select w.word from stored_response_facts as f join words as w on w.id = f.requested_model
        where f.response_id = k.id) as asked,
       (select sum(b.tokens) from records as r cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
        where r.id between k.id and k.last_record_id and r.response_id = k.id
        having min(b.is_exact) = 0) as answer,
       (select y.context_tokens
        from responses as x
        cross join api_calls as y on y.id = x.call_id
        where x.thread_id = k.transcript << 20 and x.id >= k.since and x.is_advisor = 0 and y.context_tokens > 0
          and x.epoch = k.epoch and exists (
            select 1 from paths as p where p.transcript = k.transcript and p.branch = x.branch
              and (p.bound is null or x.id <= p.bound or x.id = p.response))
        order by x.id
        limit 1) as first,
       coalesce((select p.calls from parted as p where p.transcript = k.transcript),
                (select sum(m.calls) from stored_curve_models as m where m.thread_id = k.transcript << 20)) as calls
from last_calls as k
order by k.transcript;
