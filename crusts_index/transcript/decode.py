"""Turns the bytes of a line into records: the quick way, and the patient one for lines that are damaged or odd (D5)."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

from crusts_index.transcript.repair import clean, fit, has_odd_count
from crusts_index.transcript.shapes import Record

decode_record = msgspec.json.Decoder(Record).decode
"""The one record that a line holds, the quick way; raises one of `REFUSED` for a line that needs `decode_patiently`."""
REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)

# What a record begins with. A nested block or message begins otherwise, or is followed by what no record is.
_RECORD_START = re.compile(
    r'\{"(?:type|parentUuid|uuid|sessionId|session_id|isSidechain|leafUuid|messageId|summary|timestamp|cwd|key)"'
)
_ENVELOPE = frozenset(
    "sessionId session_id uuid parentUuid timestamp leafUuid messageId summary snapshot isSnapshotUpdate key".split()
)
_BLANK = " \t\r\n\x00\ufeff"
_LONGEST_INTEGER = 300


def _integer(digits: str) -> int | float:
    """Python refuses to parse integers of many thousand digits; no count comes near that."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float("inf")


_parser = json.JSONDecoder(strict=False, parse_int=_integer)


class Found(NamedTuple):
    """A record, and where on its line it stands."""

    record: Record
    start: int
    length: int


class Problem(NamedTuple):
    """Bytes of a line that are no record."""

    start: int
    length: int
    reason: str


class Decoded(NamedTuple):
    """What a line held."""

    found: list[Found]
    problems: list[Problem]


def is_object(line: bytes) -> bool:
    """Whether the whole line is one JSON object: only then a last line without its line end counts (D5)."""
    text = line.decode("utf-8", "surrogateescape").strip(_BLANK)
    if not text.startswith("{") or not text.endswith("}"):
        return False
    try:
        _, end = _parser.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return end == len(text)


def decode_patiently(line: bytes) -> Decoded:
    """Every whole record on a damaged or odd line, and what is left of it as problems.

    Offsets are those of the line's own bytes. Undecodable bytes and lone surrogates become U+FFFD, NULs go.
    """
    # surrogateescape keeps one character a bad byte, so that places can be turned back into offsets.
    text = line.decode("utf-8", "surrogateescape")
    offsets = _Offsets(text, len(line))
    found: list[Found] = []
    problems: list[Problem] = []
    at = 0
    while True:
        at = _skip_blank(text, at)
        if at >= len(text):
            return Decoded(found, problems)
        parsed = _parse_object(text, at)
        if parsed is None:
            following = _next_record(text, at)
            start, end = at, following if following is not None else len(text)
            problem_end = len(text[start:end].rstrip(_BLANK)) + start
            problems.append(_problem(text[start:problem_end], offsets, start, problem_end))
            if following is None:
                return Decoded(found, problems)
            at = following
            continue
        value, end = parsed
        start_byte = offsets.of(at)
        length = offsets.of(end) - start_byte
        found.append(Found(fit(clean(value)), start_byte, length))
        if has_odd_count(value):
            problems.append(Problem(start_byte, length, "a usage count is no number"))
        at = end


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
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _parse_object(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    if text[at] != "{":
        return None
    try:
        value, end = _parser.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _next_record(text: str, at: int) -> int | None:
    """Where the next whole record begins behind damage. A part of the damaged record is none: something follows it."""
    for match in _RECORD_START.finditer(text, at + 1):
        parsed = _parse_object(text, match.start())
        if parsed is None:
            continue
        value, end = parsed
        behind = _skip_blank(text, end)
        if (behind == len(text) or text[behind] == "{") and _ENVELOPE & value.keys():
            return match.start()
    return None


def _problem(part: str, offsets: _Offsets, start: int, end: int) -> Problem:
    first = offsets.of(start)
    return Problem(first, offsets.of(end) - first, _reason(part))


def _reason(part: str) -> str:
    try:
        value, end = _parser.raw_decode(part)
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "record cut short" if part.startswith("{") else "not JSON"
    if end == len(part) and not isinstance(value, dict):
        return "not an object"
    return "not JSON"
