"""One run of the index: find, decide, read, write; and what it found out."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from crusts_index.index.find import Seen, Walk, find_one
from crusts_index.index.metas import write_metas
from crusts_index.index.plan import Known, make_plan
from crusts_index.store.open import transaction


@dataclass
class Summary:
    """What a run did. Counts are of this run (`index --json`)."""

    files: int = 0
    changed: int = 0
    gone: int = 0
    bytes_read: int = 0
    records: int = 0
    calls: int = 0
    problems: int = 0
    seconds: float = 0.0
    pending_bytes: int = 0
    is_complete: bool = True
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    touched: list[int] = field(default_factory=list)
    """Ids of the transcripts that were read."""


Progress = Callable[[int, int], None]
"""Told after each stretch: bytes read so far, bytes to read in all."""


@dataclass
class Options:
    """How a run is done."""

    jobs: int | None = None
    keep_text: bool = True
    deadline: float | None = None
    """`time.monotonic()` after which no further transcript is begun or gone on with."""
    kind: str = "index"
    progress: Progress | None = None


def index_roots(store: sqlite3.Connection, path: str, roots: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with everything under the projects folders `roots`."""
    summary = Summary()
    started = time.time()
    seen: dict[str, Seen] = {}
    walked: list[Walk] = []
    for root in roots:
        walk = Walk(root)
        seen.update((one.path, one) for one in walk.transcripts())
        walked.append(walk)
        summary.unreadable += walk.unreadable
    known = _known(store)
    gone = [lost for walk in walked for lost in _vanished(walk, seen, known)]
    _run(store, path, seen.values(), known, gone, options, summary)
    _record_run(store, summary, options.kind, started)
    return summary


def index_files(store: sqlite3.Connection, path: str, files: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with the sessions of the named transcripts; nothing else is looked at."""
    summary = Summary()
    started = time.time()
    seen = {one.path: one for name in files for one in find_one(name)}
    _run(store, path, seen.values(), _known(store, list(seen)), [], options, summary)
    _record_run(store, summary, options.kind, started)
    return summary


def _run(
    store: sqlite3.Connection,
    path: str,
    seen: Iterable[Seen],
    known: dict[str, Known],
    gone: list[str],
    options: Options,
    summary: Summary,
) -> None:
    seen = [one for one in seen if not _is_forgotten(store, one)]
    plan = make_plan(seen, known, gone)
    summary.files, summary.gone, summary.pending_bytes = len(seen), len(plan.gone), plan.pending_bytes
    _mark_presence(store, plan.gone, plan.back)
    if plan.metas:
        write_metas(store, plan.metas)
    if plan.jobs:
        # Only now: decoding is dear to import, and most runs have nothing to read.
        from crusts_index.index.ingest import ingest

        ingest(store, path, plan, options, summary)
        if _has_forgotten(store):
            from crusts_index.index.forget import forget_returned

            forget_returned(store)
    (summary.calls,) = store.execute("select count(*) from api_calls").fetchone() if plan.jobs else (0,)


def _known(store: sqlite3.Connection, paths: list[str] | None = None) -> dict[str, Known]:
    columns = "id, path, size, mtime_ns, inode, offset, parser, gone, meta_mtime_ns, head_hash, tail_hash"
    if paths is None:
        rows = store.execute(f"select {columns} from transcripts")
        return {row[1]: Known(*row) for row in rows}
    found = (store.execute(f"select {columns} from transcripts where path = ?", (path,)).fetchone() for path in paths)
    return {row[1]: Known(*row) for row in found if row is not None}


def _vanished(walk: Walk, seen: dict[str, Seen], known: dict[str, Known]) -> Iterator[str]:
    """Known transcripts of a root that are not there. A root that is empty as a whole lost nothing (D4)."""
    if not any(one.root == walk.root for one in seen.values()):
        return
    blind = [path.rstrip(os.sep) for path, _ in walk.unreadable]
    for path in known:
        is_lost = path not in seen and path.startswith(walk.root + os.sep)
        if is_lost and not any(path == folder or path.startswith(folder + os.sep) for folder in blind):
            yield path


def _has_forgotten(store: sqlite3.Connection) -> bool:
    return store.execute("select 1 from forgotten limit 1").fetchone() is not None


def _is_forgotten(store: sqlite3.Connection, seen: Seen) -> bool:
    """Whether the user had its session forgotten (D16), as far as the file's place tells which one it is."""
    names = (seen.stem, seen.parent_session, seen.path)
    return store.execute("select 1 from forgotten where session_id in (?, ?, ?)", names).fetchone() is not None


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
