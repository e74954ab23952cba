-- readout_tools: tokens that each tool's results put into the context in a period, most first (X-tools).
--   :since    UTC milliseconds: results at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: name: the tool. tokens: of its results, each counted once (D2), estimated (X-size).
select
  coalesce(u.name, (select o.name from tool_uses o where o.key_end = u.key_end
    and o.use_key = u.use_key and o.owns = 1))
    as name,
  sum(u.result_tokens) as tokens
-- Ids begin with their transcript's, so only transcripts that reach into the period are looked at.
from transcripts t cross join tool_uses u on u.id >= t.id << 40 and u.id < (t.id + 1) << 40
where u.owns_result and u.result_record_id is not null
  and (:since is null or t.last_ms >= :since) and (:since is null or u.result_ms >= :since)
  and (:project is null or t.id in (
    select t.id from projects p join sessions s on s.project_id = p.id
    join transcripts t on t.session_id = s.id
      where instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))))
group by 1
order by tokens desc, name;
