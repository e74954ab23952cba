-- window_sums: what came into the window of each thread, one row a branch, epoch and category: sums that the index keeps.
--   thread_id             the thread
--   branch, epoch         rewinds and compactions so far (D10)
--   category              as in blocks: a human prompt is conversation
--   tokens                of the blocks that came there, as in blocks
--   messages              messages with a block of that category
create view window_sums as
select
  s.thread_id,
  s.branch,
  s.epoch,
  (select w.word from words w where w.id = s.category) as category,
  s.tokens,
  s.messages
from stored_window_sums s;
