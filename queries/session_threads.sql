-- session_threads: every thread of a session's transcripts, with the calls it made (its own view, D2); of one
-- transcript only those up to a record.
--   :session     the session's id
--   :transcript  id of the transcript that is cut
--   :cut         id of the last record that counts in it; null = all count
with mine as materialized (
  select th.id, th.kind, coalesce(th.agent_id, t.agent_id) as agent_id, t.agent_type, t.agent_description,
         coalesce(th.parent_tool_use_id, t.parent_tool_use_id) as parent_tool_use_id, t.first_ms, t.path
  from sessions as s
  join transcripts as t on t.session_id = s.id and t.in_view = 1
  join threads as th on th.transcript_id = t.id
  where s.session_id = :session
),
-- Joined on its own, and not from the left, so that the calls are found by their ids.
made as materialized (
  select m.id, count(*) as calls, sum(c.context_tokens) as context_tokens, sum(c.output_tokens) as output_tokens,
         sum(c.cost_usd) as priced_usd, sum(c.is_unpriced) as unpriced_calls, sum(c.is_placeholder) as placeholder_calls
  from mine as m
  cross join responses as r on r.thread_id = m.id and r.id > 0
    and (:cut is null or r.transcript_id <> :transcript or r.id <= :cut)
  cross join priced_calls as c on c.id = r.call_id
  group by m.id
)
select m.id, m.kind, m.agent_id, m.agent_type, m.agent_description, m.parent_tool_use_id, ifnull(c.calls, 0) as calls,
       ifnull(c.context_tokens, 0) as context_tokens, ifnull(c.output_tokens, 0) as output_tokens,
       case when c.unpriced_calls = 0 then c.priced_usd end as cost_usd, c.priced_usd,
       ifnull(c.unpriced_calls, 0) as unpriced_calls, ifnull(c.placeholder_calls, 0) as placeholder_calls
from mine as m
left join made as c on c.id = m.id
order by m.first_ms is null, m.first_ms, m.path, m.id;
