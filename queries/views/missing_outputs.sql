-- missing_outputs: the calls whose output is a placeholder (D9), and what it lacks: one row a call.
--   usage_id              the response that tells the call's usage: those of a transcript lie in one range of ids
--   call_id, transcript_id, thread_id, time_ms, model   of the call's owner, as in api_calls
--   output_missing        tokens, estimated; output_price: USD a million of them, null = unpriced
-- To count them takes priced_sums; only what is missing is looked up here, call by call.
create view missing_outputs as
select
  u.id as usage_id,
  c.id as call_id,
  c.transcript_id,
  c.thread_id,
  c.time_ms,
  c.model,
  c.output_missing,
  c.output_price
from stored_responses u
  cross join priced_calls c on c.id = ifnull(u.shared_call_id, u.id) and c.usage_id = u.id
where u.flags & 32;
