"""Reads what is new in one transcript and turns it into stretches of rows, each small enough for one transaction."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO

from crusts_index.index.find import reason
from crusts_index.index.past import Connect, StoredPast
from crusts_index.index.plan import PARSER, Job, is_in_place
from crusts_index.index.sessions import placed_session
from crusts_index.regular import open_regular
from crusts_index.transcript.decode import decode_quickly, without_nuls
from crusts_index.transcript.digest import hash128
from crusts_index.transcript.fold import Fold
from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.rows import Row, thread_id
from crusts_index.transcript.state import State
from crusts_index.transcript.weights import SHIPPED_WEIGHTS, Weights
from crusts_index.tuples import NamedTuple

BUFFER_BYTES = 1 << 20
"""Read-ahead. Iterating a file with a buffer of this size costs a quarter of read-and-split."""

LONGEST_LINE = 64 << 20
"""Bytes of a line that are read as they stand; of a longer one texts are cut, so that memory stays bounded."""

STRETCH_BYTES = 4 << 20
"""Bytes of a transcript after which its rows are handed on: this bounds memory and the length of a transaction."""

RECORD_BYTES = 1536
"""What a record counts as at least, however short its line: its rows take more memory than that."""

EDGE_BYTES = 4096
"""How much before the offset is hashed, from the beginning and from the end (D4)."""

APPEND, RETAIN, DROP = "append", "retain", "drop"
"""How a stretch treats what the store has of the transcript: go on; replace, and retain billed calls; replace."""


class Stretch(NamedTuple):
    """Rows of one stretch of a transcript, with the state behind it."""

    transcript_id: int
    mode: str
    offset: int
    size: int
    mtime_ns: int
    inode: int
    head_hash: bytes
    tail_hash: bytes
    is_last: bool
    is_first: bool
    rows: dict[str, list[Any]]
    continued: list[int]
    again: list[tuple[int, int, int]]
    state: str
    about: dict[str, Any]
    messages: list[tuple[int, int]]
    """Messages so far and the id of the thread that has them."""
    records: int
    bytes_read: int
    basis: tuple[int, int, int]
    """Offset, size and mtime that the store had when this was read: another run may have been here since."""


Task = tuple[Job, int]
"""A transcript to be read, and its id."""

Outcome = tuple[Job, Stretch | str | None]
"""A job with its next stretch; with None behind its last one; or with the reason why it could not be read."""


IsUp = Callable[[int], bool]
"""Whether the time of a run is up, told how many bytes were read that are not yet handed on."""


class Manner(NamedTuple):
    """How transcripts are read."""

    keep_text: bool = True
    weights: Weights = SHIPPED_WEIGHTS
    """By which blocks are estimated (D9)."""


_USUAL = Manner()


def read_here(tasks: Iterable[Task], connect: Connect, manner: Manner, is_up: IsUp | None = None) -> Iterator[Outcome]:
    """Read the transcripts in this process, one after the other; `is_up` ends a stretch early."""
    for job, transcript_id in tasks:
        try:
            for stretch in read(job, transcript_id, connect, manner, is_up):
                yield job, stretch
        except OSError as error:
            yield job, reason(error)
        yield job, None


def read(
    job: Job, transcript_id: int, connect: Connect, manner: Manner = _USUAL, is_up: IsUp | None = None
) -> Iterator[Stretch]:
    """Read what is new in a transcript. Raises OSError where it cannot be read."""
    with open_regular(job.seen.path, buffering=max(EDGE_BYTES, min(BUFFER_BYTES, job.seen.size))) as file:
        about = os.fstat(file.fileno())
        mode = _mode(job, file, about)
        start = job.known.offset if job.known is not None and mode == APPEND else 0
        past = StoredPast(connect(), transcript_id) if start else None
        state = _state_of(past) if past is not None else None
        if past is not None and state is None:
            mode, start, past = DROP, 0, None
        fold = Fold(transcript_id, job.seen.kind, past, state, placed_session(job.seen), manner.weights)
        known = job.known
        basis = (known.offset, known.size, known.mtime_ns) if known is not None else (0, -1, 0)
        reader = _Reader(fold, file, start, about.st_size)
        is_first = True
        for end, is_last in reader.stretches(is_up):
            batch = fold.take()
            batch.rows["context_reports"] = _context_rows(batch.contexts)
            said = msgspec.structs.asdict(fold.state.about) | {"record_session": fold.state.record_session}
            rows, left = batch.rows, fold.state.dump()
            if not manner.keep_text:
                from crusts_index.index.privacy import withhold, withhold_from  # few keep no text

                rows, said = withhold(rows), withhold_from("transcripts", said)
                left = withhold_from("fold_states", {"state": left})["state"]
            edges = _edges(file, end)
            yield Stretch(
                transcript_id=transcript_id,
                mode=mode,
                offset=end,
                size=about.st_size if is_last else -1,
                mtime_ns=about.st_mtime_ns,
                inode=about.st_ino,
                head_hash=edges[0],
                tail_hash=edges[1],
                is_last=is_last,
                is_first=is_first,
                rows=rows,
                continued=batch.continued,
                again=batch.again,
                state=left,
                about=said,
                messages=[
                    (thread.messages, thread_id(transcript_id, number))
                    for number, thread in enumerate(fold.state.threads)
                    if thread.messages
                ],
                records=batch.records,
                bytes_read=end - start,
                basis=basis,
            )
            basis = (end, -1, about.st_mtime_ns)
            start, is_first = end, False


class _Reader:
    """Feeds lines to a fold and says where a stretch ends."""

    def __init__(self, fold: Fold, file: BinaryIO, start: int, size: int) -> None:
        self._fold, self._file, self._start, self._size = fold, file, start, size

    def stretches(self, is_up: IsUp | None) -> Iterator[tuple[int, bool]]:
        """Yield `(offset consumed up to, whether that was all)`."""
        add, size, offset = self._fold.add, self._size, self._start
        begin, room = offset, STRETCH_BYTES
        self._file.seek(offset)
        for line in iter(partial(self._file.readline, LONGEST_LINE), b""):
            if len(line) == LONGEST_LINE and line[-1] != 10:
                end = self._add_long(offset, line)
                if end == offset:
                    break
                yield end, False
                begin = offset = end
                room = STRETCH_BYTES
                continue
            end = offset + len(line)
            if end >= size:
                line = line[: size - offset]
                if not line or (line[-1] != 10 and not _is_object(line)):
                    break  # half a line at the end waits (D5)
                end = offset + len(line)
            sound = without_nuls(line)
            record = decode_quickly(sound)
            if record is None:
                self._add_patiently(offset, line)
            else:
                # Bytes before the braces or behind them are white space, or the line would not have parsed.
                if line[-1] == 10 and line[-2] == 125 and line[0] == 123:
                    add(offset, end - offset - 1, record, sound)
                else:
                    add(offset + len(line) - len(line.lstrip()), len(line.strip()), record, sound)
            room -= max(end - offset, RECORD_BYTES)
            offset = end
            if room <= 0 or (is_up is not None and is_up(offset - begin)):
                yield offset, False
                begin, room = offset, STRETCH_BYTES
        yield offset, True

    def _add_long(self, offset: int, piece: bytes) -> int:
        """Take a line of which only the beginning was read, its texts cut; gives back where the next one begins."""
        from crusts_index.transcript.damaged import decode_patiently
        from crusts_index.transcript.shorten import Shortener

        shortener, end = Shortener(LONGEST_LINE), offset
        while piece:
            end += len(piece)
            shortener.add(piece)
            if piece.endswith(b"\n"):
                break
            piece = self._file.readline(min(BUFFER_BYTES, max(0, self._size - end)))
        line = shortener.line
        is_ended = piece.endswith(b"\n")
        if not is_ended and (line is None or not _is_object(line)):
            return offset
        length = end - offset - is_ended
        found, problems = decode_patiently(line) if line is not None else ([], [])
        if len(found) == 1 and not problems:
            self._fold.add(offset, length, found[0].record, found[0].value)
            self._fold.problem(offset, length, "too long: its texts were cut")
        else:
            self._fold.problem(offset, length, "too long")
        return end

    def _add_patiently(self, offset: int, line: bytes) -> None:
        if line.isspace():
            return
        from crusts_index.transcript.damaged import decode_patiently  # few files have such a line

        decoded = decode_patiently(line)
        for found in decoded.found:
            self._fold.add(offset + found.start, found.length, found.record, found.value)
        for problem in decoded.problems:
            self._fold.problem(offset + problem.start, problem.length, problem.reason)


def _is_object(line: bytes) -> bool:
    from crusts_index.transcript.damaged import is_object

    return is_object(line)


def _context_rows(outputs: list[Row]) -> list[Row]:
    if not outputs:
        return []
    # Only now: most transcripts have none.
    from crusts_index.index.contexts import context_rows

    return list(context_rows(outputs))


def _state_of(past: StoredPast) -> State | None:
    """The state that an earlier run left; None where it is damaged or of another form: then all is read again."""
    try:
        return State.load(past.state())
    except msgspec.MsgspecError:
        return None


def _mode(job: Job, file: BinaryIO, about: os.stat_result) -> str:
    """How to treat what the store has: by inode, size and the hashes of both edges (D4)."""
    known = job.known
    if known is None or known.offset == 0:
        return APPEND
    holds = known.inode == about.st_ino and about.st_size >= known.offset
    if holds:
        holds = _edges(file, known.offset) == (known.head_hash, known.tail_hash)
    if holds and (known.parser != PARSER or not is_in_place(job.seen, known)):
        return DROP
    if not holds or about.st_size == known.size:
        return RETAIN
    return APPEND


def _edges(file: BinaryIO, offset: int) -> tuple[bytes, bytes]:
    head = os.pread(file.fileno(), min(EDGE_BYTES, offset), 0)
    tail = os.pread(file.fileno(), min(EDGE_BYTES, offset), max(0, offset - EDGE_BYTES))
    return hash128(head), hash128(tail)


@contextmanager
def without_collector() -> Iterator[None]:
    """Rows form no cycles; looking for some costs a twentieth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
