-- sent_named: the tools or files that transcripts say were sent, in log order (D11, D20).
--   :transcripts  JSON array of transcripts
--   :kind         tool: of request shapes and prompt snapshots; file: of `instructions` records
-- Columns: transcript. record_id: where it says so. name: of a tool its name, of a file its path; null = not told.
-- tokens: estimated, without a model's factor (D9).
select t.value as transcript, p.record_id,
       iif(:kind = 'file', p.path, (select w.word from words as w where w.id = p.name)) as name,
       p.soft * ifnull((select w.value from weights as w where w.name = 'soft'), 0.207)
       + p.marks * ifnull((select w.value from weights as w where w.name = 'marks'), 1.12) as tokens
from json_each(:transcripts) as t
cross join stored_sent_parts as p on p.record_id >= t.value << 40 and p.record_id < (t.value + 1) << 40
where p.kind = (select w.id from words as w where w.word = :kind)
order by p.record_id, p.place;
