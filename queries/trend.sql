-- trend: the sessions with messages, the last active first: where each stands, and what says whether its window can be
-- judged from sums alone. A session's own view (D2, D3).
--   :project  part of a project's path, in any case; null = all
--   :limit    sessions; null = all
-- Columns: session_id, project. transcript: the last of its parts that has a message. parts: main transcripts it goes
-- over. started_ms, last_ms, active_ms: of its records and its last message, UTC. version, last_version: of Claude Code,
-- the first one and the last. messages: on its main thread, exact. compactions: boundaries on it that the session owns
-- (D2), exact. end_id, branch, epoch: its last message, or a boundary behind it (D10). boundary, post_tokens,
-- discovered_tools: of the last boundary of that epoch. own_calls: 1 = it may end with a call of crusts itself. leaf: the
-- record that a last-prompt record behind the end names (D10), else null. summaries: 1 = there is a summary. branches:
-- rewinds. left_out: sessions of the project with no message on a main thread, which are no rows here (subagents alone,
-- say).
with recursive grouped as materialized (
  select s.session_id, count(*) as parts, min(t.first_ms) as started_ms, max(t.last_ms) as last_ms,
         max(ifnull(t.last_message_ms, t.last_ms)) as active_ms,
         sum(h.messages) as messages, s.id as session_key, p.path as project
  from transcripts as t
  join threads as h on h.id = t.id << 20
  join sessions as s on s.id = t.session_id
  left join projects as p on p.id = s.project_id
  where t.kind = 'main' and t.in_view = 1
    and (:project is null
      or instr(replace(lower(coalesce(p.path, t.folder)), '\', '/'), replace(lower(:project), '\', '/')))
  group by s.id
  having messages > 0
  order by active_ms desc, s.session_id
  limit ifnull(:limit, -1)
),
picked as materialized (
  select g.session_id, coalesce(g.project, t.folder) as project, t.id as transcript, g.parts, g.started_ms, g.last_ms,
         g.active_ms, t.version, ifnull(t.last_version, t.version) as last_version, g.messages, g.session_key
  from grouped as g
  join transcripts as t on t.id = (
    select l.id from transcripts as l
    where l.session_id = g.session_key and l.kind = 'main' and l.in_view = 1
      and exists (select 1 from threads as h where h.id = l.id << 20 and h.messages > 0)
    order by l.first_ms is null desc, l.first_ms desc, l.path desc limit 1)
),
owned as materialized (
  select c.transcript_id, count(*) as compactions
  from compaction_owners as o
  join compactions as c on c.id = o.compaction_key
  join threads as h on h.id = c.thread_id
  where o.place = 1 and h.kind = 'main'
  group by c.transcript_id
),
ended as materialized (
  select k.*, e.id as end_id, e.branch, e.epoch
  from picked as k
  join records as e on e.id = max(
    ifnull((select r.id from records as r
            where r.id >= k.transcript << 40 and r.id < (k.transcript + 1) << 40
              and r.thread_id = k.transcript << 20 and r.message is not null
            order by r.id desc limit 1), 0),
    ifnull((select max(c.id) from compactions as c where c.thread_id = k.transcript << 20), 0))
)
select e.session_id, e.project, e.transcript, e.parts, e.started_ms, e.last_ms, e.active_ms, e.version, e.last_version, e.messages,
       ifnull((select sum(o.compactions) from transcripts as t join owned as o on o.transcript_id = t.id
               where t.session_id = e.session_key), 0) as compactions,
       e.end_id, e.branch, e.epoch, c.id as boundary, c.post_tokens, c.discovered_tools,
       ifnull((select max(u.is_own) from (
                 select is_own from tool_uses
                 where id >= e.transcript << 40 and id < (e.transcript + 1) << 40
                 order by id desc limit 40) as u), 0) as own_calls,
       (select (select x.id from records as x where x.transcript_id = e.transcript
         and substr(x.uuid, 1, 4) = substr(n.parent_uuid, 1, 4) and x.uuid = n.parent_uuid
                  and x.is_duplicate = 0 and x.id < e.end_id)
        from records as n
        where n.id > e.end_id and n.id < (e.transcript + 1) << 40 and n.type = 'last-prompt'
          and n.parent_uuid is not null
        order by n.id desc limit 1) as leaf,
       exists (select 1 from stored_records as r
               where r.flags & 6 and r.thread = 0 and r.id >= e.transcript << 40 and r.id < (e.transcript + 1) << 40
                 and r.flags & 4) as summaries,
       (select count(*) from branches as b where b.thread_id = e.transcript << 20) as branches,
       (select count(*) from sessions as s
        where not exists (select 1 from transcripts as t join threads as h on h.id = t.id << 20
                          where t.session_id = s.id and t.kind = 'main' and t.in_view = 1 and h.messages > 0)
          and exists (select 1 from transcripts as t left join projects as p on p.id = s.project_id
                      where t.session_id = s.id and (:project is null
                        or instr(replace(lower(coalesce(p.path, t.folder)), '\', '/'),
                                 replace(lower(:project), '\', '/'))))) as left_out
from ended as e
left join compactions as c on e.epoch > 0 and c.id = (
  select max(x.id) from compactions as x join records as r on r.id = x.id
  where x.thread_id = e.transcript << 20 and r.epoch = e.epoch)
order by e.active_ms desc, e.session_id;
