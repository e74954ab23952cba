"""Turns the bytes of a line that is damaged or odd into records, patiently (D5). Most runs meet none."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from crusts_index.transcript.parse import parser
from crusts_index.transcript.repair import clean, fit, has_odd_count
from crusts_index.transcript.scan import scan
from crusts_index.transcript.shapes import Record

# What a record begins with. A nested block or message begins otherwise, or is followed by what no record is.
_RECORD_START = re.compile(
    r'\{"(?:type|parentUuid|uuid|sessionId|session_id|isSidechain|leafUuid|messageId|summary|timestamp|cwd|key)"'
)
_ENVELOPE = frozenset(
    "sessionId session_id uuid parentUuid timestamp leafUuid messageId summary snapshot isSnapshotUpdate key".split()
)
_BLANK = " \t\r\n\x00\ufeff"
_blank = re.compile(f"[{_BLANK}]*+").match


class Found(NamedTuple):
    """A record, and where on its line it stands."""

    record: Record
    start: int
    length: int
    value: dict[str, Any]
    """All of it, without NULs and without what is nested too deeply."""


class Problem(NamedTuple):
    """Bytes of a line that are no record, or a part of one that was left out."""

    start: int
    length: int
    reason: str


class Decoded(NamedTuple):
    """What a line held."""

    found: list[Found]
    problems: list[Problem]


def is_object(line: bytes) -> bool:
    """Whether the whole line is one JSON object: only then a last line without its line end counts (D5)."""
    if not line.rstrip(b" \t\r\0").endswith(b"}"):
        return False
    text = line.decode("utf-8", "surrogateescape").strip(_BLANK)
    return text.startswith("{") and scan(text, 0).end == len(text)


def decode_patiently(line: bytes) -> Decoded:
    """Every whole record on a damaged or odd line, and what is left of it as problems.

    Offsets are those of the line's own bytes. Undecodable bytes and lone surrogates become U+FFFD, NULs go. The work
    is in proportion to the bytes: none is scanned more than a few times.
    """
    # surrogateescape keeps one character a bad byte, so that places can be turned back into offsets.
    text = line.decode("utf-8", "surrogateescape")
    offsets = _Offsets(text, len(line))
    found: list[Found] = []
    problems: list[Problem] = []
    at = _skip_blank(text, 0)
    while at < len(text):
        value = _object(text, at)
        if value.end < 0:
            following = _next_record(text, value)
            end = len(text[at : following.start].rstrip(_BLANK)) + at
            problems.append(_problem(text, at, end, offsets))
            value = following
        if value.end > 0:
            _take(value, offsets, found, problems)
            at = _skip_blank(text, value.end)
        else:
            at = len(text)
    return Decoded(found, problems)


class _Object(NamedTuple):
    """An object in a text, or what looked like the beginning of one."""

    start: int
    end: int
    """Behind it; -1 where there is no whole one."""
    stop: int
    inner: int
    """Both as of `Scan`."""
    deep: list[tuple[int, int]]
    value: dict[str, Any]


def _object(text: str, start: int) -> _Object:
    """The object that begins at a place."""
    if text[start] != "{":
        return _Object(start, -1, start, -1, [], {})
    end, stop, inner, deep = scan(text, start)
    if end < 0:
        return _Object(start, -1, stop, inner, [], {})
    if not deep:
        value, _ = parser.raw_decode(text, start)
    else:
        # What is nested too deeply is left out: `null` stands in its place.
        ends = [start, *(place for span in deep for place in span), end]
        kept = [text[one:other] for one, other in zip(ends[::2], ends[1::2], strict=True)]
        value, _ = parser.raw_decode("null".join(kept))
    return _Object(start, end, stop, inner, deep, value)


def _next_record(text: str, damaged: _Object) -> _Object:
    """The next whole record behind damage, or an empty one at the end of the text.

    A part of the damaged record is none: something follows it. Only where a record begins inside a text, or where one
    ends right before the damage, can it be other than a part.
    """
    while True:
        if damaged.inner >= 0 and _RECORD_START.match(text, damaged.inner):
            found = _object(text, damaged.inner)
            if _is_record(text, found):
                return found
        # A record that begins inside a text ends that text with its first quotation mark.
        begins = _RECORD_START.search(text, max(damaged.start + 1, damaged.stop - 2))
        if begins is None:
            return _Object(len(text), -1, len(text), -1, [], {})
        found = _object(text, begins.start())
        if _is_record(text, found):
            return found
        damaged = found


def _is_record(text: str, found: _Object) -> bool:
    """Whether a whole object behind damage is a record by itself."""
    if found.end < 0 or not _ENVELOPE & found.value.keys():
        return False
    behind = _skip_blank(text, found.end)
    return behind == len(text) or text[behind] == "{"


def _take(value: _Object, offsets: _Offsets, found: list[Found], problems: list[Problem]) -> None:
    """Make a record of an object, and say what is wrong with it."""
    start = offsets.of(value.start)
    deep = [offsets.of(place) for place in value.deep[0]] if value.deep else []
    length = offsets.of(value.end) - start
    if has_odd_count(value.value):
        problems.append(Problem(start, length, "a usage count is no number"))
    if deep:
        problems.append(Problem(deep[0], deep[1] - deep[0], "nested too deeply"))
    cleaned = clean(value.value)
    found.append(Found(fit(cleaned), start, length, cleaned))


class _Offsets:
    """Byte offsets of places in a decoded line, asked for in rising order."""

    def __init__(self, text: str, length: int) -> None:
        self._text, self._place, self._byte = text, 0, 0
        self._ascii = len(text) == length

    def of(self, place: int) -> int:
        if self._ascii:
            return place
        self._byte += len(self._text[self._place : place].encode("utf-8", "surrogateescape"))
        self._place = place
        return self._byte


def _skip_blank(text: str, at: int) -> int:
    blank = _blank(text, at)
    return blank.end() if blank else at


def _problem(text: str, start: int, end: int, offsets: _Offsets) -> Problem:
    """Why a part of a line is no record."""
    first = offsets.of(start)
    reason = "not JSON"
    if text[start] == "{":
        reason = "record cut short"
    elif scan(text, start).end == end:
        reason = "not an object"
    return Problem(first, offsets.of(end) - first, reason)
