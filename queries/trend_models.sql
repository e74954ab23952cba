-- trend_models: the calls of main threads that are points of a curve, one row a transcript and model.
--   :transcripts  JSON array of transcripts
-- Columns: transcript, model. largest: most context tokens of a call, exact. first_id, last_id: the first and the last
-- response. drop: by how much a call's context fell below that of the call before it at most, on any branch; null = none.
select m.thread_id >> 20 as transcript, coalesce(m.model, 'unknown') as model, m.peak_tokens as largest, m.first_id, m.last_id,
       m.fall_tokens as fall
from json_each(:transcripts) as w
cross join curve_models as m on m.thread_id = w.value << 20
order by transcript, first_id;
