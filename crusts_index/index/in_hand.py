"""Adds what new rows come to to the sums, from the rows in hand: most of a first index is new, shared with nothing, and
quicker added up here than asked for again. What is not so simple is noted, and settled by `sums` from the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter

from crusts_index.index.changed import note_coming_answers, note_uses
from crusts_index.index.extent import bounds
from crusts_index.index.window_sums import RESULT, SNAPSHOT, Part, Span, add_windows
from crusts_index.store.driver import sqlite3
from crusts_index.transcript.rows import COLUMNS, RECORD_BITS, THREAD_BITS, Row

Pending = Mapping[str, list[Row]]

_ADD_USES = (
    "insert into stored_tool_sums values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set"
    " uses = uses + excluded.uses, results = results + excluded.results,"
    " result_tokens = result_tokens + excluded.result_tokens, behind_calls = behind_calls + excluded.behind_calls,"
    " errors = errors + excluded.errors"
)
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
    add_windows(store, _parts(pending["stored_blocks"], records, uses, old))


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
    latest: dict[Span, int] = {}
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
    store.executemany(_ADD_USES, [(*key, *found) for key, found in sums.items()])
    store.executemany(_LAST_RESULTS, [(*span, ordinal) for span, ordinal in latest.items()])
    return missed


def _parts(
    blocks: list[Row], records: Mapping[int, Row], uses: Mapping[int, Row], old: set[tuple[int, int]]
) -> Iterator[Part]:
    """The blocks of new messages, for what came into their windows."""
    low = high = 0
    place: tuple[int, ...] = ()
    span = (0, 0, 0)
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
            span = (transcript << THREAD_BITS | place[0], place[1], place[2])
        if old and record[_RESPONSE] is not None and (span[0], message) in old:
            continue
        size = block[_SHARE]
        yield span, message, block[_CATEGORY], block[_ESTIMATE] if size is None else size


def _is_first(one: int, place: int, block: Row, uses: Mapping[int, Row]) -> bool:
    """Whether a result is the first one of its tool use."""
    if block[_BLOCK_USE] is None:
        return False
    use = uses.get(one - block[_BLOCK_USE])
    return use is not None and use[_RESULT] is not None and use[0] + use[_RESULT] == place
