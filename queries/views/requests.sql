-- requests: one row a request to the API that Claude Code logged (D20), with what it changed of the one before it.
--   record_id             its record; transcript_id: its transcript
--   uuid, base            its id and that of the request that it goes on from, 16 bytes; null = none
--   time_ms               when, UTC milliseconds
--   kept, tail            messages of the base that it sends again; messages that it adds
--   base_messages         messages that the base had; fewer kept = some of them changed, the first at number kept + 1
--   model, effort, source as asked; source: `querySource`
--   agent                 `agentId`; null = the main thread's
--   shape_hash, cache_hash   of system and tools, and of where it asked for caching: equal = the same
--   is_same_shape, is_same_model, is_same_effort, is_same_cache   1 = as in the base; null = no base
--   is_answered           1 = a response answers it; 0 = a retry or a cut attempt
create view requests as
select
  q.record_id,
  q.record_id >> 40 as transcript_id,
  q.uuid,
  q.base,
  r.time_ms,
  q.kept,
  q.tail,
  b.kept + b.tail as base_messages,
  (select w.word from words w where w.id = q.model) as model,
  (select w.word from words w where w.id = q.effort) as effort,
  (select w.word from words w where w.id = q.source) as source,
  (select w.word from words w where w.id = q.agent) as agent,
  q.shape_hash,
  q.cache_hash,
  case when b.record_id is not null then q.shape_hash is b.shape_hash end as is_same_shape,
  case when b.record_id is not null then q.model is b.model end as is_same_model,
  case when b.record_id is not null then q.effort is b.effort end as is_same_effort,
  case when b.record_id is not null then q.cache_hash is b.cache_hash end as is_same_cache,
  exists (select 1 from stored_response_facts f where f.request = q.uuid and q.uuid is not null) as is_answered
from stored_requests q
  join stored_records r on r.id = q.record_id
  left join stored_requests b on b.record_id = (
    select max(x.record_id) from stored_requests x
    where x.record_id >= (q.record_id >> 40) << 40 and x.record_id < q.record_id and x.uuid = q.base);
