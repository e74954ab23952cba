"""What came into the windows of each thread by branch, epoch and category: `stored_window_sums` (D8, D10).

A message counts in the category of its largest block, of equal ones the first. What takes nothing of the window is left
out: the fixed context itself (`prompt_snapshot`), and results of one tool use behind the first. A message with parts on
several branches or epochs counts on each; how many such there are stands beside, under no category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from crusts_index.store.driver import sqlite3
from crusts_index.transcript.words import word_id

SNAPSHOT, RESULT = word_id("prompt_snapshot"), word_id("tool_result")

Span = tuple[int, int, int]
"""Thread, branch and epoch."""
Part = tuple[Span, int, int, int]
"""Of a block where it stands, its message, category and tokens."""

_ADD = (
    "insert into stored_window_sums values (?, ?, ?, ?, ?, ?)"
    " on conflict do update set tokens = tokens + excluded.tokens, messages = messages + excluded.messages"
)
_OF_ANSWERS = """
  select a.thread_id, p.branch, p.epoch, a.message, b.category, ifnull(b.share, b.estimate)
  from temp.taken t
    cross join stored_responses a on a.id = t.id
    cross join stored_records p on p.id >= a.id and p.id <= a.id + a.last_ahead and p.id - p.response_back = a.id
    cross join stored_blocks b on b.id >= p.id and b.id < p.id + p.length
  where p.message is not null
  order by b.id
"""
_OF_TRANSCRIPT = f"""
  select (p.id >> 40) << 20 | p.thread, p.branch, p.epoch, p.message, b.category, ifnull(b.share, b.estimate)
  from stored_records p
    cross join stored_blocks b on b.id >= p.id and b.id < p.id + p.length
  where p.id >= ?1 << 40 and p.id < (?1 + 1) << 40 and p.message is not null and p.subtype is not {SNAPSHOT}
    and not (b.kind = {RESULT}
      and (select u.id + u.result_ahead from stored_tool_uses u where u.id = b.id - b.use_back) is not p.id)
  order by p.id, b.id
"""
_CLEAR_TRANSCRIPT = "delete from stored_window_sums where thread_id >= ?1 << 20 and thread_id < (?1 + 1) << 20"
_CLEAR_SPLIT = _CLEAR_TRANSCRIPT + " and category = 0 and messages = 0"


def settle_windows(store: sqlite3.Connection) -> None:
    """Put back the answers in the temporary table `taken`, and sum up what is to be summed up as a whole."""
    add_answers(store, 1)
    store.executemany(_CLEAR_SPLIT, store.execute("select transcript_id from temp.emptied").fetchall())
    for transcript in store.execute("select transcript_id from temp.whole_windows").fetchall():
        store.execute(_CLEAR_TRANSCRIPT, transcript)
        add_windows(store, _parts(store.execute(_OF_TRANSCRIPT, transcript)))


def add_answers(store: sqlite3.Connection, sign: int) -> None:
    """Add, or with a sign take out, the messages of the answers in the table `taken`: all responses of each."""
    add_windows(store, _parts(store.execute(_OF_ANSWERS)), sign)


def add_windows(store: sqlite3.Connection, parts: Iterable[Part], sign: int = 1) -> None:
    """Add blocks in the order of the log, or take them out by a sign: of each message all of them at once."""
    spans: dict[Span, tuple[dict[int, int], dict[int, tuple[int, int]]]] = {}
    place: Span | None = None
    sums: dict[int, int] = {}
    largest: dict[int, tuple[int, int]] = {}
    for span, message, category, size in parts:
        if span != place:  # most stand where the one before stands
            place = span
            sums, largest = spans.setdefault(span, ({}, {}))
        sums[category] = sums.get(category, 0) + size
        before = largest.get(message)
        if before is None or size > before[0]:
            largest[message] = (size, category)
    rows = []
    for span, (sums, largest) in spans.items():
        led = Counter(category for _, category in largest.values())
        rows += [(*span, category, sign * size, sign * led[category]) for category, size in sums.items()]
    rows += [(*span, 0, 0, sign * count) for span, count in _count_split(spans).items()]
    store.executemany(_ADD, rows)


def _count_split(spans: Mapping[Span, tuple[object, Mapping[int, object]]]) -> Counter[Span]:
    """How many messages of each span have parts on others too."""
    several = Counter(thread for thread, _, _ in spans)
    shared = {span: largest for span, (_, largest) in spans.items() if several[span[0]] > 1}
    places = Counter((span[0], message) for span, largest in shared.items() for message in largest)
    return Counter(span for span, largest in shared.items() for message in largest if places[span[0], message] > 1)


def _parts(rows: Iterable[tuple[int, int, int, int, int, int]]) -> Iterator[Part]:
    return (
        ((thread, branch, epoch), message, category, size) for thread, branch, epoch, message, category, size in rows
    )
