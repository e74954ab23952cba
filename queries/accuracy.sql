-- accuracy: what the content between two calls of a thread was estimated at, beside what the second call carried more
-- than the first, exactly: its context less the first one's (D9). One row a pair whose content is mostly of one kind.
--   :since    UTC milliseconds, null for all time
--   :project  part of a project's path, null for all
-- version is the transcript's last Claude Code version; kind the tool that gave most of the content, or what else it was.
with pair as (
  select r.thread_id, r.branch, r.epoch, r.ordinal, t.last_version, c.context_tokens as context,
         lead(c.context_tokens) over same as next_context,
         lead(r.ordinal) over same as next_ordinal
  from responses as r
  join api_calls as c on c.id = r.call_id
  join threads as th on th.id = r.thread_id
  join transcripts as t on t.id = r.transcript_id
  left join sessions as s on s.id = t.session_id
  left join projects as p on p.id = s.project_id
  where r.id > 0 and r.is_nested = 0 and r.is_advisor = 0 and c.context_tokens > 0
    and c.time_ms >= ifnull(:since, 0)
    and (:project is null or instr(lower(p.path), lower(:project)))
  window same as (partition by r.thread_id, r.branch, r.epoch order by r.id)
),
part as (
  select pair.thread_id, pair.branch, pair.epoch, pair.ordinal, pair.last_version,
         pair.next_context - pair.context as growth,
         case when b.kind = 'attachment' then 'attachment'
              when u.server is not null then 'MCP result'
              when u.name is not null and b.kind = 'tool_result' then u.name || ' result'
              when b.kind = 'tool_result' then 'other result'
              when r.response_id is not null then 'answer'
              else 'prompt' end as kind,
         sum(b.tokens) as tokens
  from pair
  join records as r
    on r.thread_id = pair.thread_id and r.branch = pair.branch and r.epoch = pair.epoch
   and r.call_ordinal = pair.ordinal
  join blocks as b on b.record_id = r.id
  left join tool_uses as u on u.id = b.tool_use_id
  where pair.next_ordinal = pair.ordinal + 1 and pair.next_context > pair.context
  group by 1, 2, 3, 4, kind
),
whole as (
  select *, sum(tokens) over one as estimate, max(tokens) over one as most
  from part
  window one as (partition by thread_id, branch, epoch, ordinal)
)
select ifnull(last_version, 'unknown') as version, kind, estimate, growth
from whole
where tokens = most and most >= 0.8 * estimate and estimate >= 200
order by thread_id, ordinal;
