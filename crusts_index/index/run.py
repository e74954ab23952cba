"""One run of the index: find, decide, read, write; and what it found out."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib

from crusts_index.index.find import Seen, Walk, find_one
from crusts_index.index.plan import PARSER, Known, changed, make_plan
from crusts_index.index.summary import Options, Summary
from crusts_index.store.open import explained, transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crusts_index.index.plan import Mark

_NOT_PLAIN = """
select 1 from forgotten union all select 1 from transcripts where gone = 0 and (parser <> ? or size < 0) limit 1
"""
"""Whether it takes more than a look: sessions to be left out, transcripts that are not read or by another parser."""

_MARKS = "select path, size, mtime_ns, meta_mtime_ns, parser from transcripts where gone = 0"

__all__ = ["Options", "Summary", "index_files", "index_roots"]


def index_roots(store: sqlite3.Connection, path: str, roots: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with everything under the projects folders `roots`.

    Raises CrustsError for a store that is damaged, full or not to be written.
    """
    summary = Summary()
    started = time.time()
    walks = [Walk(root) for root in roots]
    for walk in walks:
        walk.walk()
        summary.unreadable += walk.unreadable
    with explained(store):
        look = _look(store, walks)
        if look is not None and look == _last_look(store):
            # As at the end of the last run that left nothing out: no transcript need be compared.
            summary.files = sum(len(walk.found) for walk in walks)
            _record_run(store, summary, options.kind, started)
            return summary
        marks: dict[str, Mark] = {row[0]: row for row in store.execute(_MARKS)}
        forgotten = _forgotten(store)
        seen: dict[str, Seen] = {}
        gone: list[int] = []
        for walk in walks:
            summary.files += len(walk.found) - len(seen.keys() & walk.found.keys())
            seen.update((one, walk.seen(one)) for one in changed(walk.found, marks))
            gone += [known.id for one in _vanished(walk, walks, marks) if (known := _known(store, one)) is not None]
        is_whole = _run(store, path, list(seen.values()), forgotten, gone, options, summary)
        if is_whole and look is not None:
            _keep_look(store, look)
        _record_run(store, summary, options.kind, started)
    return summary


def index_files(store: sqlite3.Connection, path: str, files: Iterable[str], options: Options) -> Summary:
    """Bring the store up to date with the sessions of the named transcripts; nothing else is looked at."""
    summary = Summary()
    started = time.time()
    seen = {one.path: one for name in files for one in find_one(name)}
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
    plan = make_plan(seen, lambda one: _known(store, one), gone)
    summary.gone, summary.pending_bytes = len(plan.gone), plan.pending_bytes
    if options.most_bytes is not None and plan.pending_bytes > options.most_bytes:
        summary.is_complete = False
        return False
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
        (summary.calls,) = store.execute("select count(*) from api_calls").fetchone()
    return len(summary.touched) == len(plan.jobs)


def _look(store: sqlite3.Connection, walks: list[Walk]) -> str | None:
    """What tells one state of all transcripts from another, in a few bytes; None where not all could be seen."""
    if any(walk.unreadable for walk in walks) or store.execute(_NOT_PLAIN, (PARSER,)).fetchone():
        return None
    found = [walk.found for walk in walks]
    # The hash of a tuple of numbers is the same in every process, which that of a text is not.
    numbers = hash(
        tuple([n for one in found for s in one.values() for n in (s[0].st_size, s[0].st_mtime_ns, s[4] or 0)])
    )
    paths = "\n".join(["\n".join(one) for one in found]).encode("utf-8", "surrogateescape")
    return f"{PARSER} {numbers:x} {zlib.crc32(paths):x} {len(paths)}"


def _last_look(store: sqlite3.Connection) -> str | None:
    row = store.execute("select value from store_facts where name = 'look'").fetchone()
    return None if row is None else row[0]


def _keep_look(store: sqlite3.Connection, look: str) -> None:
    if look != _last_look(store):
        with transaction(store):
            store.execute("insert or replace into store_facts (name, value) values ('look', ?)", (look,))


def _known(store: sqlite3.Connection, path: str) -> Known | None:
    columns = ", ".join(Known._fields)
    row = store.execute(f"select {columns} from transcripts where path = ?", (path,)).fetchone()
    return None if row is None else Known._make(row)


def _forgotten(store: sqlite3.Connection) -> set[str]:
    return {row[0] for row in store.execute("select session_id from forgotten")}


def _vanished(walk: Walk, walks: list[Walk], marks: dict[str, Mark]) -> Iterator[str]:
    """Known transcripts of a root that are not there. A root that is empty as a whole lost nothing (D4)."""
    if not walk.found:
        return
    blind = [path.rstrip(os.sep) for path, _ in walk.unreadable]
    for path in marks.keys() - walk.found.keys():
        is_lost = path.startswith(walk.root + os.sep) and not any(path in other.found for other in walks)
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
