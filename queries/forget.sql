-- forget: the sessions that a request to forget means, and what would go with them; the last active first.
--   :session  a session's id; null = all
--   :project  part of a project's path, in any case; null = all
--   :before   UTC milliseconds: not active at or after it; null = all
-- Columns: calls: billed API calls that occur in its transcripts, exact. gone: 1 = none of its transcripts is on
-- disk, so nothing can be read again.
select
  o.session_id as session, o.project, o.title, o.last_active,
  (select count(*) from transcripts t where t.session_id = o.session_key) as transcripts,
  (select ifnull(sum(t.records), 0) from transcripts t where t.session_id = o.session_key) as records,
  (select count(distinct call_id) from (
    select r.call_id from transcripts t join responses r on r.id >= t.id << 40 and r.id < (t.id + 1) << 40
    where t.session_id = o.session_key
    union all
    select r.call_id from responses r join transcripts t on t.id = r.transcript_id
    where r.id < 0 and t.session_id = o.session_key)) as calls,
  o.gone
from sessions_overview o
where (:session is null or o.session_id = :session)
  and (:project is null or instr(replace(lower(o.project), '\', '/'), replace(lower(:project), '\', '/')))
  and (:before is null or o.last_active_ms < :before)
order by o.last_active_ms desc, o.session_id;
