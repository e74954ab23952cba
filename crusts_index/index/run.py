"""One run of the index: find, decide, read, write; and what it found out."""

from __future__ import annotations

import os
import sqlite3
import time

from crusts_index.index.find import Seen, Walk, find_one
from crusts_index.index.plan import Known, make_plan
from crusts_index.index.summary import Options, Summary
from crusts_index.store.open import explained, transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crusts_index.index.plan import Mark

__all__ = ["Options", "Summary", "index_files", "index_roots"]


def index_roots(store: sqlite3.Connection, path: str, roots: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with everything under the projects folders `roots`.

    Raises CrustsError for a store that is damaged, full or not to be written.
    """
    summary = Summary()
    started = time.time()
    seen: dict[str, Seen] = {}
    walked: list[Walk] = []
    for root in roots:
        walk = Walk(root)
        walk.transcripts()
        seen.update(walk.found)
        walked.append(walk)
        summary.unreadable += walk.unreadable
    with explained(store):
        marks = _marks(store)
        gone = [lost for walk in walked for lost in _vanished(walk, seen, marks)]
        _run(store, path, seen.values(), marks, gone, options, summary)
        _record_run(store, summary, options.kind, started)
    return summary


def index_files(store: sqlite3.Connection, path: str, files: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with the sessions of the named transcripts; nothing else is looked at."""
    summary = Summary()
    started = time.time()
    seen = {one.path: one for name in files for one in find_one(name)}
    with explained(store):
        _run(store, path, seen.values(), _marks(store, list(seen)), [], options, summary)
        _record_run(store, summary, options.kind, started)
    return summary


def _run(
    store: sqlite3.Connection,
    path: str,
    seen: Iterable[Seen],
    marks: dict[str, Mark],
    gone: list[str],
    options: Options,
    summary: Summary,
) -> None:
    forgotten = {row[0] for row in store.execute("select session_id from forgotten")}
    seen = [one for one in seen if not _is_forgotten(one, forgotten)] if forgotten else list(seen)
    plan = make_plan(seen, marks, lambda one: _known(store, one), gone)
    summary.files, summary.gone, summary.pending_bytes = len(seen), len(plan.gone), plan.pending_bytes
    if options.most_bytes is not None and plan.pending_bytes > options.most_bytes:
        summary.is_complete = False
        return
    _mark_presence(store, plan.gone, plan.back)
    if plan.metas:
        from crusts_index.index.metas import write_metas

        write_metas(store, plan.metas)
    if plan.jobs:
        # Only now: decoding is dear to import, and most runs have nothing to read.
        from crusts_index.index.ingest import ingest

        ingest(store, path, plan, options, summary)
        if forgotten:
            from crusts_index.index.forget import forget_returned

            forget_returned(store)
    (summary.calls,) = store.execute("select count(*) from api_calls").fetchone() if plan.jobs else (0,)


def _marks(store: sqlite3.Connection, paths: list[str] | None = None) -> dict[str, Mark]:
    sql = "select path, id, size, mtime_ns, parser, gone, meta_mtime_ns from transcripts"
    if paths is None:
        return {row[0]: row for row in store.execute(sql)}
    return {row[0]: row for path in paths for row in store.execute(f"{sql} where path = ?", (path,))}


def _known(store: sqlite3.Connection, transcript: int) -> Known:
    columns = ", ".join(Known._fields)
    return Known._make(store.execute(f"select {columns} from transcripts where id = ?", (transcript,)).fetchone())


def _vanished(walk: Walk, seen: dict[str, Seen], marks: dict[str, Mark]) -> Iterator[str]:
    """Known transcripts of a root that are not there. A root that is empty as a whole lost nothing (D4)."""
    if not walk.found:
        return
    blind = [path.rstrip(os.sep) for path, _ in walk.unreadable]
    for path in marks.keys() - seen.keys():
        is_lost = path.startswith(walk.root + os.sep)
        if is_lost and not any(path == folder or path.startswith(folder + os.sep) for folder in blind):
            yield path


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


def _record_run(store: sqlite3.Connection, summary: Summary, kind: str, started: float) -> None:
    """Keep what a run did, if it did anything."""
    summary.seconds = round(time.time() - started, 3)
    if not (summary.changed or summary.gone):
        last = store.execute("select kind from runs order by id desc limit 1").fetchone()
        summary.is_kept_up = last is not None and last[0] == "index"
        return
    from crusts_index import __version__

    with transaction(store):
        store.execute(
            "insert into runs (started_ms, duration_ms, kind, version, files, changed, gone, bytes_read, records,"
            " problems) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(int(started * 1000), int(summary.seconds * 1000), kind, __version__, summary.files),
                *(summary.changed, summary.gone, summary.bytes_read, summary.records, summary.problems),
            ),
        )
