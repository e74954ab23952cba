-- readout_breaks: what had been cached and was sent again in the period, by reason (D21): one row a reason, the most tokens
-- first. As in the view cache_breaks.
--   :since    UTC milliseconds: calls at or after it; null = all that have a time
--   :project  part of a project's path, in any case; null = all
-- Columns: reason. breaks: how many. tokens: sent again, exact. avoidable_usd: less what reading them from the cache would
-- have cost, at list price, summing what is priced; null where nothing is.
select
  b.reason,
  count(*) as breaks,
  sum(b.rebuilt_tokens) as tokens,
  sum(b.avoidable_usd) as avoidable_usd
from cache_breaks b
where b.time_ms >= ifnull(:since, 0)
  and (:project is null or b.transcript_key in (
    select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))))
group by b.reason
order by tokens desc, b.reason;
