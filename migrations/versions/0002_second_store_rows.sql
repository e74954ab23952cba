-- How the rows of the first store come into the tables of the second, transcript by transcript: :low and :high are the
-- ids between which the rows of one lie. A step is done for all transcripts; then the old tables that it names go.
-- The first number is its share of the time. Texts ask for their blocks, blocks and responses for their records, so
-- the order matters.
--
-- Functions: word(x), the id of a word; bare(id, prefix), an id as it is stored; soft, marks (kind, chars, estimate),
-- the two integers of a block, roughly; mode(speed, geo, tier), as the view api_calls has it.

-- step 14 texts
-- Prompts, answers and summaries are kept whole; what is longer than a preview was is one of them.
insert or fail into texts (block_id, text)
select x.block_id, case when length(x.text) > 200
    or ifnull(b.kind in ('text', 'attachment') and (r.is_prompt or r.is_summary or r.response_id is not null), 1)
  then x.text else substr(x.text, 1, 80) end
from old_texts x
  left join old_blocks b on b.id = x.block_id
  left join old_records r on r.id = b.record_id
where x.block_id >= :low and x.block_id < :high order by x.block_id;

-- step 9 tool_uses
insert or fail into stored_tool_uses (id, thread, use_key, name, path, read_offset, read_limit, command, agent_type,
  agent_id, input_hash, use_back, use_ms, result_ahead, result_ms, result_hash, result_chars, result_images, flags,
  prior_read_back, prior_edit_back, use_session, result_session)
select id, thread_id & 1048575, bare(tool_use_id, 'toolu_'), word(name), path, read_offset, read_limit, command,
  word(agent_type), agent_id, input_hash & 281474976710655, id - use_record_id, use_ms, result_record_id - id,
  result_ms - ifnull(use_ms, 0), result_hash & 281474976710655, result_chars,
  max(0, (result_tokens - (result_chars + 3) / 4) / 1500),
  is_error + 2 * is_stub + 4 * is_cut + 8 * is_own + 16 * is_copied + 32 * is_nested + 64 * is_result_copied
    + 128 * (owns = 0) + 256 * (owns_result = 0),
  id - prior_read_id, id - prior_edit_id, word(use_session), word(result_session)
from old_tool_uses where id >= :low and id < :high order by id;

-- step 14 blocks
-- An output that was no more than what was known at the start left its blocks their estimates.
insert or ignore into temp.placeholders
select r.response_id from old_blocks b join old_records r on r.id = b.record_id
where b.is_exact = 0 and r.response_id is not null and b.id >= :low and b.id < :high;

-- Of a tool use two keys are what is usual. What a result has beyond its characters is pictures.
insert or fail into stored_blocks (id, place, kind, category, chars, soft, marks, extra, estimate, share, use_back)
select id, id - record_id, word(kind), word(category), chars, soft(kind, chars, estimate), marks(kind, chars, estimate),
  case
    when kind in ('image', 'document') then estimate
    when kind = 'tool_use' then 2
    when kind in ('tool_result', 'attachment') and estimate - (chars * 10 + 32) / 33 >= 1000
      then estimate - (chars * 10 + 32) / 33
    else 0 end,
  case when is_exact then estimate else tokens end, case when is_exact then tokens end, id - tool_use_id
from old_blocks where id >= :low and id < :high order by id;

-- step 1 tool_loads preserved removals attachments compactions
insert or fail into tool_loads (record_id, name)
select record_id, name from old_tool_loads where record_id >= :low and record_id < :high;

insert or fail into preserved (record_id, place, uuid, is_segment)
select record_id, place, uuid, is_segment from old_preserved where record_id >= :low and record_id < :high;

insert or fail into removals (record_id, place, kind, use_key, uuid, saved_tokens)
select record_id, place, kind, bare(tool_use_id, 'toolu_'), uuid, saved_tokens
from old_removals where record_id >= :low and record_id < :high;

insert or fail into attachments (record_id, type, name, event, added, removed)
select record_id, type, name, event, added, removed from old_attachments where record_id >= :low and record_id < :high;

insert or fail into compactions (id, transcript_id, thread_id, uuid, record_session, "trigger", pre_tokens, post_tokens,
  dropped_tokens, duration_ms, messages_summarized, focus, preserved, discovered_tools)
select id, transcript_id, thread_id, uuid, record_session, "trigger", pre_tokens, post_tokens, dropped_tokens,
  duration_ms, messages_summarized, focus, preserved, discovered_tools
from old_compactions where id >= :low and id < :high;

-- step 2
insert or ignore into temp.aborted
select response_id from old_records
where origin = 'aborted' and response_id is not null and id >= :low and id < :high;

-- step 12
insert or fail into stored_responses (id, thread_id, last_ahead, shared_call_id, request_id, message_id, record_session,
  message, ordinal, branch, epoch, flags, took_ms, last_ms, model, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, thinking_tokens, web_searches, service_tier, speed, geo, stop_reason, effort)
select r.id, r.thread_id, r.last_record_id - r.id,
  case when r.call_id <> r.id
    or exists (select 1 from old_responses o where o.call_id = r.call_id and o.id <> r.id) then r.call_id end,
  bare(r.request_id, 'req_'), bare(r.message_id, 'msg_'), word(r.record_session),
  r.message, r.ordinal, r.branch, r.epoch,
  r.is_copied + 2 * r.is_nested + 4 * r.is_advisor + 8 * r.has_usage + 16 * (r.id in temp.aborted)
    + 32 * (r.has_usage and r.id in temp.placeholders),
  r.last_ms - r.first_ms, r.last_ms, word(r.model), r.input_tokens, r.cache_read_tokens, r.cache_write_tokens,
  r.cache_write_1h_tokens, r.output_tokens, r.thinking_tokens, r.web_searches, word(r.service_tier), word(r.speed),
  word(r.geo), word(r.stop_reason), word(r.effort)
from old_responses r where r.id >= :low and r.id < :high order by r.id;

-- step 5 api_calls responses
-- A call's usage is that of one of its responses, mostly of its owner.
insert or fail into stored_calls (id, response_id, usage_id, time_ms, price_id, retained)
select c.id, nullif(c.response_id, c.id),
  case when not exists (select 1 from temp.usages u where u.call_id = c.id and u.response_id = c.response_id) then (
    select u.response_id from temp.usages u join old_responses o on o.id = c.response_id
    where u.call_id = c.id
    order by u.transcript_id = o.transcript_id and u.is_nested = o.is_nested desc, u.last_record_id desc,
      u.response_id desc limit 1) end,
  c.time_ms, c.price_id, c.retained
from old_api_calls c where c.id >= :low and c.id < :high order by c.id;

-- What was billed is kept to the token also where no response says so or the owner is not there, as in a damaged store:
-- its owner says it then.
insert or replace into stored_responses (id, thread_id, last_ahead, shared_call_id, request_id, message_id,
  record_session, message, ordinal, branch, epoch, flags, took_ms, last_ms, model, input_tokens, cache_read_tokens,
  cache_write_tokens, cache_write_1h_tokens, output_tokens, thinking_tokens, web_searches, speed, stop_reason, effort)
select c.response_id, c.thread_id, ifnull(r.last_record_id - r.id, 0),
  case when c.id <> c.response_id
    or exists (select 1 from old_responses o where o.call_id = c.id and o.id <> c.response_id) then c.id end,
  bare(r.request_id, 'req_'), bare(r.message_id, 'msg_'), word(r.record_session),
  r.message, ifnull(r.ordinal, 0), ifnull(r.branch, 0), ifnull(r.epoch, 0),
  ifnull(r.is_copied, 0) + 2 * ifnull(r.is_nested, 0) + 4 * c.is_advisor + 8 + 16 * (c.response_id in temp.aborted),
  r.last_ms - r.first_ms, ifnull(r.last_ms, c.time_ms), word(c.model), c.input_tokens, c.cache_read_tokens,
  c.cache_write_tokens, c.cache_write_1h_tokens, c.output_tokens, c.thinking_tokens, c.web_searches, word(c.speed),
  word(r.stop_reason), word(r.effort)
from old_api_calls c left join old_responses r on r.id = c.response_id
where c.id >= :low and c.id < :high
  and (r.id is null or not exists (select 1 from temp.usages u where u.call_id = c.id));

-- step 22 records
-- A parent is kept of what can open a branch, and where no record before it has that uuid.
insert or fail into stored_records (id, length, type, subtype, uuid, parent_uuid, time_ms, thread, branch, epoch,
  call_ordinal, message, response_back, flags, origin)
select r.id, r.length, word(r.type), word(r.subtype), r.uuid,
  case when r.opens or r.type = 'last-prompt' or not exists (select 1 from old_records p
    where p.transcript_id = r.transcript_id and p.uuid = r.parent_uuid and p.id < r.id) then r.parent_uuid end,
  r.time_ms, r.thread_id & 1048575, r.branch, r.epoch, r.call_ordinal, r.message, r.id - r.response_id,
  r.opens + 2 * r.is_prompt + 4 * r.is_summary + 8 * r.is_meta + 16 * r.is_copied + 32 * r.is_duplicate,
  word(r.origin)
from old_records r where r.id >= :low and r.id < :high order by r.id;
