"""Decides what is to be done with each transcript, from what is on disk and what the store remembers (D4). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crusts_index.index.find import Seen

PARSER = 1
"""Number of the parser. A change that reads the same bytes otherwise raises it: live transcripts are then read anew."""


class Known(NamedTuple):
    """What the store remembers of a transcript."""

    id: int
    path: str
    size: int
    mtime_ns: int
    inode: int
    offset: int
    parser: int
    gone: int
    meta_mtime_ns: int | None
    head_hash: bytes | None
    tail_hash: bytes | None


class Job(NamedTuple):
    """A transcript to be read. The reader looks at the bytes and settles whether it may go on from the offset."""

    seen: Seen
    known: Known | None


class Plan(NamedTuple):
    """What a run has to do."""

    jobs: list[Job]
    back: list[int]
    """Ids of transcripts that were gone and are there again, unchanged."""
    metas: list[Job]
    """Subagent transcripts whose .meta.json changed."""
    gone: list[int]
    """Ids of transcripts that vanished."""
    pending_bytes: int


def make_plan(seen: Iterable[Seen], known: dict[str, Known], gone_paths: Iterable[str] = ()) -> Plan:
    """Compare. `gone_paths` are the known paths that a whole walk did not find."""
    jobs: list[Job] = []
    back: list[int] = []
    metas: list[Job] = []
    pending = 0
    for one in seen:
        before = known.get(one.path)
        if before is None or _has_changed(one, before):
            jobs.append(Job(one, before))
            grown = before is not None and one.size > before.offset
            pending += one.size - (before.offset if grown and before is not None else 0)
        elif before.gone:
            back.append(before.id)
        if before is not None and one.meta_mtime_ns != before.meta_mtime_ns and one.meta_path is not None:
            metas.append(Job(one, before))
    gone = [known[path].id for path in gone_paths if not known[path].gone]
    return Plan(jobs, back, metas, gone, pending)


def _has_changed(seen: Seen, known: Known) -> bool:
    return (seen.size, seen.mtime_ns) != (known.size, known.mtime_ns) or known.parser != PARSER
