"""Keeps token estimates in step with the weights, and with a model that is known only later (D9). Reads no text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import itemgetter

from crusts_index.index.changed import note_turned, note_windows
from crusts_index.index.extent import bounds
from crusts_index.store.driver import sqlite3
from crusts_index.tools import RETELLS
from crusts_index.transcript.rows import IS_ABORTED, IS_PLACEHOLDER, THREAD_BITS
from crusts_index.transcript.shares import spread
from crusts_index.transcript.weights import FACTOR, SHIPPED, Weights
from crusts_index.transcript.words import USUAL, word_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.transcript.blocks import Again

_NAMES = {word_id(word): word for word in USUAL}
_THREAD = (1 << THREAD_BITS) - 1
_END = (1 << 62, None)

# A thread's responses that tell a model, in the order in which they began; advisors' and nested ones tell none.
_TOLD = """
select r.id, w.word from stored_responses r join words w on w.id = r.model
where r.thread_id = ? and r.id > 0 and not r.flags & 6 order by r.id
"""
# `cross join` fixes the order, by ranges of ids: the planner would walk all records.
_BLOCKS = """
select r.id, r.id - r.response_back, b.id, b.kind, b.soft, b.marks, b.extra, b.estimate, u.name
from stored_records r
cross join stored_blocks b on b.id >= r.id and b.id < r.id + r.length
left join stored_tool_uses u on u.id = b.id - b.use_back
where r.id >= ? and r.id < ? and r.thread = ?
order by b.id
"""
# The same for a thread with one model, in one statement: what `Weights.estimate` says, step by step the same numbers.
# `thread` is null where it is the only one of its transcript.
_text = "(:soft * soft + :marks * marks)"
_ESTIMATE = f"""
update stored_blocks as b set estimate = case kind
  when {word_id("tool_result")} then cast(:factor * case
      when (select u.name from stored_tool_uses u where u.id = b.id - b.use_back)
        in ({", ".join(str(word_id(tool)) for tool in sorted(RETELLS))})
      then ({_text} + :tool_result) * :retold else {_text} + :tool_result end + 0.5 as integer) + extra
  when {word_id("tool_use")} then cast(:factor * ({_text} + :tool_use + :key * extra) + 0.5 as integer)
  when {word_id("thinking")} then case when extra then cast(max(0.0, :a_character * extra - :less) + 0.5 as integer)
    else cast(:factor * ({_text} + :text) + 0.5 as integer) end
  when {word_id("text")} then cast(:factor * ({_text} + case
      when (select r.response_back from stored_records r where r.id = b.id - b.place) is null
      then :prompt else :text end) + 0.5 as integer)
  else cast(:factor * {_text} + 0.5 as integer) + extra end
where id >= :low and id < :high
  and (:thread is null or (select r.thread from stored_records r where r.id = b.id - b.place) = :thread)
"""
# Of each thread how many models its responses tell, and one of them.
_MODELS = """
select r.thread_id, count(distinct r.model), w.word from stored_responses r join words w on w.id = r.model
where r.id > 0 and not r.flags & 6 group by r.thread_id
"""
_ANSWERS = """
select distinct id - response_back from stored_records
where id >= ? and id < ? and thread = ? and response_back is not null
"""
# What a response's call is billed for, and its blocks.
_PARTS = """
select q.id, u.output_tokens, u.thinking_tokens, q.flags, b.id, b.estimate, b.kind, b.share
from stored_records r
cross join stored_responses q on q.id = r.id - r.response_back
cross join stored_calls c on c.id = ifnull(q.shared_call_id, q.id)
cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
cross join stored_blocks b on b.id >= r.id and b.id < r.id + r.length
where {} and q.flags & 8
order by q.id, b.id
"""
_ID_AT, _ESTIMATE_AT, _KIND_AT, _SHARE_AT = 4, 5, 6, 7
_OF_THREAD = _PARTS.format("r.id >= ? and r.id < ? and r.thread = ?")
_OF_RESPONSE = _PARTS.format(
    "r.id >= ?1 and r.id <= (select id + last_ahead from stored_responses where id = ?1) and q.id = ?1"
)
_TURN = f"update stored_responses set flags = flags + {IS_PLACEHOLDER} - 2 * (flags & {IS_PLACEHOLDER}) where id = ?"
"""Of a response that is a placeholder or is none by now."""


def load_weights(store: sqlite3.Connection) -> Weights:
    """The weights that hold in the store."""
    values, factors = {}, {}
    for name, model, value in store.execute("select name, model, value from weights"):
        if name == FACTOR:
            factors[model] = value
        elif name in SHIPPED:
            values[name] = value
    return Weights(values, factors)


def estimate_again(store: sqlite3.Connection, weights: Weights, again: Collection[Again]) -> set[int]:
    """Estimate blocks whose model only a later stretch told; gives back responses whose outputs are to be spread."""
    answers: set[int] = set()
    note_windows(store, {thread >> THREAD_BITS for _, _, thread in again})
    for low, high, thread in again:
        _estimate(store, weights, thread, low, high)
        answers |= {row[0] for row in store.execute(_ANSWERS, (low, high, thread & _THREAD))}
    return answers


def estimate_threads(store: sqlite3.Connection, weights: Weights, threads: Iterable[int]) -> None:
    """Estimate all blocks of these threads, and spread the outputs of their responses again; sums are to be settled."""
    threads = list(threads)
    note_windows(store, {thread >> THREAD_BITS for thread in threads})
    models = {thread: (count, model) for thread, count, model in store.execute(_MODELS)}
    siblings = Counter(thread >> THREAD_BITS for (thread,) in store.execute("select id from threads"))
    for thread in threads:
        low, high = bounds(thread >> THREAD_BITS)
        count, model = models.get(thread, (0, None))
        if count > 1:
            _estimate(store, weights, thread, low, high + 1)
        else:
            only = None if siblings[thread >> THREAD_BITS] == 1 else thread & _THREAD
            by = weights.terms(model)
            store.execute(_ESTIMATE, {**by, "low": low, "high": high + 1, "thread": only})
        _spread(store, _OF_THREAD, (low, high + 1, thread & _THREAD))


def estimate_all(store: sqlite3.Connection) -> None:
    """Estimate all blocks by the weights that hold; sums are to be settled."""
    threads = store.execute("select id from threads").fetchall()
    estimate_threads(store, load_weights(store), [thread for (thread,) in threads])


def spread_outputs(store: sqlite3.Connection, responses: Iterable[int]) -> None:
    """Share the billed outputs of responses over their blocks, and say which of them are placeholders."""
    for response in responses:
        _spread(store, _OF_RESPONSE, (response,))


def _estimate(store: sqlite3.Connection, weights: Weights, thread: int, low: int, high: int) -> None:
    """Estimate a thread's blocks in a range of ids: by the model of their response, else of the one begun before."""
    told = store.execute(_TOLD, (thread,)).fetchall()
    models = dict(told)
    # What stands before the first response has its model too.
    model, following = (told[0][1], iter(told)) if told else (None, iter(()))
    first, said = next(following, _END)
    changed = []
    for record, response, block, kind, soft, marks, extra, before, tool in store.execute(
        _BLOCKS, (low, high, thread & _THREAD)
    ):
        while first < record:
            model = said
            first, said = next(following, _END)
        own = models.get(response, model) if response is not None else model
        size = (_NAMES[kind], soft, marks, extra)
        estimate = weights.estimate(own, *size, tool=_NAMES.get(tool), is_answer=response is not None)
        if estimate != before:
            changed.append((estimate, block))
    store.executemany("update stored_blocks set estimate = ? where id = ?", changed)


def _spread(store: sqlite3.Connection, parts_of: str, values: tuple[int, ...]) -> None:
    thinking = word_id("thinking")
    shares: list[tuple[int | None, int]] = []
    turned: list[int] = []
    for (response, output, thought, flags), group in groupby(
        store.execute(parts_of, values).fetchall(), itemgetter(0, 1, 2, 3)
    ):
        parts = list(group)
        facts = [(part[_ESTIMATE_AT], part[_KIND_AT] == thinking) for part in parts]
        found = spread(output, thought, facts, is_aborted=bool(flags & IS_ABORTED))
        if (found is None) != bool(flags & IS_PLACEHOLDER):
            turned.append(response)
        for place, part in enumerate(parts):
            share = None if found is None else found[place]
            if share != part[_SHARE_AT]:
                shares.append((share, part[_ID_AT]))
    store.executemany("update stored_blocks set share = ? where id = ?", shares)
    if turned:
        note_turned(store, turned)
        store.executemany(_TURN, [(response,) for response in turned])
