-- status_shape: what decides whether the few rows of a status say all: boundaries, summaries, drops of the context
-- between calls (asked only where there is no boundary), and calls of crusts itself among the last tool uses.
--   :transcript  id of the transcript
--   :trim        1 = look for own calls, too
with uses as (
  select is_own from tool_uses
  where id >= :transcript << 40 and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
  order by id desc limit 40
), shape as (
  select (select count(*) from compactions where thread_id = :transcript << 20) as boundaries
)
select boundaries,
       case when boundaries = 0 then exists (
         select 1 from stored_records
         where flags & 6 and thread = 0 and id >= :transcript << 40 and id < (:transcript + 1) << 40 and flags & 4)
       end as summaries,
       case when boundaries = 0 then (
         select max(before - context) from (
           select r.input_tokens + r.cache_read_tokens + r.cache_write_tokens as context,
                  lag(r.input_tokens + r.cache_read_tokens + r.cache_write_tokens) over (order by r.id) as before
           from stored_responses as r
           where r.thread_id = :transcript << 20 and r.id > 0 and r.flags & 12 = 8)
         where context > 0) end as largest_drop,
       case when :trim then (select coalesce(max(is_own), 0) from uses) end as own_calls
from shape;
