-- trend_boundaries: the compaction boundaries of main threads, in log order, and the first call behind each.
--   :transcripts  JSON array of transcripts
-- Columns: transcript, id, trigger, pre_tokens, time_ms, preserved: of the boundary, as logged. model: of an automatic one,
-- that of the call before it; null = none. context: of the first call of its epoch and branch, exact; null = none.
-- carried: tokens of the messages between the two (D9).
select k.transcript_id as transcript, k.id, k.trigger, k.pre_tokens, r.time_ms, k.preserved,
       case when k.trigger = 'auto' then (
         select coalesce(z.model, 'unknown') from responses as y cross join api_calls as z on z.id = y.call_id
         where y.thread_id = k.thread_id and y.id < k.id and y.id > 0 and y.is_advisor = 0 and z.context_tokens > 0
         order by y.id desc limit 1) end as model,
       (select c.context_tokens from api_calls as c where c.id = ifnull(x.shared_call_id, x.id)) as context,
       ifnull((select sum(b.tokens) from records as m cross join blocks as b on b.id >= m.id and b.id < m.id + m.length
               where m.id > k.id and m.id < x.id and m.thread_id = k.thread_id and m.epoch = r.epoch
                 and m.message is not null and m.call_ordinal < x.ordinal), 0) as carried
from json_each(:transcripts) as w
join compactions as k on k.thread_id = w.value << 20
join records as r on r.id = k.id
left join stored_responses as x on x.id = (
  select y.id from responses as y cross join api_calls as z on z.id = y.call_id
  where y.thread_id = k.thread_id and y.id > k.id and y.epoch = r.epoch and y.branch = r.branch
    and y.is_advisor = 0 and z.context_tokens > 0
  order by y.id limit 1)
order by k.id;
