"""Decides what is to be done with each transcript, from what is on disk and what the store remembers (D4). Pure."""

from __future__ import annotations

from collections import namedtuple

from crusts_index.index.find import Seen

PARSER = 1
"""Number of the parser. A change that reads the same bytes otherwise raises it: live transcripts are then read anew."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NamedTuple

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

    Mark = tuple[str, int, int, int, int, int, int | None]
    """What tells whether a transcript changed: path, id, size, mtime_ns, parser, gone, meta_mtime_ns."""

    class Job(NamedTuple):
        """A transcript to be read. The reader looks at the bytes and settles whether it may go on from the offset."""

        seen: Seen
        known: Known | None

    Recall = Callable[[int], Known]

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

else:  # on the quick path, where typing is dear to import
    Known = namedtuple("Known", "id path size mtime_ns inode offset parser gone meta_mtime_ns head_hash tail_hash")
    Job = namedtuple("Job", "seen known")
    Plan = namedtuple("Plan", "jobs back metas gone pending_bytes")


def make_plan(seen: Iterable[Seen], marks: dict[str, Mark], recall: Recall, gone_paths: Iterable[str] = ()) -> Plan:
    """Compare. `recall` gives all that is known of a transcript; `gone_paths` are those that a walk did not find."""
    jobs: list[Job] = []
    back: list[int] = []
    metas: list[Job] = []
    pending = 0
    for one in seen:
        mark = marks.get(one.path)
        if mark is None:
            jobs.append(Job(one, None))
            pending += one.size
            continue
        _, transcript, size, mtime_ns, parser, gone, meta_mtime_ns = mark
        if one.size != size or one.mtime_ns != mtime_ns or parser != PARSER:
            known = recall(transcript)
            jobs.append(Job(one, known))
            pending += one.size - known.offset if one.size > known.offset else one.size
        elif gone:
            back.append(transcript)
        if one.meta_mtime_ns != meta_mtime_ns and one.meta_path is not None:
            metas.append(Job(one, recall(transcript)))
    vanished = [marks[path][1] for path in gone_paths if not marks[path][5]]
    return Plan(jobs, back, metas, vanished, pending)
