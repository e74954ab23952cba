-- session_boundaries: the compaction boundaries of a transcript's main thread, in log order. A boundary that stands in
-- several transcripts is counted in one of them only: is_owner (D2).
--   :transcript  id of the transcript
with ranked as (
  select c.id, row_number() over (partition by coalesce(c.uuid, c.id)
    order by r.is_copied, th.kind <> 'main', t.record_session is not s.session_id, r.time_ms is null, r.time_ms,
             t.path, c.id) as place
  from compactions as c
  join records as r on r.id = c.id
  join threads as th on th.id = c.thread_id
  join transcripts as t on t.id = c.transcript_id
  left join sessions as s on s.id = t.session_id
  where c.uuid in (select uuid from compactions where thread_id = :transcript << 20)
)
select c.id, r.time_ms, c.trigger, c.pre_tokens, c.post_tokens, c.dropped_tokens, c.duration_ms, c.focus,
       c.preserved, c.discovered_tools, r.epoch, r.branch, coalesce(ranked.place, 1) = 1 as is_owner
from compactions as c
join records as r on r.id = c.id
left join ranked on ranked.id = c.id
where c.thread_id = :transcript << 20
order by c.id;
