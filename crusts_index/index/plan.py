"""Decides what is to be done with each transcript, from what is on disk and what the store remembers (D4). Pure."""

from __future__ import annotations

from crusts_index.index.find import Seen
from crusts_index.tuples import NamedTuple

PARSER = 5
"""Number of the parser. Who reads the same bytes otherwise raises it: live transcripts are then read again."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crusts_index.index.find import Project

    Mark = tuple[str, int, int, int, int, str, str]
    """What tells that a transcript is as it was: path, size, mtime_ns, that of its .meta.json, parser, root, folder."""
    Recall = Callable[[str], "Known | None"]


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
    root: str
    folder: str
    stem: str
    parent_session: str | None


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
    moved: list[tuple[Seen, Known]]
    """Transcripts that are found under another root now: by another name of it, or through another link."""
    pending_bytes: int


def changed(project: Project, places: Iterable[int], marks: dict[str, Mark], root: str) -> list[str]:
    """Paths of those of a project's transcripts, under a root, that are not as they were when read, or not known."""
    found: list[str] = []
    paths, numbers = project.paths(), project.numbers()
    for place in places:
        path, mark = paths[place], marks.get(paths[place])
        if mark is None or mark[1:] != (*numbers[3 * place : 3 * place + 3], PARSER, root, project.name):
            found.append(path)
    return found


def make_plan(seen: Iterable[Seen], recall: Recall, gone: list[int]) -> Plan:
    """What to do with transcripts that changed. `recall` gives what is known of one; `gone` are those that vanished."""
    jobs: list[Job] = []
    back: list[int] = []
    metas: list[Job] = []
    moved: list[tuple[Seen, Known]] = []
    pending = 0
    for one in seen:
        known = recall(one.path)
        if known is None:
            jobs.append(Job(one, None))
            pending += one.size
            continue
        is_same_place = is_in_place(one, known)
        if one.size != known.size or one.mtime_ns != known.mtime_ns or known.parser != PARSER or not is_same_place:
            jobs.append(Job(one, known))
            pending += unread_bytes(one, known)
        elif known.gone:
            back.append(known.id)
        if one.root != known.root or not is_same_place:
            moved.append((one, known))
        if one.meta_mtime_ns != known.meta_mtime_ns and one.meta_path is not None:
            metas.append(Job(one, known))
    return Plan(jobs, back, metas, gone, moved, pending)


def unread_bytes(seen: Seen, known: Known | None) -> int:
    """Bytes of a transcript that are to be read, as far as can be told without looking at them."""
    if known is None or known.parser != PARSER or seen.size <= known.offset or not is_in_place(seen, known):
        return seen.size
    return seen.size - known.offset


def spare(jobs: list[Job], most: int) -> list[Job]:
    """The jobs without what another parser has read: of that so many bytes, whole transcripts, the latest first.

    A run that is short of time answers from what that one made of the others.
    """
    left: set[int] = set()
    for job in sorted(jobs, key=lambda job: job.seen.mtime_ns, reverse=True):
        known = job.known
        # Parser 0: nothing is read yet, or its place is another one now.
        if known is not None and known.parser not in (0, PARSER) and is_in_place(job.seen, known):
            most -= job.seen.size
            if most < 0:
                left.add(known.id)
    return [job for job in jobs if job.known is None or job.known.id not in left]


def is_in_place(seen: Seen, known: Known) -> bool:
    """Whether its names say what they said when it was read: they decide about its session and project (D3)."""
    return (seen.folder, seen.stem, seen.parent_session) == (known.folder, known.stem, known.parent_session)
