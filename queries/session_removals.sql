-- session_removals: what the records of a transcript's main thread say was taken out of the context (D10).
--   :transcript  id of the transcript
select m.record_id, r.message, m.kind, m.saved_tokens, r.branch, r.response_id,
       (select u.id from tool_uses as u
        where u.key_end = substr(m.use_key, iif(length(m.use_key) = 24, -6, -64)) and u.use_key = m.use_key
          and +u.transcript_id = :transcript limit 1) as tool_use_row,
       (select x.id from records as x
        where x.transcript_id = :transcript
          and substr(x.uuid, 1, 4) = substr(m.uuid, 1, 4) and x.uuid = m.uuid and x.is_duplicate = 0 limit 1) as target_record_id
from removals as m
join records as r on r.id = m.record_id
where m.record_id >= :transcript << 40 and m.record_id < (:transcript + 1) << 40
  and r.thread_id = :transcript << 20
order by m.record_id, m.place;
