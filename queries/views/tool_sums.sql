-- tool_sums: tool uses and results summed up by the index: one row a transcript and tool (D2).
--   transcript_id         where they stand
--   tool                  its name; null = not known
--   uses, results, errors how many that it owns; errors: of the results
--   result_tokens         of the results, estimated (X-size)
--   first_ms, last_ms     earliest and latest time of any; first_ms null = one has none
create view tool_sums as
select
  s.transcript_id,
  (select w.word from words w where w.id = s.name) as tool,
  s.uses,
  s.results,
  s.errors,
  s.result_tokens,
  s.first_ms,
  s.last_ms
from stored_tool_sums s;
