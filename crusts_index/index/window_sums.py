"""What came into the windows of each thread by branch, epoch and category: `stored_window_sums` (D8, D10).

A message counts in the category of its largest block, of equal ones the first. What takes nothing of the window is left
out: the fixed context itself (`prompt_snapshot`), and results of one tool use behind the first. A message with parts on
several branches or epochs counts on each; how many such there are stands beside, under no category.
"""

from __future__ import annotations

from crusts_index.store.driver import sqlite3
from crusts_index.transcript.words import word_id

SNAPSHOT, RESULT = word_id("prompt_snapshot"), word_id("tool_result")

_ADD = """
insert into stored_window_sums
with parts as materialized ({parts}),
ranked as (
  select thread_id, branch, epoch, category, tokens,
         row_number() over (partition by thread_id, branch, epoch, message order by tokens desc, id) = 1 as leads
  from parts
),
places as (
  select thread_id, branch, epoch, count(*) over (partition by thread_id, message) > 1 as is_split
  from (select distinct thread_id, branch, epoch, message from parts)
)
select * from (
  select thread_id, branch, epoch, category, {sign} * sum(tokens) as tokens, {sign} * sum(leads) as messages
  from ranked group by 1, 2, 3, 4
  union all
  select thread_id, branch, epoch, 0, 0, {sign} * count(*) from places where is_split group by 1, 2, 3)
where true
on conflict do update set tokens = tokens + excluded.tokens, messages = messages + excluded.messages
"""
_OF_ANSWERS = """
  select a.thread_id, p.branch, p.epoch, a.message, b.category, ifnull(b.share, b.estimate) as tokens, b.id
  from temp.taken t
    cross join stored_responses a on a.id = t.id
    cross join stored_records p on p.id >= a.id and p.id <= a.id + a.last_ahead and p.id - p.response_back = a.id
    cross join stored_blocks b on b.id >= p.id and b.id < p.id + p.length
  where p.message is not null
"""
ADD_ANSWERS = _ADD.replace("{parts}", _OF_ANSWERS)
"""Adds, or with a sign takes out, the messages of the answers in the temporary table `taken`: all responses of each."""

_OF_TRANSCRIPTS = f"""
  select (p.id >> 40) << 20 | p.thread as thread_id, p.branch, p.epoch, p.message, b.category,
         ifnull(b.share, b.estimate) as tokens, b.id
  from temp.whole_windows w
    cross join stored_records p on p.id >= w.transcript_id << 40 and p.id < (w.transcript_id + 1) << 40
    cross join stored_blocks b on b.id >= p.id and b.id < p.id + p.length
  where p.message is not null and p.subtype is not {SNAPSHOT} and not (b.kind = {RESULT}
    and (select u.id + u.result_ahead from stored_tool_uses u where u.id = b.id - b.use_back) is not p.id)
"""
_ADD_TRANSCRIPTS = _ADD.format(sign=1, parts=_OF_TRANSCRIPTS)
_CLEAR_TRANSCRIPT = "delete from stored_window_sums where thread_id >= ?1 << 20 and thread_id < (?1 + 1) << 20"
_CLEAR_SPLIT = _CLEAR_TRANSCRIPT + " and category = 0 and messages = 0"


def settle_windows(store: sqlite3.Connection) -> None:
    """Put back the answers in the temporary table `taken`, and sum up what is to be summed up as a whole."""
    if store.execute("select 1 from temp.taken limit 1").fetchone():
        store.execute(ADD_ANSWERS.format(sign=1))
    store.executemany(_CLEAR_SPLIT, store.execute("select transcript_id from temp.emptied").fetchall())
    whole = store.execute("select transcript_id from temp.whole_windows").fetchall()
    if whole:
        store.executemany(_CLEAR_TRANSCRIPT, whole)
        store.execute(_ADD_TRANSCRIPTS)
