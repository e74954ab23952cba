"""What a run would read: transcripts on disk that the store does not have, or not whole. Looks, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable

from crusts_index.index.find import Walk
from crusts_index.index.plan import PARSER
from crusts_index.store.driver import sqlite3
from crusts_index.tuples import NamedTuple


class Pending(NamedTuple):
    """A transcript that is not read to its end."""

    path: str
    mtime_ns: int
    unread_bytes: int


class Look(NamedTuple):
    """What was found under the roots."""

    files: int
    """Transcripts on disk, forgotten ones left out."""
    pending: list[Pending]
    older: int
    """Transcripts that an older parser read."""
    unreadable: list[tuple[str, str]]


def look(store: sqlite3.Connection | None, roots: Iterable[str]) -> Look:
    """Compare what is under the projects folders `roots` with the store; without one all is pending."""
    known: dict[str, tuple[int, int, int, int]] = {}
    forgotten: set[str] = set()
    if store is not None:
        rows = store.execute("select path, size, mtime_ns, offset, parser from transcripts")
        known = {path: (size, mtime_ns, offset, parser) for path, size, mtime_ns, offset, parser in rows}
        forgotten = {row[0] for row in store.execute("select session_id from forgotten")}
    found = Look(0, [], 0, [])
    files = older = 0
    for root in roots:
        walk = Walk(root)
        for seen in walk.transcripts():
            if forgotten & {seen.stem, seen.parent_session or "", seen.path}:
                continue
            files += 1
            size, mtime_ns, offset, parser = known.get(seen.path, (-1, 0, 0, PARSER))
            older += parser != PARSER
            if (seen.size, seen.mtime_ns) != (size, mtime_ns):
                unread = seen.size - offset if seen.size > offset else seen.size
                found.pending.append(Pending(seen.path, seen.mtime_ns, unread))
        found.unreadable.extend(walk.unreadable)
    return found._replace(files=files, older=older)
