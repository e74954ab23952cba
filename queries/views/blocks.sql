-- blocks: one row a block of a message: a text, a tool use, a result, an image …
--   id                    its record's id + place; record_id: its record. To find a record's blocks look by range:
--                         b.id >= r.id and b.id < r.id + r.length
--   kind                  text, thinking, tool_use, tool_result, image, document or attachment
--   category              conversation, retrieved, system, tools or state; the last prompt's `user` is a query's (D8)
--   chars                 Unicode characters counted
--   soft, marks, extra    what its estimate is made of (D9); see stored_blocks
--   estimate              tokens by the weights that hold (D9), estimated
--   tokens                its share of the billed output, or the estimate
--   is_exact              1 = the shares of its response add up to the billed output
--   tool_use_id           of a tool_use or tool_result: its row in tool_uses
--   is_rough              1 = read by an early parser: soft, marks and extra are made from its characters
create view blocks as
select
  b.id,
  b.id - b.place as record_id,
  (select w.word from words w where w.id = b.kind) as kind,
  (select w.word from words w where w.id = b.category) as category,
  b.chars,
  b.soft,
  b.marks,
  b.extra,
  b.estimate,
  ifnull(b.share, b.estimate) as tokens,
  b.share is not null as is_exact,
  b.id - b.use_back as tool_use_id,
  ifnull((select t.parser < 3 from transcripts t where t.id = b.id >> 40), 0) as is_rough
from stored_blocks b;
