-- fixed_sent: what Claude Code logged of the system prompt and the tools that first calls were sent with (D11): the last
-- `api-request-shape` before the call, else the first `prompt_snapshot` that has tools; nothing where neither is there.
--   :firsts  JSON array of [transcript, first response]
-- Columns: transcript. is_shape: 1 = as sent, 0 = by the snapshot. system, tools: tokens, estimated (D9). names: of the
-- tools, a JSON array.
with firsts as materialized (
  select f.value ->> 0 as transcript, f.value ->> 1 as response from json_each(:firsts) as f
),
chosen as materialized (
  select f.transcript,
         (select max(s.record_id) from request_shapes as s
          where s.record_id between f.transcript << 40 and f.response) as shape,
         (select min(p.record_id) from stored_sent_parts as p
          where p.record_id >= f.transcript << 40 and p.record_id < (f.transcript + 1) << 40
            and p.kind = (select w.id from words as w where w.word = 'tool')
            and not exists (select 1 from request_shapes as s where s.record_id = p.record_id)) as snapshot
  from firsts as f
)
select c.transcript, c.shape is not null as is_shape,
       cast(ifnull(sum(u.tokens) filter (where u.kind = 'system'), 0) as integer) as system,
       cast(ifnull(sum(u.tokens) filter (where u.kind = 'tool'), 0) as integer) as tools,
       json_group_array(u.name) filter (where u.kind = 'tool' and u.name is not null) as names
from chosen as c
cross join (
  select p.record_id, p.kind, p.name,
         p.soft * ifnull((select w.value from weights as w where w.name = 'soft'), 0.207)
         + p.marks * ifnull((select w.value from weights as w where w.name = 'marks'), 1.12) as tokens
  from sent_parts as p
) as u on u.record_id = ifnull(c.shape, c.snapshot)
group by c.transcript
order by c.transcript;
