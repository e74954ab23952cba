"""Tells lines that nest deeper than is read: the one thing to ask of a line that a parser took (D5)."""

from __future__ import annotations

from crusts_index.transcript.lean import msgspec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 256
"""Levels of nesting that are read; records need ten. Every parser and every function that calls itself bears them."""

_CLOSERS_ONLY = bytes(set(range(256)) - set(b"[]{}"))
_DEEP_INDENT = b"\n" + b" " * DEEPEST
_LONGEST_INDENTED = 1 << 18
"""Bytes of a line that may be written with blanks: a thousand levels of many values would take any memory."""
_STEPS = bytes(2 if code in b"[{" else 0 for code in range(256))


def is_deep(line: bytes) -> bool:
    """Whether a line that is valid JSON nests more than `DEEPEST` levels; quickly where it cannot."""
    # Taken out and not counted: that leaps from one to the next, in half the time.
    closers = len(line) - len(line.replace(b"}", b"", DEEPEST + 1).replace(b"]", b"", DEEPEST + 1))
    if closers <= DEEPEST or _is_shallow(line):
        return False
    outside = b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    brackets = outside.translate(_STEPS, _CLOSERS_ONLY)
    return len(brackets) > 2 * DEEPEST and max(_depths(brackets)) > DEEPEST


def _is_shallow(line: bytes) -> bool:
    """Whether it can be told quickly that nothing in a line is nested too deeply: most brackets stand in texts.

    Written with a blank a level, what is deep stands behind as many blanks, and a text holds no line end.
    """
    if len(line) > _LONGEST_INDENTED:
        return False
    try:
        return _DEEP_INDENT not in msgspec.json.format(line, indent=1)
    except (msgspec.MsgspecError, RecursionError):
        return False


def _depths(brackets: bytes) -> Iterator[int]:
    """The depth behind each bracket."""
    depth = 0
    for step in brackets:
        depth += step - 1
        yield depth
