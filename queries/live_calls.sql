-- live_calls: the calls of a transcript's live window in one row, if there are any and no branch, leaf named later or
-- compaction to be inferred says otherwise (D10): what a payload is judged beside.
--   :transcript  id of the transcript
--   :context     context tokens of the call that the payload tells of
-- Columns: branches: rewinds. leaf: an earlier record that is named as the leaf. compactions: boundaries. summaries, fall:
-- 1 = there is a summary; by how much the context fell between two calls at most. calls: how many are in the window.
-- first_context: of the first of them, tokens. first_call_ms: time of the session's first call, UTC. before_id: the call
-- before the last one. id, model, time_ms, context, output: of the last one. answer: tokens of its blocks if its output is
-- a placeholder (D9), else null. largest: most context tokens of a call of its model. is_cached: 1 = it read or wrote a
-- cache; is_long: 1 = the cache written last lives for an hour. since_told: calls behind the last one of that context; null = it is none of these.
-- is_out: 1 = the transcript has such a call, but a boundary took it out.
with ended as materialized (
  select e.id, e.epoch
  from records as e
  where e.id = max(
    ifnull((select r.id from records as r
            where r.id >= :transcript << 40 and r.id < (:transcript + 1) << 40 and r.thread_id = :transcript << 20
              and r.message is not null
            order by r.id desc limit 1), 0),
    ifnull((select max(c.id) from compactions as c where c.thread_id = :transcript << 20), 0))
),
live as materialized (
  select r.id, r.input_tokens + r.cache_read_tokens + r.cache_write_tokens as context, r.cache_write_tokens as written
  from ended as e
  cross join stored_responses as r
  where r.thread_id = :transcript << 20 and r.id > 0 and r.flags & 12 = 8 and r.epoch = e.epoch
    and r.input_tokens + r.cache_read_tokens + r.cache_write_tokens > 0
),
ends as materialized (
  select count(*) as calls, min(id) as first_id, max(id) as last_id,
         max(case when context = :context then id end) as told_id,
         max(case when written > 0 then id end) as written_id
  from live
)
select (select count(*) from branches as b where b.thread_id = :transcript << 20) as branches,
       (select (select x.id from records as x
                where x.id >= :transcript << 40 and x.id < (select id from ended)
                  -- As uuids are indexed.
                  and substr(x.uuid, 1, 4) = substr(n.parent_uuid, 1, 4) and x.uuid = n.parent_uuid
                  and x.is_duplicate = 0)
        from records as n
        where n.id > (select id from ended) and n.id < (:transcript + 1) << 40 and n.type = 'last-prompt'
          and n.parent_uuid is not null
        order by n.id desc limit 1) as leaf,
       (select count(*) from compactions as c where c.thread_id = :transcript << 20) as compactions,
       exists (select 1 from stored_records as r
               where r.flags & 6 and r.thread = 0 and r.id >= :transcript << 40 and r.id < (:transcript + 1) << 40
                 and r.flags & 4) as summaries,
       (select max(m.fall_tokens) from stored_curve_models as m where m.thread_id = :transcript << 20) as fall,
       e.calls,
       (select f.context from live as f where f.id = e.first_id) as first_context,
       (select c.time_ms from responses as r cross join api_calls as c on c.id = r.call_id
        where r.id = (select min(m.first_id) from stored_curve_models as m where m.thread_id = :transcript << 20)
       ) as first_call_ms,
       (select max(b.id) from live as b where b.id < e.last_id) as before_id,
       k.id, coalesce(c.model, 'unknown') as model, c.time_ms, c.context_tokens as context, c.output_tokens as output,
       (select sum(b.tokens) from records as r cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
        where r.id between k.id and k.id + k.last_ahead and r.response_id = k.id
        having min(b.is_exact) = 0) as answer,
       (select max(m.peak_tokens) from stored_curve_models as m
        where m.thread_id = :transcript << 20 and m.model is k.model) as largest,
       c.cache_read_tokens + c.cache_write_tokens > 0 as is_cached,
       (select w.cache_write_1h_tokens from stored_responses as w where w.id = ifnull(e.written_id, e.last_id)) > 0
         as is_long,
       case when e.told_id is not null then (select count(*) from live as t where t.id > e.told_id) end as since_told,
       e.told_id is null and exists (
         select 1 from stored_responses as r
         where r.thread_id = :transcript << 20 and r.id > 0 and r.flags & 12 = 8
           and r.input_tokens + r.cache_read_tokens + r.cache_write_tokens = :context) as is_out
from ends as e
cross join stored_responses as k on k.id = e.last_id
cross join api_calls as c on c.id = ifnull(k.shared_call_id, k.id);
