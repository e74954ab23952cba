-- cache_total: what was sent in a period, and what became of it: one row (D21). Each call counts once (D1, D2).
--   :since    UTC milliseconds: calls at or after it; null = all
--   :until    UTC milliseconds: calls before it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns, tokens exact, USD at list price (D15), summing what is priced: input_usd: all input. new, carried: sent for the
-- first time, read from the cache. rebuilt: sent again although it stood in the context before; saved_usd: what that would
-- have cost less, read from the cache. compaction: sent by the first call behind a boundary, all input of calls that made
-- a summary. calls, unpriced_calls: how many, and those without a price.
-- Whole quarters of an hour come from sums, what stands before the first and behind the last of them call by call; what was
-- sent again stands by itself.
with wanted as (
  select transcript_id from transcript_projects where instr(sought, replace(lower(:project), '\', '/'))
),
ends (first, last) as (
  select
    case when :since is not null then max(:since + 899999, 0) / 900000 when :until is not null then 0 else -1 end,
    ifnull(:until / 900000, 1 << 60)
),
summaries as materialized (select id from transcripts where stem glob 'agent-acompact-*'),
counted as (
  select s.transcript_id, s.calls, s.unpriced_calls, s.input_tokens + s.cache_write_tokens as sent, s.sent_usd,
    s.cache_read_tokens as carried, s.cache_read_usd as carried_usd
  from ends as e cross join priced_sums as s
  where ifnull(s.quarter, -1) >= e.first and ifnull(s.quarter, -1) < e.last
  union all
  select c.transcript_id, 1, c.is_unpriced, c.input_tokens + c.cache_write_tokens, c.input_usd + c.cache_write_usd,
    c.cache_read_tokens, c.cache_read_usd
  from ends as e cross join priced_calls as c
  where c.time_ms >= :since and c.time_ms < min(e.first * 900000, ifnull(:until, 1 << 60))
  union all
  select c.transcript_id, 1, c.is_unpriced, c.input_tokens + c.cache_write_tokens, c.input_usd + c.cache_write_usd,
    c.cache_read_tokens, c.cache_read_usd
  from ends as e cross join priced_calls as c
  where c.time_ms >= max(e.last * 900000, e.first * 900000) and c.time_ms < :until
),
whole as (
  select
    sum(calls) as calls,
    sum(unpriced_calls) as unpriced_calls,
    sum(sent) as sent,
    sum(sent_usd) as sent_usd,
    sum(carried) as carried,
    sum(carried_usd) as carried_usd,
    sum(iif(transcript_id in summaries, sent, 0)) as summary_sent,
    sum(iif(transcript_id in summaries, sent_usd, 0)) as summary_sent_usd,
    sum(iif(transcript_id in summaries, carried, 0)) as summary_carried,
    sum(iif(transcript_id in summaries, carried_usd, 0)) as summary_carried_usd
  from counted
  where :project is null or transcript_id in (select transcript_id from wanted)
),
again as (
  select
    sum(m.rebuilt_tokens) filter (where m.changes & 1 = 0) as rebuilt,
    sum(m.rebuilt_tokens * s.sent_usd / s.sent) filter (where m.changes & 1 = 0) as rebuilt_usd,
    sum(m.rebuilt_tokens * s.cache_read_price) filter (where m.changes & 1 = 0) / 1e6 as read_usd,
    sum(s.sent) filter (where m.changes & 1) as compaction,
    sum(s.sent_usd) filter (where m.changes & 1) as compaction_usd
  from sent_calls s cross join stored_rebuilds m on m.response_id = s.response_id
  where (:since is null or s.time_ms >= :since) and (:until is null or s.time_ms < :until)
    and (:project is null or s.transcript_id in (select transcript_id from wanted))
    and (not exists (select 1 from summaries) or s.transcript_id not in summaries)
)
select
  round(ifnull(w.sent_usd, 0) + ifnull(w.carried_usd, 0), 6) as input_usd,
  round(
    ifnull(w.sent_usd - w.summary_sent_usd, 0) - ifnull(a.rebuilt_usd, 0) - ifnull(a.compaction_usd, 0), 6) as new_usd,
  round(ifnull(w.carried_usd - w.summary_carried_usd, 0), 6) as carried_usd,
  round(ifnull(a.rebuilt_usd, 0), 6) as rebuilt_usd,
  round(ifnull(a.compaction_usd, 0) + ifnull(w.summary_sent_usd + w.summary_carried_usd, 0), 6) as compaction_usd,
  round(ifnull(a.rebuilt_usd - a.read_usd, 0), 6) as saved_usd,
  ifnull(w.sent - w.summary_sent, 0) - ifnull(a.rebuilt, 0) - ifnull(a.compaction, 0) as new_tokens,
  ifnull(w.carried - w.summary_carried, 0) as carried_tokens,
  ifnull(a.rebuilt, 0) as rebuilt_tokens,
  ifnull(a.compaction, 0) + ifnull(w.summary_sent + w.summary_carried, 0) as compaction_tokens,
  ifnull(w.calls, 0) as calls,
  ifnull(w.unpriced_calls, 0) as unpriced_calls
from whole w, again a;
