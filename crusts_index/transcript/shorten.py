"""Shortens a line that is too long to be held: its texts are cut, all else stays. Fed with pieces as they are read."""

from __future__ import annotations

import re

LONGEST_TEXT = 1 << 20
"""Bytes that are kept of each text."""

# Short texts without escapes and what stands between them, as far as they go.
_passed = re.compile(rb'(?:[^"]*+"[^"\\]{0,4096}+")*+').match
# A text up to its end, or to the end of the piece; a last backslash stays, for what it escapes is still to come.
_inside = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL).match
# What of a text that was cut is whole: no half escape, no half character.
_whole = re.compile(rb'(?:[^"\\]++|\\(?:u[0-9a-fA-F]{4}|[^u]))*+', re.DOTALL).match
_torn = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z").search


class Shortener:
    """One line, shortened to at most `most` bytes; where its texts are not what makes it long, it is given up."""

    def __init__(self, most: int, longest_text: int = LONGEST_TEXT) -> None:
        self._most, self._longest_text = most, longest_text
        self._kept = bytearray()
        self._left: int | None = None
        """Bytes that the text in hand may still have; None outside."""
        self._begin = 0
        """Where the text in hand begins in what is kept."""
        self._rest = b""

    @property
    def line(self) -> bytes | None:
        """What is kept of the line; None where it was given up."""
        return bytes(self._kept + self._rest) if len(self._kept) < self._most else None

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        piece, self._rest = self._rest + piece, b""
        at = 0
        while at < len(piece) and len(self._kept) < self._most:
            at = self._pass(piece, at) if self._left is None else self._cut(piece, at)

    def _pass(self, piece: bytes, at: int) -> int:
        """Keep all up to the next long text."""
        passed = _passed(piece, at)
        begin = piece.find(b'"', passed.end() if passed else at)
        end = begin + 1 or len(piece)
        self._kept += piece[at:end]
        if begin >= 0:
            self._left, self._begin = self._longest_text, len(self._kept)
        return end

    def _cut(self, piece: bytes, at: int) -> int:
        """Keep the beginning of a text."""
        end = self._end_of_text(piece, at)
        if self._left:
            self._kept += piece[at : min(end, at + self._left)]
            self._left = max(0, self._left - (end - at))
            if not self._left:
                self._trim()
        if piece[end : end + 1] == b'"':
            self._kept += b'"'
            self._left = None
            return end + 1
        self._rest = piece[end:]
        return len(piece)

    def _end_of_text(self, piece: bytes, at: int) -> int:
        """Where the text in hand ends, or how far the piece goes."""
        if b"\\" not in piece:
            end = piece.find(b'"', at)
            return end if end >= 0 else len(piece)
        inside = _inside(piece, at)
        return inside.end() if inside else at

    def _trim(self) -> None:
        """Take off what the cut left of an escape or a character."""
        whole = _whole(self._kept, self._begin)
        if whole:
            del self._kept[whole.end() :]
        torn = _torn(self._kept, max(self._begin, len(self._kept) - 4))
        if torn:
            del self._kept[torn.start() :]
