-- readout_sessions: the sessions of a period, one row each, the last active first. A session counts when it
-- owns a call of the period (D2) or has one in its own view.
--   :since    UTC milliseconds: calls at or after it; null = all that have a time
--   :project  part of a project's path, in any case; null = all
-- Columns: session_key: for joins. session: its id. project: path. calls: those it owns, exact.
-- Whole quarters of an hour come from sums, what stands before the first of them call by call.
with first (quarter) as (select max(ifnull(:since, 0) + 899999, 0) / 900000),
owned as (
  select s.transcript_id, s.calls from first as f cross join call_sums as s where s.quarter >= f.quarter
  union all
  select c.transcript_id, 1 from first as f cross join api_calls as c
  where c.time_ms >= ifnull(:since, 0) and c.time_ms < f.quarter * 900000
),
found as (
  select t.session_id, o.calls from owned as o join transcripts as t on t.id = o.transcript_id
  union all
  select t.session_id, 0 from transcripts as t
  where t.in_view = 1 and t.superseded = 0 and (:since is null or t.last_ms >= :since)
    -- The curves know nearly all; advisors' calls and those of no tokens are in none.
    and (
      exists (
        select 1 from stored_curves as k
        where k.thread_id >= t.id << 20 and k.thread_id < (t.id + 1) << 20 and (:since is null or k.last_ms >= :since))
      or exists (
        select 1 from threads as h join responses as r on r.thread_id = h.id
        where h.transcript_id = t.id and r.id > 0 and r.call_id is not null and (:since is null or r.last_ms >= :since)))
)
select s.id as session_key, s.session_id as session, p.path as project, sum(f.calls) as calls
from found f join sessions s on s.id = f.session_id left join projects p on p.id = s.project_id
where :project is null
  or s.id in (
    select session_key from transcript_projects where instr(sought, replace(lower(:project), '\', '/')))
group by s.id
order by
  (select max(t.last_message_ms) from transcripts t where t.session_id = s.id and t.kind = 'main') desc,
  s.session_id;
