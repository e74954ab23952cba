-- readout_tools: tokens that each tool's results put into the context in a period, most first (X-tools).
--   :since    UTC milliseconds: results at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: name: the tool. tokens: of its results, each counted once (D2), estimated (X-size).
-- Whole quarters of an hour come from sums; what stands before the first of them, and what has its use in another
-- transcript, result by result.
with first (quarter) as (select ifnull((:since + 899999) / 900000, -1)),
wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
),
summed as (
  select s.name, sum(s.result_tokens) as tokens
  from first as f cross join stored_tool_sums as s
  where s.quarter >= f.quarter and s.results > 0 and s.name > 0
    and (:project is null or s.thread_id >> 20 in (select transcript_id from wanted))
  group by s.name
),
results as (
  select (select w.word from words as w where w.id = s.name) as name, s.tokens from summed as s
  union all
  select coalesce(u.name, (select o.name from tool_uses as o where o.key_end = u.key_end
    and o.use_key = u.use_key and o.owns = 1)), u.result_tokens
  from (
    select distinct s.thread_id >> 20 as transcript_id from first as f cross join stored_tool_sums as s
    where (s.name = 0 or :since is not null and s.quarter = f.quarter - 1) and s.results > 0
      and (:project is null or s.thread_id >> 20 in (select transcript_id from wanted))) as t
  cross join first as f
  cross join tool_uses as u on u.id >= t.transcript_id << 40 and u.id < (t.transcript_id + 1) << 40
  where u.owns_result and u.result_record_id is not null and (:since is null or u.result_ms >= :since)
    and (u.name is null or u.result_ms < f.quarter * 900000)
)
select name, sum(tokens) as tokens from results group by name order by tokens desc, name;
