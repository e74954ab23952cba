"""One run of the index: find, decide, read, write; and what it found out."""

from __future__ import annotations

import os
import time

from crusts_index.index.find import Seen, find_one
from crusts_index.index.look import Looks
from crusts_index.index.plan import Job, Known, is_in_place, make_plan, spare
from crusts_index.index.summary import Options, Summary
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import explained, transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Options", "Summary", "index_files", "index_roots"]

KEPT_UP, PRICED = "kept_up", "priced"
"""What can be said of a run: that prices and search know of all that was read till then, or that prices do."""

MOST_AGAIN = 32 << 20
"""Bytes which another parser has read that a run short of time reads again: less than half a second's work."""

_LAST_RUN = "select ifnull(max(id), 0) from runs"
_SAID = f"select name from store_facts where name in ('{KEPT_UP}', '{PRICED}') and value = cast(({_LAST_RUN}) as text)"
_SAY = "insert or replace into store_facts (name, value) values (?, ?)"
_UNSAY = f"delete from store_facts where name in ('{KEPT_UP}', '{PRICED}')"


def index_roots(store: sqlite3.Connection, path: str, roots: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with everything under the projects folders `roots`.

    Raises CrustsError for a store that is damaged, full or not to be written.
    """
    summary = Summary()
    started = time.time()
    with explained(store):
        summary.before = last_run(store)
        said = {row[0] for row in store.execute(_SAID)}
        summary.was_kept_up, summary.was_priced = KEPT_UP in said, PRICED in said
        looks = Looks(store, roots)
        summary.unreadable += looks.unreadable
        seen, vanished = looks.compare()
        gone = [known.id for path in vanished if (known := _known(store, path)) is not None]
        summary.files = looks.files
        if _run(store, path, list(seen.values()), _forgotten(store), gone, options, summary):
            looks.keep()
        _record_run(store, summary, options.kind, started)
    return summary


def last_run(store: sqlite3.Connection) -> int:
    """The last run that changed the store. Asked before all that it read is looked at: then no later one is missed."""
    with explained(store):
        return int(store.execute(_LAST_RUN).fetchone()[0])


def say_of(store: sqlite3.Connection, run: int, *what: str) -> None:
    """Remember KEPT_UP or PRICED of a run; a later one that changes the store makes it untrue."""
    with explained(store), transaction(store):
        store.executemany(_SAY, [(name, str(run)) for name in what])


def index_files(
    store: sqlite3.Connection, path: str, files: Iterable[str], options: Options, roots: Iterable[str] = ()
) -> Summary:
    """Bring the store up to date with the sessions of the named transcripts; nothing else is looked at.

    `roots` are the projects folders that tell where in them a transcript lies.
    """
    summary = Summary()
    started = time.time()
    roots = list(roots)
    seen = {one.path: _as_known(store, one, roots) for name in files for one in find_one(name, roots)}
    summary.files = len(seen)
    with explained(store):
        _run(store, path, list(seen.values()), _forgotten(store), [], options, summary)
        _record_run(store, summary, options.kind, started)
    return summary


def _run(
    store: sqlite3.Connection,
    path: str,
    seen: list[Seen],
    forgotten: set[str],
    gone: list[int],
    options: Options,
    summary: Summary,
) -> bool:
    """Do what is to be done; True if nothing was left out."""
    if forgotten:
        kept = [one for one in seen if not _is_forgotten(one, forgotten)]
        summary.files -= len(seen) - len(kept)
        seen = kept
    new = [one for one in seen if options.known_only and _known(store, one.path) is None]
    plan = make_plan([one for one in seen if one not in new] if new else seen, lambda one: _known(store, one), gone)
    summary.gone, summary.pending_bytes = len(plan.gone), plan.pending_bytes
    if options.most_bytes is not None and plan.pending_bytes > options.most_bytes:
        summary.is_complete = False
        return False
    wanted = len(plan.jobs)
    if options.seconds is not None:
        plan = plan._replace(jobs=spare(plan.jobs, MOST_AGAIN))
        summary.is_complete = len(plan.jobs) == wanted
    _mark_presence(store, plan.gone, plan.back)
    _move(store, plan.moved)
    if plan.metas:
        from crusts_index.index.metas import write_metas

        write_metas(store, plan.metas, keep_text=options.keep_text)
    if plan.jobs:
        # Only now: decoding is dear to import, and most runs have nothing to read.
        from crusts_index.index.ingest import ingest

        with transaction(store):  # it may be killed before it is recorded
            store.execute(_UNSAY)
        ingest(store, path, plan, options, summary)
        if forgotten:
            from crusts_index.index.forget import forget_returned

            forget_returned(store)
        (summary.calls,) = store.execute("select count(*) from stored_calls").fetchone()
    return len(summary.touched) == wanted and not new


def name_all(store: sqlite3.Connection, seen: list[Seen], *, keep_text: bool) -> None:
    """Give transcripts that the store does not know their rows, to be read later; forgotten ones get none."""
    from crusts_index.index.ingest import name_new

    forgotten = _forgotten(store)
    new = [one for one in seen if not _is_forgotten(one, forgotten) and _known(store, one.path) is None]
    if new:
        name_new(store, [Job(one, None) for one in new], keep_text=keep_text)


def _as_known(store: sqlite3.Connection, seen: Seen, roots: list[str]) -> Seen:
    """Where no root tells the place of a transcript, a run over its root may have found it before."""
    if seen.root in map(os.path.realpath, roots) or (known := _known(store, seen.path)) is None:
        return seen
    kind = "subagent" if known.stem.startswith("agent-") else "main"
    return seen._replace(
        root=known.root, folder=known.folder, stem=known.stem, kind=kind, parent_session=known.parent_session
    )


def _known(store: sqlite3.Connection, path: str) -> Known | None:
    columns = ", ".join(Known._fields)
    row = store.execute(f"select {columns} from transcripts where path = ?", (path,)).fetchone()
    return None if row is None else Known._make(row)


def _forgotten(store: sqlite3.Connection) -> set[str]:
    return {row[0] for row in store.execute("select session_id from forgotten")}


def _is_forgotten(seen: Seen, forgotten: set[str]) -> bool:
    """Whether the user had its session forgotten (D16), as far as the file's place tells which one it is."""
    return seen.stem in forgotten or seen.path in forgotten or seen.parent_session in forgotten


def _mark_presence(store: sqlite3.Connection, gone: list[int], back: list[int]) -> None:
    if not gone and not back:
        return
    from crusts_index.index.sessions import settle_view

    with transaction(store):
        store.executemany("update transcripts set gone = 1 where id = ?", [(one,) for one in gone])
        store.executemany("update transcripts set gone = 0 where id = ?", [(one,) for one in back])
        sessions = {
            row[0]
            for one in [*gone, *back]
            for row in store.execute("select session_id from transcripts where id = ?", (one,))
            if row[0] is not None
        }
        for session in sessions:
            settle_view(store, session)


def _move(store: sqlite3.Connection, moved: list[tuple[Seen, Known]]) -> None:
    if not moved:
        return
    with transaction(store):
        for seen, known in moved:
            # What its names decide is to be read again, also where this run is killed before it comes to that.
            parser = known.parser if is_in_place(seen, known) else 0
            where = (seen.root, seen.folder, seen.kind, seen.stem, seen.parent_session)
            store.execute(
                "update transcripts set root = ?, folder = ?, kind = ?, stem = ?, parent_session = ?, parser = ?"
                " where path = ?",
                (*where, parser, seen.path),
            )


def _record_run(store: sqlite3.Connection, summary: Summary, kind: str, started: float) -> None:
    """Keep what a run did, if it did anything."""
    summary.seconds = round(time.time() - started, 3)
    if not (summary.changed or summary.gone):
        return
    from crusts_index import __version__

    with transaction(store):
        recorded = store.execute(
            "insert into runs (started_ms, duration_ms, kind, version, files, changed, gone, bytes_read, records,"
            " problems) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(int(started * 1000), int(summary.seconds * 1000), kind, __version__, summary.files),
                *(summary.changed, summary.gone, summary.bytes_read, summary.records, summary.problems),
            ),
        )
    summary.run = recorded.lastrowid
