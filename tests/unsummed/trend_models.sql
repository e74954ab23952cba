-- trend_models: the calls of main threads that are points of a curve, one row a transcript and model.
--   :transcripts  JSON array of transcripts
-- Columns: transcript, model. largest: most context tokens of a call, exact. first_id, last_id: the first and the last
-- response. drop: by how much a call's context fell below that of the call before it at most, on any branch; null = none.
select transcript, model, max(context) as largest, min(id) as first_id, max(id) as last_id, max(before - context) as fall
from (
  select w.value as transcript, coalesce(c.model, 'unknown') as model, c.context_tokens as context, r.id,
         lag(c.context_tokens) over (partition by r.thread_id order by r.id) as before
  from json_each(:transcripts) as w
  cross join responses as r on r.thread_id = w.value << 20
  join api_calls as c on c.id = r.call_id
  where r.id > 0 and r.is_advisor = 0 and c.context_tokens > 0)
group by transcript, model
order by transcript, first_id;
