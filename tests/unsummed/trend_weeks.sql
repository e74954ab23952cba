-- trend_weeks: how sessions went week by week. Calls, cost, tool results and compactions count once, where they were
-- first made (D2); peaks are of each session's own view.
--   :project  part of a project's path, in any case; null = all
--   :limit    weeks, the last ones; null = all
-- Columns: week: its Monday, in the user's zone. sessions: that made a call. calls. peak_p50: median over the sessions of
-- the most context tokens of a main-thread call in the week (X-peak). compactions. reread_tokens: of results of
-- re-reads (X-reread), result_tokens: of all results, estimated (X-size); waste_share: their quotient. cache_read_share:
-- of all context tokens. cost_usd: list price (D15); null = a call is unpriced; unpriced_calls: how many.
with chosen as materialized (
  select t.id as transcript, t.session_id, t.kind = 'main' and t.in_view = 1 and t.superseded = 0 as in_view
  from transcripts as t
  left join sessions as s on s.id = t.session_id
  left join projects as p on p.id = s.project_id
  where :project is null
    or instr(replace(lower(coalesce(p.path, t.folder)), '\', '/'), replace(lower(:project), '\', '/'))
),
calls as (
  select c.time_ms / 900000 as quarter, h.session_id, c.price_id, count(*) as calls, sum(c.input_tokens) as input,
         sum(c.cache_read_tokens) as cache_read, sum(c.cache_write_tokens) as cache_write,
         sum(c.cache_write_1h_tokens) as cache_write_1h, sum(c.output_tokens) as output,
         sum(c.web_searches) as searches, sum(c.is_placeholder) as placeholders, sum(c.output_missing) as missing
  from api_calls as c join chosen as h on h.transcript = c.transcript_id
  where c.time_ms is not null
  group by quarter, h.session_id, c.price_id
),
points as (
  select c.time_ms / 900000 as quarter, h.session_id, max(c.context_tokens) as peak
  from chosen as h
  cross join responses as r on r.thread_id = h.transcript << 20
  join api_calls as c on c.id = r.call_id
  where h.in_view = 1 and r.id > 0 and r.is_advisor = 0 and c.context_tokens > 0 and c.time_ms is not null
  group by quarter, h.session_id
),
cuts as (
  select o.time_ms / 900000 as quarter, count(*) as compactions
  from compactions_overview as o join transcripts as t on t.path = o.path
  where o.is_owner = 1 and o.thread_kind = 'main' and o.time_ms is not null
    and t.id in (select transcript from chosen)
  group by quarter
),
results as (
  select u.result_ms / 900000 as quarter, sum(u.result_tokens) as tokens,
         sum(u.result_tokens) filter (where u.prior_read_id is not null
           and (u.prior_edit_id is null or u.prior_edit_id < u.prior_read_id)) as reread
  from tool_uses as u
  where u.owns_result = 1 and u.result_record_id is not null and u.result_ms is not null
    and (:project is null or u.transcript_id in (select transcript from chosen))
  group by quarter
),
-- a time is turned into the user's week once a quarter of an hour: every zone's midnight falls on one
weeks as materialized (
  select quarter, date(quarter * 900, 'unixepoch', 'localtime', 'weekday 0', '-6 days') as week
  from (select quarter from calls union select quarter from points union select quarter from cuts
        union select quarter from results)
),
peaks as (
  select week, session_id, max(peak) as peak from points join weeks using (quarter) group by week, session_id
),
medians as (
  select week, cast(avg(peak) + 0.5 as integer) as peak_p50
  from (select week, peak, row_number() over (partition by week order by peak) as place,
               count(*) over (partition by week) as count
        from peaks)
  where place in ((count + 1) / 2, count / 2 + 1)
  group by week
),
billed as (
  select w.week, count(distinct c.session_id) as sessions, sum(c.calls) as calls,
         sum(c.cache_read) as cache_read, sum(c.input + c.cache_read + c.cache_write) as context,
         sum((c.input * p.input_usd + c.cache_read * p.cache_read_usd
              + (c.cache_write - c.cache_write_1h) * p.cache_write_5m_usd
              + c.cache_write_1h * p.cache_write_1h_usd + c.output * p.output_usd) / 1e6
             + ifnull(c.searches * p.web_search_usd / 1e3, 0)) as usd,
         sum(c.calls) filter (where c.price_id is null) as unpriced_calls,
         sum(c.placeholders) as placeholders, sum(c.missing) as missing, sum(c.missing * p.output_usd) / 1e6 as missing_usd
  from calls as c join weeks as w using (quarter) left join prices as p on p.id = c.price_id
  group by w.week
),
named as (select distinct week from weeks)
select n.week, ifnull(b.sessions, 0) as sessions, ifnull(b.calls, 0) as calls, m.peak_p50,
       ifnull((select sum(c.compactions) from cuts as c join weeks as w using (quarter) where w.week = n.week), 0)
         as compactions,
       ifnull(r.reread, 0) as reread_tokens, ifnull(r.tokens, 0) as result_tokens,
       round(1.0 * ifnull(r.reread, 0) / nullif(r.tokens, 0), 4) as waste_share,
       round(1.0 * b.cache_read / nullif(b.context, 0), 4) as cache_read_share,
       case when ifnull(b.unpriced_calls, 0) = 0 then round(ifnull(b.usd, 0), 6) end as cost_usd,
       round(b.usd, 6) as priced_usd,
       ifnull(b.unpriced_calls, 0) as unpriced_calls,
       ifnull(b.placeholders, 0) as placeholder_calls,
       ifnull(b.missing, 0) as output_missing,
       round(ifnull(b.missing_usd, 0.0), 6) as cost_missing_usd
from named as n
left join billed as b on b.week = n.week
left join medians as m on m.week = n.week
left join (select w.week, sum(r.tokens) as tokens, sum(r.reread) as reread
           from results as r join weeks as w using (quarter) group by w.week) as r on r.week = n.week
where n.week in (select week from named order by week desc limit ifnull(:limit, -1))
order by n.week;
