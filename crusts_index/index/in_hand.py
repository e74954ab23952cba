"""Adds what new rows come to to the sums, from the rows in hand: most of a first index is new, shared with nothing, and
quicker added up here than asked for again. What is not so simple is noted, and settled by `sums` from the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter

from crusts_index.index.changed import note_coming_answers, note_uses
from crusts_index.index.extent import bounds
from crusts_index.index.window_sums import RESULT, SNAPSHOT
from crusts_index.store.driver import sqlite3
from crusts_index.transcript.rows import COLUMNS, RECORD_BITS, THREAD_BITS, Row

Pending = Mapping[str, list[Row]]
_Span = tuple[int, int, int]

_ADD = "insert into {} values ({}) on conflict do update set {}"
_SUMMED = {
    "stored_window_sums": (4, "tokens messages"),
    "stored_tool_sums": (5, "uses results result_tokens behind_calls errors"),
}
_ADDITIONS = {
    table: _ADD.format(
        table,
        ", ".join("?" * (keys + len(names.split()))),
        ", ".join(f"{name} = {name} + excluded.{name}" for name in names.split()),
    )
    for table, (keys, names) in _SUMMED.items()
}
_LAST_RESULTS = (
    "insert into spans (thread_id, branch, epoch, last_result) values (?, ?, ?, ?)"
    " on conflict do update set last_result = max(last_result, excluded.last_result)"
)


def _places(table: str, names: str) -> tuple[int, ...]:
    return tuple(COLUMNS[table].index(name) for name in names.split())


_SUBTYPE, _THREAD, _BRANCH, _EPOCH, _ORDINAL, _MESSAGE, _RESPONSE = _places(
    "stored_records", "subtype thread branch epoch call_ordinal message response_back"
)
_PLACE, _KIND, _CATEGORY, _ESTIMATE, _SHARE, _BLOCK_USE = _places(
    "stored_blocks", "place kind category estimate share use_back"
)
_NAME, _USE, _USE_MS, _RESULT, _RESULT_MS, _CHARS, _IMAGES, _FLAGS = _places(
    "stored_tool_uses", "name use_back use_ms result_ahead result_ms result_chars result_images flags"
)
_WHERE = slice(_THREAD, _EPOCH + 1)
_answer = itemgetter(*_places("stored_responses", "id thread_id message message_id request_id"))


def take_in_hand(store: sqlite3.Connection, pending: Pending) -> None:
    """Note what the rows about to be written change, and add what they bring anew."""
    uses = {row[0]: row for row in pending["stored_tool_uses"]}
    known = _known_uses(store, uses)
    old = _old_messages(store, pending["stored_responses"])
    records = {row[0]: row for row in pending["stored_records"]}
    missed = _add_uses(store, [row for one, row in uses.items() if one not in known], records)
    if known or missed:
        note_uses(store, [*known, *missed])
    _add_windows(store, pending["stored_blocks"], records, uses, old)


def _known_uses(store: sqlite3.Connection, uses: Mapping[int, Row]) -> set[int]:
    """Tool uses of transcripts that have some in the store."""
    found = {
        transcript
        for transcript in {one >> RECORD_BITS for one in uses}
        if store.execute(
            "select 1 from stored_tool_uses where id between ? and ? limit 1", bounds(transcript)
        ).fetchone()
    }
    return {one for one in uses if one >> RECORD_BITS in found}


def _old_messages(store: sqlite3.Connection, responses: list[Row]) -> set[tuple[int, int]]:
    """Messages, by thread and number, that the store knows and these responses go on with; notes them."""
    answers = {row[0]: _answer(row) for row in responses}
    known: dict[int, int] = {}
    for thread in {answer[1] for answer in answers.values()}:
        row = store.execute("select messages from threads where id = ?", (thread,)).fetchone()
        known[thread] = row[0] if row else 0
    going_on = [one for one in answers.values() if one[2] is not None and one[2] <= known[one[1]]]
    if going_on:
        note_coming_answers(store, going_on)
    return {(thread, message) for _, thread, message, *_ in going_on}


def _add_uses(store: sqlite3.Connection, uses: list[Row], records: Mapping[int, Row]) -> list[int]:
    """Add tool uses to their sums, each as owned; gives back those that have a record elsewhere."""
    sums: dict[tuple[int, int, int, int, int], list[int]] = {}
    latest: dict[_Span, int] = {}
    missed: list[int] = []
    for row in uses:
        one, name, begun = row[0], row[_NAME], row[_USE_MS]
        thread = one >> RECORD_BITS << THREAD_BITS
        use = records.get(one - row[_USE]) if row[_USE] is not None else None
        result = records.get(one + row[_RESULT]) if row[_RESULT] is not None else None
        if (use is None and row[_USE] is not None) or (result is None and row[_RESULT] is not None):
            missed.append(one)
            continue
        if use is not None and name is not None:
            quarter = -1 if begun is None else begun // 900_000
            key = (thread | use[_THREAD], use[_BRANCH], use[_EPOCH], quarter, name)
            found = sums.get(key)
            if found is None:
                sums[key] = [1, 0, 0, 0, 0]
            else:
                found[0] += 1
        if result is not None:
            ended = row[_RESULT_MS]
            quarter = -1 if ended is None else (ended + (begun or 0)) // 900_000
            span = (thread | result[_THREAD], result[_BRANCH], result[_EPOCH])
            key = (*span, quarter, name or 0)
            found = sums.get(key)
            if found is None:
                found = sums[key] = [0, 0, 0, 0, 0]
            tokens, ordinal = (row[_CHARS] + 3) // 4 + 1500 * row[_IMAGES], result[_ORDINAL]
            found[1] += 1
            found[2] += tokens
            found[3] += tokens * ordinal
            found[4] += row[_FLAGS] & 1
            if ordinal > latest.get(span, -1):
                latest[span] = ordinal
    store.executemany(_ADDITIONS["stored_tool_sums"], [(*key, *found) for key, found in sums.items()])
    store.executemany(_LAST_RESULTS, [(*span, ordinal) for span, ordinal in latest.items()])
    return missed


def _add_windows(
    store: sqlite3.Connection,
    blocks: list[Row],
    records: Mapping[int, Row],
    uses: Mapping[int, Row],
    old: set[tuple[int, int]],
) -> None:
    """Add the blocks of new messages to what came into their windows."""
    spans: dict[_Span, tuple[dict[int, int], dict[int, tuple[int, int]]]] = {}
    parts: dict[tuple[int, int], _Span] = {}
    split: dict[tuple[int, int], set[_Span]] = {}
    low = high = 0
    place: tuple[int, ...] = ()
    thread = 0
    for block in blocks:
        one = block[0]
        row = one - block[_PLACE]
        record = records.get(row)
        if record is None:
            continue
        message = record[_MESSAGE]
        if message is None or record[_SUBTYPE] == SNAPSHOT:
            continue
        if block[_KIND] == RESULT and not _is_first(one, row, block, uses):
            continue
        if not (low <= row < high and record[_WHERE] == place):  # most stand where the one before stands
            place, transcript = record[_WHERE], row >> RECORD_BITS
            low, high = transcript << RECORD_BITS, (transcript + 1) << RECORD_BITS
            thread = transcript << THREAD_BITS | place[0]
            span = (thread, place[1], place[2])
            tokens, largest = spans.setdefault(span, ({}, {}))
        if record[_RESPONSE] is not None:
            if (thread, message) in old:
                continue
            if parts.setdefault((thread, message), span) != span:
                split.setdefault((thread, message), {parts[thread, message]}).add(span)
        size, category = block[_SHARE], block[_CATEGORY]
        if size is None:
            size = block[_ESTIMATE]
        tokens[category] = tokens.get(category, 0) + size
        before = largest.get(message)
        if before is None or size > before[0]:
            largest[message] = (size, category)
    rows = []
    for span, (tokens, largest) in spans.items():
        led = Counter(category for _, category in largest.values())
        rows += [(*span, category, size, led[category]) for category, size in tokens.items()]
    rows += [(*span, 0, 0, 1) for spans_of in split.values() for span in spans_of]
    store.executemany(_ADDITIONS["stored_window_sums"], rows)


def _is_first(one: int, place: int, block: Row, uses: Mapping[int, Row]) -> bool:
    """Whether a result is the first one of its tool use."""
    if block[_BLOCK_USE] is None:
        return False
    use = uses.get(one - block[_BLOCK_USE])
    return use is not None and use[_RESULT] is not None and use[0] + use[_RESULT] == place
