"""Where the rows of a transcript stand: each table that has any, with the column and range by which they are found."""

from __future__ import annotations

from collections.abc import Iterable

from crusts_index.store.driver import sqlite3
from crusts_index.transcript.rows import RECORD_BITS, THREAD_BITS

BY_RECORD = {
    "texts": "block_id",
    "stored_blocks": "id",
    "tool_loads": "record_id",
    "compactions": "id",
    "preserved": "record_id",
    "removals": "record_id",
    "attachments": "record_id",
    "context_reports": "id",
    "stored_sent_parts": "record_id",
    "stored_version_starts": "record_id",
    "stored_rebuilds": "response_id",
    "request_shapes": "record_id",
    "stored_requests": "record_id",
    "stored_tool_uses": "id",
    "stored_response_facts": "response_id",
    "stored_responses": "id",
    "stored_records": "id",
}
"""By an id that begins with the transcript's and goes on with a record's offset."""
SUMS = (
    "stored_call_sums",
    "stored_tool_sums",
    "spans",
    "stored_curves",
    "stored_curve_models",
    "stored_window_sums",
)
"""By the thread that they are of: they follow from the other rows (`sums`)."""

CURVE_PART = 6
"""Responses of a thread go by 64 (2 to this power) into the parts of its curve: an append touches the last one."""

_BITS = {
    **dict.fromkeys(BY_RECORD, RECORD_BITS),
    **dict.fromkeys(SUMS, THREAD_BITS),
    "branches": THREAD_BITS,
    "threads": THREAD_BITS,
    "cost_states": 0,
    "meta_records": 0,
    "problems": 0,
    "fold_states": 0,
}
_BY_THREAD = dict.fromkeys((*SUMS, "branches"), "thread_id")
_COLUMN = {**BY_RECORD, **_BY_THREAD, "threads": "id"}

TABLES = tuple(_BITS)
"""All of them; `stored_responses` below 0, of bytes that are gone, apart."""


def same_id(one: str, other: str) -> str:
    """The condition by which rows with the same request, message or tool use id are found: by what it is indexed.

    Of an id as long as usual ones that is six characters, of any other all of it that may tell it apart.
    """
    ends = [f"substr({name}, iif(length({name}) = 24, -6, -64))" for name in (one, other)]
    return f"{ends[0]} = {ends[1]} and {one} = {other}"


def found_in(table: str, transcript: int) -> tuple[str, tuple[int, int]]:
    """The condition by which a transcript's rows of a table are found, and its parameters."""
    low, high = bounds(transcript, _BITS[table])
    return f"{_COLUMN.get(table, 'transcript_id')} between ? and ?", (low, high)


def bounds(transcript: int, bits: int = RECORD_BITS) -> tuple[int, int]:
    """The first and the last id that a transcript's rows may have."""
    return transcript << bits, ((transcript + 1) << bits) - 1


def delete_rows(store: sqlite3.Connection, transcript: int, tables: Iterable[str] = TABLES) -> None:
    """Delete a transcript's rows of these tables."""
    for table in tables:
        condition, range_ = found_in(table, transcript)
        store.execute(f"delete from {table} where {condition}", range_)


def copy_rows(store: sqlite3.Connection, transcript: int) -> None:
    """Copy a transcript's rows of all tables, but for the sums, from the database attached as `old`."""
    for table in TABLES:
        if table in SUMS:
            continue
        condition, range_ = found_in(table, transcript)
        copy_table(store, table, condition, range_)


def copy_table(store: sqlite3.Connection, table: str, condition: str, values: Iterable[object] = ()) -> None:
    """Copy the rows of a table that fit from the database attached as `old`."""
    names = ", ".join(row[1] for row in store.execute(f"pragma table_info({table})"))
    store.execute(f"insert into {table} ({names}) select {names} from old.{table} where {condition}", tuple(values))
