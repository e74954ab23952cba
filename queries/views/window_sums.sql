-- window_sums: what came into the windows of each thread, one row a branch, epoch and category: sums that the index keeps.
--   thread_id             the thread
--   branch, epoch         rewinds and compactions so far (D10)
--   category              as in blocks: a human prompt is conversation; null = see messages
--   tokens                of the blocks that came there, as in blocks; without the fixed context (`prompt_snapshot`) and
--                         results of a tool use behind its first
--   messages              messages of which the largest block is of the category; without a category those that have
--                         parts on other branches or epochs too
create view window_sums as
select
  s.thread_id,
  s.branch,
  s.epoch,
  (select w.word from words w where w.id = s.category) as category,
  s.tokens,
  s.messages
from stored_window_sums s;
