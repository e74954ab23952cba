"""Cuts a span of a transcript into lines with their offsets, at `\\n` only (D5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

BUFFER_BYTES = 1 << 20
"""Read-ahead. Iterating a file with a buffer of this size costs a quarter of read-and-split."""


def lines(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield `(offset, line)` of the bytes from `start` up to `end`.

    Only the last line may lack its line end: the file's own last line, or one that `end` cuts.
    """
    file.seek(start)
    offset = start
    for line in file:
        following = offset + len(line)
        if following > end:
            line = line[: end - offset]
            if line:
                yield offset, line
            return
        yield offset, line
        offset = following
