-- session_branches: the branches of a transcript's main thread, and the record each of them forks at (D10).
--   :transcript  id of the transcript
select b.branch, b.parent_branch, b.fork_uuid is null as starts_anew, b.first_record_id, f.id as fork_record_id,
       f.branch as fork_branch, f.response_id as fork_response_id
from branches as b
left join records as f on f.transcript_id = :transcript
  and substr(f.uuid, 1, 4) = substr(b.fork_uuid, 1, 4) and f.uuid = b.fork_uuid and f.is_duplicate = 0
  and f.thread_id = b.thread_id
where b.thread_id = :transcript << 20
order by b.branch;
