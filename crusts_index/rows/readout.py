"""Rows of the queries that `readout` asks."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("readout")
class ReadoutTotal(NamedTuple):
    """Totals of the period's billed calls. Tokens, USD."""

    calls: int
    context: int
    cache_read: int
    cache_write: int
    input: int
    write_usd: float | None
    unpriced_calls: int
    nonstandard_calls: int


@of("readout_sessions")
class ReadoutSession(NamedTuple):
    """A session of the period, and the calls of it that it owns."""

    session_key: int
    session: str
    project: str | None
    calls: int


@of("readout_curve")
class ReadoutCurve(NamedTuple):
    """Calls of a main thread: their contexts in tokens, parted by commas."""

    session_key: int
    contexts: str


@of("readout_compactions")
class ReadoutCompaction(NamedTuple):
    """A compaction: tokens before and after, and in the window of the first call after it."""

    session: str | None
    timestamp: str | None
    before: int | None
    after: int | None
    window_after: int | None
    trigger: str | None
    is_owner: int
    in_view: int


@of("readout_rereads")
class ReadoutReread(NamedTuple):
    """A re-read, and the tokens of its result."""

    session: str | None
    path: str
    tokens: int
    is_owner: int
    in_view: int


@of("readout_tools")
class ReadoutTool(NamedTuple):
    """A tool, and the tokens of its results."""

    name: str | None
    tokens: int


@of("readout_breaks")
class ReadoutBreaks(NamedTuple):
    """What had been cached and was sent again, by reason."""

    reason: str
    breaks: int
    tokens: int
    avoidable_usd: float | None
