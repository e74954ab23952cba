"""The rows that a session is judged by at a glance."""

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("live_transcript")
class LiveTranscript(NamedTuple):
    """What the store remembers of a transcript, and what its session is."""

    id: int
    session_id: str
    path: str
    size: int
    mtime_ns: int
    offset: int
    project: str
    parts: int
    version: str | None
    first_ms: int | None
    last_ms: int | None


@of("live_calls")
class LiveCalls(NamedTuple):
    """The calls of a live window, and where the one stands that a payload tells of. Tokens, UTC milliseconds."""

    branches: int
    leaf: int | None
    compactions: int
    summaries: int
    fall: int | None
    calls: int
    first_context: int
    first_call_ms: int | None
    before_id: int | None
    id: int
    model: str
    time_ms: int | None
    context: int
    output: int
    answer: int | None
    largest: int
    is_cached: int
    is_long: int
    since_told: int | None
    is_out: int


@of("live_results")
class LiveResult(NamedTuple):
    """A tool use, and what its result cost (X-size tokens)."""

    id: int
    name: str | None
    path: str | None
    result_tokens: int
    is_reread: int


@of("live_price")
class LivePrice(NamedTuple):
    """What a write to the cache for 5 minutes, for an hour, and a read cost, USD a million tokens; None = not known."""

    short_usd: float | None
    long_usd: float | None
    read_usd: float | None
