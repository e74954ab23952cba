-- response_facts: what newer versions log of an API response, one row a response that logged any of it (D20).
--   response_id           its response
--   requested_model       the model asked for; may end in [1m]
--   request               uuid of the request that it answers, 16 bytes: requests.uuid
--   miss_reason, missed_tokens   why the prompt cache did not hold, as the API told, and how many tokens that cost
--   skill, plugin, mcp_server, mcp_tool, agent   what Claude Code attributes it to
-- Null = not logged.
create view response_facts as
select
  f.response_id,
  (select w.word from words w where w.id = f.requested_model) as requested_model,
  f.request,
  (select w.word from words w where w.id = f.miss_reason) as miss_reason,
  f.missed_tokens,
  (select w.word from words w where w.id = f.skill) as skill,
  (select w.word from words w where w.id = f.plugin) as plugin,
  (select w.word from words w where w.id = f.mcp_server) as mcp_server,
  (select w.word from words w where w.id = f.mcp_tool) as mcp_tool,
  (select w.word from words w where w.id = f.agent) as agent
from stored_response_facts f;
