-- trend_starts: what stood before the first call of sessions, for their fixed context (D11).
--   :firsts  JSON array of [transcript, first response]
-- Columns: transcript. id, ordinal, branch, time_ms, context: of the first call, exact. messages, attachments: tokens of
-- the blocks before it (D9). listed, nested: 1 = a skill listing, a nested CLAUDE.md is among them. amid: 1 = the first
-- message of the transcript follows one that stands nowhere in it.
select r.transcript_id as transcript, r.id, r.ordinal, r.branch, c.time_ms, c.context_tokens as context,
       ifnull(sum(b.tokens) filter (where b.kind <> 'attachment'), 0) as messages,
       ifnull(sum(b.tokens) filter (where b.kind = 'attachment'), 0) as attachments,
       ifnull(max(e.subtype = 'skill_listing'), 0) as listed,
       ifnull(max(e.subtype = 'nested_memory'), 0) as nested,
       ifnull((select n.parent_uuid is not null and not exists (
                 select 1 from records as x where x.transcript_id = r.transcript_id
                   and substr(x.uuid, 1, 4) = substr(n.parent_uuid, 1, 4) and x.uuid = n.parent_uuid)
               from records as n
               where n.id >= r.transcript_id << 40 and n.id < (r.transcript_id + 1) << 40
                 and n.thread_id = r.transcript_id << 20 and n.message is not null
               order by n.id limit 1), 0) as amid
from json_each(:firsts) as f
join responses as r on r.id = f.value ->> 1
cross join api_calls as c on c.id = r.call_id
left join records as e on e.id >= r.transcript_id << 40 and e.id < r.id and e.thread_id = r.thread_id
  and e.message is not null and e.response_id is null and e.branch = r.branch and e.call_ordinal < r.ordinal
  and e.subtype is not 'prompt_snapshot'
left join blocks as b on b.id >= e.id and b.id < e.id + e.length
group by r.id;
