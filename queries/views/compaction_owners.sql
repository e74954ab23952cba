-- compaction_owners: where a compaction boundary counts that stands in several transcripts (D2), one row a boundary.
--   place                 1 = totals count it here; 2 and more = a copy of one counted elsewhere
--   compaction_key        its record, for joins; differs from store to store
create view compaction_owners as
select
  c.id as compaction_key,
  -- Boundaries without a uuid are their own. A copy may say nothing of itself: then the calls around it tell (with one
  -- of them copied it stands where the copied history ends, which a copy may do and an original rarely does), and
  -- whether what it continues stands before it: a fork may copy no more than what came behind.
  row_number() over (
    partition by ifnull(c.uuid, c.id)
    order by
      case
        when r.is_copied = 1 then 2
        else ifnull((select x.is_copied from responses x
            where x.thread_id = c.thread_id and x.id > 0 and x.id < c.id order by x.id desc limit 1), 0)
          + ifnull((select x.is_copied from responses x
            where x.thread_id = c.thread_id and x.id > c.id order by x.id limit 1), 0)
          + (r.parent_uuid is not null and not exists (select 1 from records x
            where x.transcript_id = c.transcript_id
              and substr(x.uuid, 1, 4) = substr(r.parent_uuid, 1, 4) and x.uuid = r.parent_uuid and x.id < c.id))
      end,
      h.kind <> 'main', s.session_id is not c.record_session, r.time_ms is null, r.time_ms, t.path, c.id
  ) as place
from compactions c
  join records r on r.id = c.id
  join threads h on h.id = c.thread_id
  join transcripts t on t.id = c.transcript_id
  left join sessions s on s.id = t.session_id;
