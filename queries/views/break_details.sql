-- break_details: what changed before each of the cache_breaks, one row a break: asked for one by one, since it takes longer.
--   response_key          the break: cache_breaks.response_key
--   detail                which model, effort, version, tools or files; from which message of the request on; null = none
create view break_details as
select
  r.response_key,
  case r.reason
    when 'model_switched' then (select b.model || ' → ' || r.model from responses b where b.id = r.before_key)
    when 'effort_changed' then (
      select b.effort || ' → ' || q.effort from requests q, requests b
      where q.record_id = r.request_key and b.record_id = r.before_request_key)
    when 'updated' then (
      select group_concat(version, ' → ') from (
        select v.version from version_starts v
        where v.record_id <= r.response_key and v.record_id >= (
          select max(o.record_id) from stored_version_starts o
          where o.record_id <= r.before_key and o.record_id >= r.transcript_key << 40)
        order by v.record_id))
    when 'instructions_changed' then ifnull((
      select group_concat(path, ', ') from (
        select distinct x.path from stored_tool_uses x
        where x.id >= r.before_key and x.id < r.response_key and x.path like '%CLAUDE%.md')), (
      select group_concat(s.path, ', ') from attachments x cross join stored_sent_parts s on s.record_id = x.record_id
      where x.record_id > r.before_key and x.record_id < r.response_key and x.type = 'instructions'))
    when 'tools_changed' then iif(r.has_tools, (
      select group_concat(name, ', ') from (
        select s.name from sent_parts s
        where s.kind = 'tool' and s.record_id in (r.shape_key, r.before_shape_key)
        group by s.name, s.chars, s.soft, s.marks having count(distinct s.record_id) = 1 order by 1)), (
      select group_concat(name, ', ') from (
        select distinct j.value as name from attachments x, json_each(ifnull(x.added, x.removed)) j
        where x.record_id > r.before_key and x.record_id < r.response_key
          and x.type in ('deferred_tools_delta', 'mcp_instructions_delta', 'skill_listing', 'agent_listing_delta',
            'deferred_tools_record'))))
    when 'messages_changed' then (
      select 'from message ' || (min(q.kept) + 1) || ' of the request on' from stored_requests q
      where q.record_id <= r.request_key and q.record_id > r.before_request_key and r.has_messages)
  end as detail
from (
  select
    b.*,
    (select max(q.record_id) from stored_requests q
      where q.record_id < b.response_key and q.record_id >= b.transcript_key << 40
        and q.uuid = (select f.request from stored_response_facts f where f.response_id = b.response_key))
      as request_key,
    (select max(q.record_id) from stored_requests q
      where q.record_id < b.before_key and q.record_id >= b.transcript_key << 40
        and q.uuid = (select f.request from stored_response_facts f where f.response_id = b.before_key))
      as before_request_key,
    (select max(x.record_id) from request_shapes x cross join stored_requests q on q.shape_hash = x.shape_hash
      where x.record_id >= b.transcript_key << 40 and x.record_id < b.response_key and q.record_id = (
        select max(y.record_id) from stored_requests y
        where y.record_id < b.response_key and y.record_id >= b.transcript_key << 40)) as shape_key,
    (select max(x.record_id) from request_shapes x cross join stored_requests q on q.shape_hash = x.shape_hash
      where x.record_id >= b.transcript_key << 40 and x.record_id < b.before_key and q.record_id = (
        select max(y.record_id) from stored_requests y
        where y.record_id < b.before_key and y.record_id >= b.transcript_key << 40)) as before_shape_key
  from cache_breaks b) r;
