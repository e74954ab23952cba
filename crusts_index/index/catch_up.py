"""Brings a store that was built beside another up to what others wrote there meanwhile (D4, D16).

Both hold a transcript under the same id. What was read of it goes by who read more of it or later; what the user had
forgotten, pasted or priced, and what vanished, goes by the old store.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import NamedTuple

from crusts_index.index.calls import drop_returned, settle_calls
from crusts_index.index.changed import note_all, note_shared_uses
from crusts_index.index.estimates import estimate_all
from crusts_index.index.extent import bounds, copy_rows, copy_table
from crusts_index.index.forget import forget, take_out
from crusts_index.index.habits import settle_habits
from crusts_index.index.owners import settle_owners
from crusts_index.index.sessions import settle_sessions, settle_view
from crusts_index.index.sums import settle_all_sums, settle_sums
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import open_store, transaction
from crusts_index.store.prices import resolve_prices
from crusts_index.store.promises import NO_TEXT
from crusts_index.transcript.rows import THREAD_BITS

_PASTED = """
insert into context_reports (id, session_id, time_ms, model, version, used_tokens, window_tokens, rows)
select id, (select s.id from sessions s join old.sessions o on o.session_id = s.session_id where o.id = r.session_id),
       time_ms, model, version, used_tokens, window_tokens, rows
from old.context_reports r where id < 0 and id not in (select id from main.context_reports)
"""
_SURROUNDED = """
insert into surroundings (kind, path, project_path, name, content_hash, mtime_ns, bytes, chars, tokens, detail,
  first_seen_ms, last_seen_ms)
select kind, path, project_path, name, content_hash, mtime_ns, bytes, chars, tokens, detail, first_seen_ms, last_seen_ms
from old.surroundings o where not exists (
  select 1 from main.surroundings m where m.path = o.path and m.content_hash = o.content_hash and m.kind = o.kind
    and m.project_path is o.project_path and m.name is o.name and m.mtime_ns = o.mtime_ns)
"""
_TOLD = ("payload_facts", "limit_samples")
_RUNS = """
insert into runs (started_ms, duration_ms, kind, version, files, changed, gone, bytes_read, records, problems)
select started_ms, duration_ms, kind, version, files, changed, gone, bytes_read, records, problems
from old.runs where id > ?
"""
_OTHER_WEIGHTS = """
select 1 from (select * from old.weights except select * from main.weights)
union all select 1 from (select * from main.weights except select * from old.weights) limit 1
"""
_OTHER_PRICES = """
select 1 from (select * from old.prices except select * from main.prices)
union all select 1 from (select * from old.models except select * from main.models) limit 1
"""

_THEIR_KEYS = "select distinct use_key from old.stored_tool_uses where id between ? and ? and use_key is not null"


class Mark(NamedTuple):
    """How far a transcript was read."""

    path: str
    offset: int
    size: int
    mtime_ns: int
    tail_hash: bytes | None
    gone: int


class Marks(NamedTuple):
    """How a store stood at a moment."""

    transcripts: dict[int, Mark]
    lowest: int
    """The lowest id of a response: below 0 they are numbered as they are retained."""
    last_run: int


def marks_of(store: sqlite3.Connection, name: str) -> Marks:
    """How the database attached under that name stands."""
    columns = ", ".join(Mark._fields)
    rows = store.execute(f"select id, {columns} from {name}.transcripts").fetchall()
    (lowest,) = store.execute(f"select min(0, ifnull(min(id), 0)) from {name}.stored_responses").fetchone()
    (last,) = store.execute(f"select ifnull(max(id), 0) from {name}.runs").fetchone()
    return Marks({row[0]: Mark._make(row[1:]) for row in rows}, lowest, last)


def catch_up(old: str, fresh: str, begun: Marks) -> None:
    """Carry over what the store at `old` came to hold since it stood as `begun`; nobody writes to either."""
    with closing(open_store(fresh, write=True)) as store:
        store.execute("attach database ? as old", (os.fsencode(old),))
        with transaction(store):
            theirs, mine = marks_of(store, "old").transcripts, marks_of(store, "main").transcripts
            ahead = [one for one, mark in theirs.items() if _is_ahead(mark, mine.get(one), begun.transcripts.get(one))]
            _take(store, ahead, mine, begun)
            _mark_gone(store, [one for one in theirs if one not in ahead and theirs[one].gone and not mine[one].gone])
            for statement in (_PASTED, _SURROUNDED):
                store.execute(statement)
            for table in _TOLD:  # only the old store was told any of it
                store.execute(f"delete from main.{table}")
                copy_table(store, table, "1")
            store.execute(_RUNS, (begun.last_run,))
            if store.execute(_OTHER_PRICES).fetchone():
                _take_prices(store)
                settle_all_sums(store)
            if store.execute(_OTHER_WEIGHTS).fetchone():
                store.execute("delete from main.weights")
                copy_table(store, "weights", "1")
                estimate_all(store)
            settle_sums(store)
            settle_habits(store)
            _take_promises(store)
        forgotten = "select session_id from old.forgotten except select session_id from main.forgotten"
        names = [row[0] for row in store.execute(forgotten)]
        if names:
            forget(store, names)
        store.execute("detach database old")


def _is_ahead(theirs: Mark, mine: Mark | None, begun: Mark | None) -> bool:
    """Whether the old store read more of a transcript, or later, than the new one could."""
    if mine is None:
        return True
    if theirs[:5] == mine[:5]:
        return False
    if mine.size < 0:  # not read to its end here: it vanished, or cannot be read
        return theirs.size >= 0 or theirs.offset > mine.offset
    return theirs != begun and (theirs.mtime_ns, theirs.offset) > (mine.mtime_ns, mine.offset)


def _take(store: sqlite3.Connection, ahead: list[int], mine: dict[int, Mark], begun: Marks) -> None:
    """Take these transcripts as the old store has them, and of others the responses that were retained since."""
    responses: set[int] = set()
    lost: set[str] = set()
    store.execute("insert or ignore into words select * from old.words")
    for one in ahead:
        if one in mine:
            take_out(store, one, responses, lost)
            store.execute("delete from transcripts where id = ?", (one,))
        note_shared_uses(store, _THEIR_KEYS, bounds(one))
        copy_rows(store, one)
        copy_table(store, "transcripts", "id = ?", (one,))
        store.execute("update transcripts set session_id = null where id = ?", (one,))
        store.execute("update stored_responses set shared_call_id = null where id between ? and ?", bounds(one))
        responses |= _retain(store, "thread_id >> 20 = ?", one)
    responses |= _retain(store, "id < ?", begun.lowest, ahead)
    settle_sessions(store, ahead)
    uses: set[int] = set()
    for one in ahead:
        range_ = bounds(one)
        responses |= {
            row[0] for row in store.execute("select id from stored_responses where id between ? and ?", range_)
        }
        uses |= {row[0] for row in store.execute("select id from stored_tool_uses where id between ? and ?", range_)}
        note_all(store, *range_)
    settle_calls(store, responses, ())
    retained = store.execute("select distinct thread_id >> 20 from stored_responses where id < 0").fetchall()
    settle_calls(store, drop_returned(store, [row[0] for row in retained]), ())
    settle_owners(store, lost, uses)


def _retain(store: sqlite3.Connection, condition: str, value: int, but: list[int] | None = None) -> set[int]:
    """Copy retained responses, under ids of this store."""
    rows = store.execute(f"select * from old.stored_responses where id < 0 and {condition} order by id desc", (value,))
    names = [column[0] for column in rows.description]
    (lowest,) = store.execute("select min(0, ifnull(min(id), 0)) from main.stored_responses").fetchone()
    made = set()
    for row in rows.fetchall():
        values = dict(zip(names, row, strict=True))
        if but is not None and values["thread_id"] >> THREAD_BITS in but:
            continue
        lowest -= 1
        values["last_ahead"] += values["id"] - lowest
        values["id"], values["shared_call_id"] = lowest, None
        marks = ", ".join(f":{name}" for name in names)
        store.execute(f"insert into stored_responses ({', '.join(names)}) values ({marks})", values)
        store.execute("insert or ignore into threads select * from old.threads where id = ?", (values["thread_id"],))
        rebuild = store.execute("select * from old.stored_rebuilds where response_id = ?", (row[0],)).fetchone()
        if rebuild is not None:
            store.execute("insert or replace into stored_rebuilds values (?, ?, ?, ?)", (lowest, *rebuild[1:]))
        made.add(lowest)
    return made


def _mark_gone(store: sqlite3.Connection, transcripts: list[int]) -> None:
    for one in transcripts:
        path, session = store.execute("select path, session_id from transcripts where id = ?", (one,)).fetchone()
        if not os.path.exists(path):
            store.execute("update transcripts set gone = 1 where id = ?", (one,))
            if session is not None:
                settle_view(store, session)


def _take_prices(store: sqlite3.Connection) -> None:
    for table in ("prices", "models"):
        store.execute(f"delete from main.{table}")
        copy_table(store, table, "1")
    store.execute("update stored_calls set price_id = null")
    resolve_prices(store, [row[0] for row in store.execute("select id from stored_calls")])


def _take_promises(store: sqlite3.Connection) -> None:
    """What the old store owes this one owes, and text may stand here if it may there."""
    store.execute(
        "insert or replace into store_facts select * from old.store_facts where name = 'promise'"
        " and not exists (select 1 from main.store_facts where name = 'promise' and value like 'text %')"
    )
    found = store.execute("select 1 from old.store_facts where name = 'text' and value = ?", (NO_TEXT,)).fetchone()
    if found is None:
        store.execute("delete from main.store_facts where name = 'text'")
