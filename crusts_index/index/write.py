"""Writes stretches into the store: rows, state and high-water mark together, in transactions of bounded size (D4)."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Any

from crusts_index.index.calls import drop_returned, release_calls, settle_calls
from crusts_index.index.changed import note_cleared
from crusts_index.index.estimates import estimate_again, load_weights
from crusts_index.index.extent import TABLES, bounds, delete_rows
from crusts_index.index.in_hand import take_in_hand
from crusts_index.index.owners import settle_owners, shared_uses
from crusts_index.index.plain_calls import fresh_threads
from crusts_index.index.plan import PARSER
from crusts_index.index.read import DROP, RECORD_BYTES, RETAIN, Manner, Stretch
from crusts_index.index.sessions import settle_sessions, settle_view
from crusts_index.index.sums import settle_all_sums, settle_sums
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import explained
from crusts_index.store.promises import note_text
from crusts_index.transcript.blocks import Again
from crusts_index.transcript.rows import COLUMNS, NOT_OWNED, THREAD_BITS, Row

GROUP_BYTES = 24 << 20
"""Transcript bytes of the stretches that share a transaction."""

_KEPT = frozenset(("stored_responses", "stored_tool_uses", "stored_response_facts"))
"""Tables whose rows may come again with more in them: all columns but those that the store decides are written over."""

_CLEARED = tuple(table for table in TABLES if table not in ("threads", "fold_states", "stored_responses"))
"""Tables of which all rows go before a transcript is read from its beginning again."""

ROWS_AT_ONCE, WORTH_ROWS = 40, 400
"""Rows of one insert, a quarter quicker than one by one; and rows from which that is so: as long as it takes SQLite to
make ready for such an insert, it writes a hundred rows."""


def _statement(table: str, rows: int) -> str:
    names = COLUMNS[table]
    values = ", ".join([f"({', '.join('?' * len(names))})"] * rows)
    into = f"into {table} ({', '.join(names)}) values {values}"
    if table in _KEPT:
        return f"insert {into} {_changes(table, names)}"
    return f"insert or {'ignore' if table == 'words' else 'replace'} {into}"


def _changes(table: str, names: tuple[str, ...]) -> str:
    key = names[0]
    changes = [f"{name} = excluded.{name}" for name in names if name != key]
    if table == "stored_response_facts":  # what later lines do not say stays
        changes = [f"{name} = ifnull(excluded.{name}, {name})" for name in names if name != key]
    if table == "stored_tool_uses":  # who owns it is settled over all transcripts
        changes[names.index("flags") - 1] = f"flags = flags & {NOT_OWNED} | excluded.flags"
    return f"on conflict ({key}) do update set {', '.join(changes)}"


_STATEMENTS = {table: _statement(table, 1) for table in COLUMNS}
_ABOUT = (
    *(
        "records",
        "first_ms",
        "last_ms",
        "last_message_ms",
        "first_cwd",
        "last_cwd",
        "version",
        "last_version",
    ),
    *("git_branch", "entrypoint", "agent_id", "record_session"),
)
_MARK = f"""
update transcripts set size = ?, mtime_ns = ?, inode = ?, offset = ?, head_hash = ?, tail_hash = ?, parser = ?,
  gone = 0, {", ".join(f"{name} = ?" for name in _ABOUT)} where id = ?
"""


_RETAINED = "select id from stored_responses where id < 0 and thread_id between ? and ?"


def _insert_rows(store: sqlite3.Connection, table: str, rows: list[Row]) -> None:
    whole = 0
    if len(rows) >= WORTH_ROWS:
        whole = len(rows) - len(rows) % ROWS_AT_ONCE
        many, flat = _statement(table, ROWS_AT_ONCE), chain.from_iterable
        for start in range(0, whole, ROWS_AT_ONCE):
            store.execute(many, tuple(flat(rows[start : start + ROWS_AT_ONCE])))
    store.executemany(_STATEMENTS[table], rows[whole:])


class Writer:
    """Collects stretches into transactions. Call `close` at the end, `abandon` to throw away what is not committed."""

    def __init__(self, store: sqlite3.Connection, manner: Manner) -> None:
        self._store, self.manner = store, manner
        self.records = self.problems = self.bytes_read = 0
        self._reset()

    def _reset(self) -> None:
        self._bytes = 0
        self._pending: dict[str, list[Row]] = {table: [] for table in COLUMNS}
        self._messages: dict[int, int] = {}
        self._lost: set[str] = set()
        self._responses: set[int] = set()
        self._continued: set[int] = set()
        self._again: list[Again] = []
        self._uses: set[int] = set()
        self._transcripts: dict[int, bool] = {}
        self._counts = (0, 0, 0)

    def write(self, stretch: Stretch) -> bool:
        """Take a stretch; False where another run has read the transcript since, and this stretch is void."""
        with explained(self._store):
            if not self._store.in_transaction:
                self._store.execute("begin immediate")
                if self.manner.keep_text:
                    note_text(self._store)
            if not self._still_holds(stretch):
                return False
            if stretch.is_first and stretch.mode in (RETAIN, DROP):
                self._clear(stretch)
            self._insert(stretch)
            self._mark(stretch)
            if self._bytes >= GROUP_BYTES:
                self.commit()
        return True

    def commit(self) -> None:
        """Settle what was touched, and make it last."""
        store = self._store
        if not store.in_transaction:
            return
        with explained(store):
            try:
                self._settle()
                store.execute("commit")
            except BaseException:
                self.abandon()
                raise
        records, problems, read = self._counts
        self.records, self.problems, self.bytes_read = (
            self.records + records,
            self.problems + problems,
            self.bytes_read + read,
        )
        self._reset()

    def abandon(self) -> None:
        """Throw away what is not committed; the next run reads it again."""
        if self._store.in_transaction:
            with suppress(sqlite3.Error):
                self._store.execute("rollback")
        self._reset()

    def _still_holds(self, stretch: Stretch) -> bool:
        row = self._store.execute(
            "select offset, size, mtime_ns from transcripts where id = ?", (stretch.transcript_id,)
        ).fetchone()
        return row is not None and tuple(row) == stretch.basis

    def _clear(self, stretch: Stretch) -> None:
        """Take out what the store has of a transcript that is read from its beginning again (D4)."""
        transcript, store = stretch.transcript_id, self._store
        low, high = bounds(transcript)
        # What is still to be settled from this very transaction must not point at rows that go.
        self._settle()
        self._lost.update(shared_uses(store, low, high))
        self._responses |= release_calls(store, low, high, retain=stretch.mode == RETAIN)
        # Those that were retained before stay, but their threads' sums go.
        self._responses |= {row[0] for row in store.execute(_RETAINED, bounds(transcript, THREAD_BITS))}
        delete_rows(store, transcript, _CLEARED)
        note_cleared(store, low, high)
        threads = bounds(transcript, THREAD_BITS)
        store.execute(
            "delete from threads where id between ? and ? and id not in"
            " (select thread_id from stored_responses where thread_id between ? and ?)",
            (*threads, *threads),
        )
        store.execute("update threads set messages = 0 where id between ? and ?", threads)

    def _insert(self, stretch: Stretch) -> None:
        rows = stretch.rows
        for table, pending in self._pending.items():
            pending += rows[table]
        self._responses.update(row[0] for row in rows["stored_responses"])
        self._continued.update(stretch.continued)
        self._again += stretch.again
        self._uses.update(row[0] for row in rows["stored_tool_uses"])
        self._transcripts[stretch.transcript_id] = stretch.is_last
        self._bytes += max(stretch.bytes_read, RECORD_BYTES * stretch.records)
        records, problems, read = self._counts
        self._counts = (
            records + stretch.records,
            problems + len(rows["problems"]),
            read + stretch.bytes_read,
        )

    def _mark(self, stretch: Stretch) -> None:
        about: dict[str, Any] = stretch.about
        self._store.execute(
            _MARK,
            (
                *(
                    stretch.size,
                    stretch.mtime_ns,
                    stretch.inode,
                    stretch.offset,
                    stretch.head_hash,
                    stretch.tail_hash,
                ),
                *(PARSER, *(about[name] for name in _ABOUT), stretch.transcript_id),
            ),
        )
        self._store.execute(
            "insert or replace into fold_states (transcript_id, state) values (?, ?)",
            (stretch.transcript_id, stretch.state),
        )
        self._messages.update((thread, messages) for messages, thread in stretch.messages)

    def _flush(self) -> None:
        take_in_hand(self._store, self._pending)
        for table, rows in self._pending.items():
            if rows:
                # In the order of their ids, which several workers do not keep: an eighth of the store was air.
                rows.sort(key=itemgetter(0))
                _insert_rows(self._store, table, rows)
                rows.clear()
        counts = [(messages, thread) for thread, messages in self._messages.items()]
        self._store.executemany("update threads set messages = ? where id = ?", counts)
        self._messages.clear()

    def _settle(self) -> None:
        store = self._store
        fresh = fresh_threads(store, self._pending["stored_responses"])
        self._flush()
        for transcript in settle_sessions(store, self._transcripts):
            # Rank 4 of D2 asks for the session, so every call that this transcript shares is ranked again.
            ids_of = bounds(transcript)
            ids = store.execute(
                "select id from stored_responses where id between ? and ? or id < 0 and thread_id >> 20 = ?",
                (*ids_of, transcript),
            )
            self._responses |= {row[0] for row in ids}
            self._uses |= {
                row[0] for row in store.execute("select id from stored_tool_uses where id between ? and ?", ids_of)
            }
        self._continued |= self._settle_estimates()
        settle_calls(store, self._responses, self._continued, fresh)
        returned = drop_returned(store, [one for one, is_last in self._transcripts.items() if is_last])
        if returned:
            settle_calls(store, returned, ())
        settle_owners(store, self._lost, self._uses)
        settle_sums(store)
        self._responses, self._continued, self._transcripts = set(), set(), {}
        self._again = []
        self._uses, self._lost = set(), set()

    def _settle_estimates(self) -> set[int]:
        """Estimate again what was estimated without its model; gives back responses whose outputs are to be spread."""
        weights, again = load_weights(self._store), self._again
        if weights != self.manner.weights:  # another run fitted them meanwhile
            again = []
            for transcript in self._transcripts:
                low, high = bounds(transcript)
                threads = self._store.execute(
                    "select id from threads where id between ? and ?", bounds(transcript, THREAD_BITS)
                )
                again += [(low, high + 1, thread) for (thread,) in threads]
        return estimate_again(self._store, weights, again)


def settle_all(store: sqlite3.Connection) -> None:
    """Settle every response, tool use and session in the store: after rows came from elsewhere than a transcript."""
    ids = [row[0] for row in store.execute("select id from stored_responses")]
    settle_calls(store, ids, ())
    uses = store.execute("select id from stored_tool_uses where use_key is not null").fetchall()
    settle_owners(store, (), [row[0] for row in uses])
    for (session,) in store.execute("select distinct session_id from transcripts where session_id is not null"):
        settle_view(store, session)
    settle_all_sums(store)
