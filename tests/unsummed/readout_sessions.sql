-- readout_sessions: the sessions of a period, one row each, the last active first. A session counts when it
-- owns a call of the period (D2) or has one in its own view.
--   :since    UTC milliseconds: calls at or after it; null = all that have a time
--   :project  part of a project's path, in any case; null = all
-- Columns: session_key: for joins. session: its id. project: path. calls: those it owns, exact.
with owned as (
  select transcript_id, count(*) as calls from api_calls
  where time_ms >= ifnull(:since, 0) group by transcript_id
),
found as (
  select t.session_id, sum(o.calls) as calls
  from owned o join transcripts t on t.id = o.transcript_id group by t.session_id
  union all
  select t.session_id, 0 from transcripts t
  where t.in_view = 1 and t.superseded = 0 and (:since is null or t.last_ms >= :since)
    and exists (
      select 1 from threads h join responses r on r.thread_id = h.id
      where h.transcript_id = t.id and r.id > 0 and r.call_id is not null
        and (:since is null or r.last_ms >= :since))
)
select s.id as session_key, s.session_id as session, p.path as project, sum(f.calls) as calls
from found f join sessions s on s.id = f.session_id left join projects p on p.id = s.project_id
where :project is null or instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))
group by s.id
order by
  (select max(t.last_message_ms) from transcripts t where t.session_id = s.id and t.kind = 'main') desc,
  s.session_id;
