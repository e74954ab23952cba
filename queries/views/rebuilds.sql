-- rebuilds: what API responses sent again of the context before them (D21), one row a response that sent any, or that
-- is the first behind a compaction boundary. For calls and their cost take cost_parts, for reasons cache_breaks.
--   response_id           the response
--   rebuilt_tokens        what stood in the context before and was sent again instead of read from the cache, exact
--   gap_ms                of a break (2,000 tokens or more): from the last line of the response before it to its first
--   is_compaction         1 = the first behind a boundary: it is no break, and all that it sent is the compaction's
-- Of a break what differs from the response before it, 1 = yes:
--   is_rewind             another branch (D10); is_model: another model; is_cut: something was taken out of the context,
--                         as is told; is_smaller: it is smaller by 2,000 tokens or more
--   is_version, is_listed, is_instructed   another version of Claude Code; tools, servers, skills or agents were listed
--                         or loaded; CLAUDE.md files changed
--   is_opened             the session was opened again, or is a copy that goes on
--   is_asked_again        a subagent got another prompt
--   lives_hour            what was cached lives an hour, not five minutes
-- Of its request, where both are logged (has_requests = 1):
--   has_messages, has_sent, has_tools, has_effort, has_cache, has_model   other messages before the new ones; another
--                         system prompt or other tools; of these, other tools; another effort; caching asked for
--                         elsewhere; another model
create view rebuilds as
select
  b.response_id,
  b.rebuilt_tokens,
  b.gap_ms,
  b.changes & 1 as is_compaction,
  b.changes >> 1 & 1 as is_rewind,
  b.changes >> 2 & 1 as is_model,
  b.changes >> 3 & 1 as is_cut,
  b.changes >> 4 & 1 as is_version,
  b.changes >> 5 & 1 as is_listed,
  b.changes >> 6 & 1 as is_instructed,
  b.changes >> 7 & 1 as is_asked_again,
  b.changes >> 8 & 1 as lives_hour,
  b.changes >> 9 & 1 as has_messages,
  b.changes >> 10 & 1 as has_sent,
  b.changes >> 11 & 1 as has_effort,
  b.changes >> 12 & 1 as has_cache,
  b.changes >> 13 & 1 as has_model,
  b.changes >> 14 & 1 as has_requests,
  b.changes >> 15 & 1 as has_tools,
  b.changes >> 16 & 1 as is_smaller,
  b.changes >> 17 & 1 as is_opened
from stored_rebuilds b;
