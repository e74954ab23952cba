"""Sums of calls that are as plain as most of a first index: of threads that are new whole, each call in one response,
none of them priced so far. They are added up from the rows in hand; all others are settled from the store (`sums`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from crusts_index.index.extent import CURVE_PART
from crusts_index.store.driver import sqlite3
from crusts_index.transcript.rows import COLUMNS, HAS_USAGE, IS_ADVISOR, IS_PLACEHOLDER, Row

Fresh = Mapping[int, Mapping[int, Row]]
"""Responses by thread and id."""

_names = COLUMNS["stored_responses"]
_THREAD, _ORDINAL, _BRANCH, _EPOCH, _FLAGS, _MS, _MODEL, _INPUT, _READ, _WRITE, _WRITE_1H, _OUTPUT, _SEARCHES = (
    _names.index(name)
    for name in (
        *("thread_id", "ordinal", "branch", "epoch", "flags", "last_ms", "model", "input_tokens"),
        *("cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens", "web_searches"),
    )
)
_MODE = [_names.index(name) for name in ("service_tier", "speed", "geo")]

_ADD_CALLS = "insert into stored_call_sums values (?, ?, ?, 0, '', ?, ?, ?, ?, ?, ?, ?, 0, ?)"
_ADD_CURVE = "insert into stored_curves values (?, ?, ?, ?, ?, ?, ?)"
_ADD_MODEL = "insert into stored_curve_models values (?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_SPAN = (
    "insert into spans (thread_id, branch, epoch, last_call) values (?, ?, ?, ?)"
    " on conflict do update set last_call = max(last_call, excluded.last_call)"
)


def fresh_threads(store: sqlite3.Connection, responses: Collection[Row]) -> dict[int, dict[int, Row]]:
    """Of the responses about to be written those of threads that have none in the store."""
    if not responses or store.execute("select 1 from prices limit 1").fetchone():
        return {}
    found: dict[int, dict[int, Row]] = {}
    for row in responses:
        found.setdefault(row[_THREAD], {})[row[0]] = row
    return {thread: rows for thread, rows in found.items() if _is_fresh(store, thread, rows.values())}


def _is_fresh(store: sqlite3.Connection, thread: int, rows: Collection[Row]) -> bool:
    if any(row[place] is not None for row in rows for place in _MODE):
        return False
    return store.execute("select 1 from stored_responses where thread_id = ? limit 1", (thread,)).fetchone() is None


def add_plain(store: sqlite3.Connection, fresh: Fresh, odd: Collection[int]) -> set[int]:
    """Add the threads that have none of the `odd` responses to the sums; gives back the responses of these threads."""
    plain: set[int] = set()
    for thread, rows in fresh.items():
        if rows.keys().isdisjoint(odd):
            plain.update(rows)
            ordered = [rows[one] for one in sorted(rows)]
            _add_calls(store, thread, ordered)
            _add_curve(store, thread, ordered)
            spans = {(row[_BRANCH], row[_EPOCH]): row[_ORDINAL] for row in ordered}
            store.executemany(_ADD_SPAN, [(thread, *span, ordinal) for span, ordinal in spans.items()])
    return plain


def _add_calls(store: sqlite3.Connection, thread: int, rows: list[Row]) -> None:
    sums: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        if row[_FLAGS] & HAS_USAGE:
            quarter = -1 if row[_MS] is None else row[_MS] // 900_000
            found = sums.get((quarter, row[_MODEL] or 0))
            if found is None:
                found = sums[quarter, row[_MODEL] or 0] = [0, 0, 0, 0, 0, 0, 0, 0]
            found[0] += 1
            found[1] += row[_INPUT]
            found[2] += row[_READ]
            found[3] += row[_WRITE]
            found[4] += row[_WRITE_1H]
            found[5] += row[_OUTPUT]
            found[6] += row[_SEARCHES]
            found[7] += bool(row[_FLAGS] & IS_PLACEHOLDER)
    store.executemany(_ADD_CALLS, [(thread, *key, *found) for key, found in sums.items()])


def _add_curve(store: sqlite3.Connection, thread: int, rows: list[Row]) -> None:
    parts: dict[int, list[tuple[int, Row]]] = {}
    models: dict[tuple[int, int], list[Any]] = {}
    before: int | None = None
    for row in rows:
        if row[_FLAGS] & (IS_ADVISOR | HAS_USAGE) != HAS_USAGE:
            continue
        context = row[_INPUT] + row[_READ] + row[_WRITE]
        if context == 0:
            continue
        part = row[_ORDINAL] >> CURVE_PART
        parts.setdefault(part, []).append((context, row))
        fall = None if before is None else before - context
        before = context
        model = (part, row[_MODEL] or 0)
        found = models.get(model)
        if found is None:
            models[model] = [1, context, row[0], row[0], fall]
            continue
        calls, peak, _, _, most = found
        found[0], found[1], found[3] = calls + 1, max(peak, context), row[0]
        if fall is not None and (most is None or fall > most):
            found[4] = fall
    made = []
    for part, points in parts.items():
        times = [row[_MS] for _, row in points if row[_MS] is not None]
        first = min(times) if len(times) == len(points) else None
        contexts = [context for context, _ in points]
        told = ",".join(map(str, contexts))
        made.append((thread, part, len(points), first, max(times, default=None), max(contexts), told))
    store.executemany(_ADD_CURVE, made)
    store.executemany(_ADD_MODEL, [(thread, *key, *found) for key, found in models.items()])
