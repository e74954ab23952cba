-- messages: one row a message of a thread: an API response, or another record that puts something into the
-- context (D7).
--   session_id            its session
--   thread_kind           main, subagent, sidechain or progress
--   number                of the message in its thread, from 1; a session's part files each begin with 1
--   timestamp             of its first record, ISO 8601 UTC; time_ms the same in milliseconds
--   type                  user, assistant, attachment or system; subtype: of an attachment its inner type
--   is_prompt             1 = a human prompt; is_summary: 1 = a compaction summary
--   branch, epoch         rewinds and compactions of its thread so far (D10)
--   call_ordinal          API responses of its thread so far, its own included (D13)
--   tokens                of its blocks: shares of the billed output, or estimates (D9)
--   is_exact              1 = the tokens add up to the billed output; else they are estimated
--   is_rough              1 = read by an early parser: what its blocks measure is made from their characters
--   preview               how it begins, up to 200 characters; null = no text kept
--   uuid                  of its first record
--   in_view               1 = its session's own view shows it (D3)
--   path, thread, offset  its transcript, the thread's number in it, the byte at which its first record begins
create view messages as
select
  s.session_id,
  h.kind as thread_kind,
  r.message as number,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.time_ms / 1000.0, 'unixepoch') as timestamp,
  r.type,
  r.subtype,
  r.is_prompt,
  r.is_summary,
  r.branch,
  r.epoch,
  r.call_ordinal,
  (select ifnull(sum(b.tokens), 0) from records q cross join blocks b on b.id >= q.id and b.id < q.id + q.length
    where q.id between r.id and ifnull(a.last_record_id, r.id) and (q.id = r.id or q.response_id = r.id))
    as tokens,
  ifnull((select min(b.is_exact) from records q cross join blocks b on b.id >= q.id and b.id < q.id + q.length
    where q.id between r.id and ifnull(a.last_record_id, r.id) and (q.id = r.id or q.response_id = r.id)), 0)
    as is_exact,
  t.parser < 3 as is_rough,
  (select substr(x.text, 1, 200) from records q cross join blocks b on b.id >= q.id and b.id < q.id + q.length
      join texts x on x.block_id = b.id
    where q.id between r.id and ifnull(a.last_record_id, r.id) and (q.id = r.id or q.response_id = r.id)
    order by b.id limit 1) as preview,
  case when typeof(r.uuid) = 'blob' then lower(
    substr(hex(r.uuid), 1, 8) || '-' || substr(hex(r.uuid), 9, 4) || '-' || substr(hex(r.uuid), 13, 4) || '-'
    || substr(hex(r.uuid), 17, 4) || '-' || substr(hex(r.uuid), 21)) else r.uuid end as uuid,
  t.in_view = 1 and t.superseded = 0 as in_view,
  t.path,
  r.thread_id & ((1 << 20) - 1) as thread,
  r.id & ((1 << 40) - 1) as offset,
  r.time_ms
from transcripts t
  left join sessions s on s.id = t.session_id
  join records r on r.id >= t.id << 40 and r.id < (t.id + 1) << 40
  join threads h on h.id = r.thread_id
  left join responses a on a.id = r.response_id
-- A response is a message at its first record.
where r.message is not null and ifnull(r.response_id, r.id) = r.id;
