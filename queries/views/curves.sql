-- curves: how the context of each thread grew (X-ctx), one row a thread: sums that the index keeps.
--   thread_id             whose calls: what occurs in the thread, copies too
--   calls                 how many, without advisors' and those of no tokens
--   first_ms, last_ms     earliest and latest time, UTC milliseconds; first_ms null = one has none
--   peak_tokens           most context tokens of one, exact
--   contexts              context tokens of each in log order, parted by commas, exact
create view curves as
select
  thread_id,
  sum(calls) as calls,
  case when count(*) = count(first_ms) then min(first_ms) end as first_ms,
  max(last_ms) as last_ms,
  max(peak_tokens) as peak_tokens,
  group_concat(contexts) as contexts
from (select * from stored_curves order by thread_id, part)
group by thread_id;
