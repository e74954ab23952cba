-- tool_sums: tool uses and their results summed up by the index: one row a thread, branch, epoch, quarter of an hour and
-- tool (D2). A use counts at its time, its result at its own.
--   thread_id             the thread in which they stand; transcript_id: its transcript
--   branch, epoch         rewinds and compactions so far (D10)
--   quarter               quarter of an hour of their times, counted from 1970; -1 = without a time
--   tool                  its name; null = results whose use is in another transcript, if any
--   server                MCP server in it; null = a built-in tool
--   uses, results, errors how many that totals count; errors: of the results
--   result_tokens         of the results, estimated (X-size)
--   behind_calls          sum of each result's tokens times its call ordinal (D13)
create view tool_sums as
select
  s.thread_id,
  s.thread_id >> 20 as transcript_id,
  s.branch,
  s.epoch,
  s.quarter,
  w.word as tool,
  case when substr(w.word, 1, 5) = 'mcp__'
    then nullif(substr(w.word, 6, instr(substr(w.word, 6) || '__', '__') - 1), '') end as server,
  s.uses,
  s.results,
  s.errors,
  s.result_tokens,
  s.behind_calls
from stored_tool_sums s left join words w on w.id = s.name;
