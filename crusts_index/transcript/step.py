"""The record in hand: what is known of it and what is found out, until its row is written."""

from __future__ import annotations

from typing import Any

from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.past import Uuid
from crusts_index.transcript.shapes import Record

Line = bytes | dict[str, Any]
"""All of a record: its bytes, or where these had to be mended, what is left of it."""


class Step(msgspec.Struct, gc=False):
    """One record on its way through the fold."""

    id: int
    offset: int
    length: int
    record: Record
    line: Line
    time_ms: int | None
    key: Uuid | None
    parent: Uuid | None
    thread: int
    """Number of its thread."""
    branch: int
    epoch: int
    has_parent: bool
    """Whether the parent it names stood in this transcript before."""
    subtype: str | None = None
    message: int | None = None
    response: int | None = None
    ordinal: int = 0
    opens: int = 0
    is_prompt: int = 0
    is_summary: int = 0
    is_copied: int = 0
    is_command: bool = False
    """Whether it is a slash command, not what one printed."""
    origin: str | None = None
