"""Finds where a JSON value in a text ends: in one pass, without recursion, whatever stands there (D5).

What parsers say of a damaged text is no help: they give up on deep nesting without a place, and asked again from every
place where a record may begin they read the same bytes over and over.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crusts_index.transcript.depth import DEEPEST

_BLANK = r"[ \t\r\n]*+"
_STRING = r'"(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_SCALAR = rf"(?:{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null|NaN|-?Infinity)"
_value = re.compile(rf"{_BLANK}(?:{_SCALAR}|[\[{{])").match
_next = re.compile(rf"{_BLANK}[,\]}}]").match
_key = re.compile(rf"{_BLANK}{_STRING}{_BLANK}:").match
# Members and items that are no containers, with the comma behind each: most of a text is passed over by these.
_RUN = {
    "{": re.compile(rf"(?:{_BLANK}{_STRING}{_BLANK}:{_BLANK}{_SCALAR}{_BLANK},)*+").match,
    "[": re.compile(rf"(?:{_BLANK}{_SCALAR}{_BLANK},)*+").match,
}
_END = {"{": re.compile(rf"{_BLANK}}}").match, "[": re.compile(rf"{_BLANK}]").match}
_CLOSER = {"{": "}", "[": "]"}


class Scan(NamedTuple):
    """What was found from a place on."""

    end: int
    """Behind the value; -1 where there is no whole one."""
    stop: int
    """Where no value could go on: whatever is open there is damaged. The end of a whole one."""
    inner: int
    """Where the container begins that ends right before `stop`; -1 for none."""
    deep: list[tuple[int, int]]
    """Spans of values that are nested too deeply."""


def scan(text: str, at: int) -> Scan:
    """The JSON value that begins at a place, and how far the text is one where it does not end.

    What is taken for a value is what the standard library's parser takes, control characters let through.
    """
    opened: list[int] = []
    deep: list[tuple[int, int]] = []
    inner, inner_end = -1, -1
    while found := _value(text, at):
        at = found.end()
        is_fresh = text[at - 1] in "{["
        if is_fresh:
            opened.append(at - 1)
        while opened:
            kind = text[opened[-1]]
            at, goes_on = _go_on(text, at, kind, is_fresh=is_fresh)
            if goes_on is None:
                return Scan(-1, at, inner if inner_end == at else -1, deep)
            if goes_on:
                break
            inner, inner_end, is_fresh = opened.pop(), at, False
            if len(opened) == DEEPEST:
                deep.append((inner, at))
        else:
            return Scan(at, at, -1, deep)
        if kind == "{":
            found = _key(text, at)
            if found is None:
                break
            at = found.end()
    return Scan(-1, at, -1, deep)


def _go_on(text: str, at: int, kind: str, *, is_fresh: bool) -> tuple[int, bool | None]:
    """The place behind what follows in a container of that kind, and whether more is to come.

    Not where the container ended there; None where neither can be, and then the place is the one asked about.
    `is_fresh`: it was just opened, otherwise a value in it was just passed.
    """
    if not is_fresh:
        found = _next(text, at)
        mark = text[found.end() - 1] if found else ""
        if found is None or mark not in ("," + _CLOSER[kind]):
            return at, None
        if mark != ",":
            return found.end(), False
        at = found.end()
    run = _RUN[kind](text, at)
    behind = run.end() if run else at
    if is_fresh and behind == at and (ends := _END[kind](text, at)):
        return ends.end(), False
    return behind, True
