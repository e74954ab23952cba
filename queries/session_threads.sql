-- session_threads: every thread of a session's transcripts, with the calls it made (its own view, D2); of one
-- transcript only those up to a record.
--   :session     the session's id
--   :transcript  id of the transcript that is cut
--   :cut         id of the last record that counts in it; null = all count
select th.id, th.kind, coalesce(th.agent_id, t.agent_id) as agent_id, t.agent_type, t.agent_description,
       coalesce(th.parent_tool_use_id, t.parent_tool_use_id) as parent_tool_use_id,
       count(c.id) as calls, coalesce(sum(c.context_tokens), 0) as context_tokens,
       coalesce(sum(c.output_tokens), 0) as output_tokens,
       case when ifnull(max(c.is_unpriced), 0) = 0 then sum(c.cost_usd) end as cost_usd
from sessions as s
join transcripts as t on t.session_id = s.id and t.in_view = 1
join threads as th on th.transcript_id = t.id
left join responses as r on r.thread_id = th.id and r.id > 0
  and (:cut is null or r.transcript_id <> :transcript or r.id <= :cut)
left join priced_calls as c on c.id = r.call_id
where s.session_id = :session
group by th.id
order by t.first_ms is null, t.first_ms, t.path, th.id;
