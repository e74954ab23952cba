"""Turns the bytes of a line into a record, the quick way; lines that are damaged or odd are for `damaged` (D5)."""

from __future__ import annotations

from crusts_index.transcript.depth import is_deep
from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.shapes import Record

_decode = msgspec.json.Decoder(Record).decode
_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
_NUL = b"\\u0000"


def decode_quickly(line: bytes) -> Record | None:
    """The one record that a sound line holds; None where it takes `decode_patiently` to tell."""
    try:
        record = _decode(line)
    except _REFUSED:
        return None
    return None if is_deep(line) else record


def without_nuls(line: bytes) -> bytes:
    """The line without escaped NULs: they would end a text for all who read the store in C."""
    # From behind, for it begins with what is rarer than what it ends with: a third less than by `in`.
    if line.rfind(_NUL) < 0:
        return line
    from crusts_index.transcript.patterns import NULS

    return NULS.sub(rb"\1", line)
