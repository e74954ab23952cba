-- call_sums: billed API calls summed up by the index: one row a thread, quarter of an hour, model and price (D1, D2).
--   thread_id             the thread that owns the calls; transcript_id: its transcript
--   quarter               quarter of an hour of their times, counted from 1970; null = without a time
--   model                 as logged; null = none
--   price_id              the price that holds for them; null = unpriced
--   mode                  what their usage says that may have a price of its own; null = standard
--   calls                 how many; retained: of them, those in no transcript any more; placeholders: those whose output
--                         is a placeholder (D9)
--   input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, web_searches   sums
create view call_sums as
select
  s.thread_id,
  s.thread_id >> 20 as transcript_id,
  nullif(s.quarter, -1) as quarter,
  (select w.word from words w where w.id = s.model) as model,
  nullif(s.price_id, 0) as price_id,
  nullif(s.mode, '') as mode,
  s.calls,
  s.input_tokens,
  s.cache_read_tokens,
  s.cache_write_tokens,
  s.cache_write_1h_tokens,
  s.output_tokens,
  s.web_searches,
  s.retained,
  s.placeholders
from stored_call_sums s;
