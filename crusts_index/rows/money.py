"""Rows of the queries about where the money went."""

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("cache")
class CacheBreak(NamedTuple):
    """A call that sent again what had been cached, and why."""

    session: str | None
    project: str | None
    day: str | None
    agent: str | None
    model: str | None
    message: int | None
    time: str | None
    gap_s: float | None
    reason: str
    certainty: str
    detail: str | None
    inferred: str
    told: str | None
    context_tokens: int
    tokens: int
    usd: float | None
    avoidable_usd: float | None
    time_ms: int | None


@of("cache_total")
class CacheTotal(NamedTuple):
    """What was sent in a period, and what became of it."""

    input_usd: float
    new_usd: float
    carried_usd: float
    rebuilt_usd: float
    compaction_usd: float
    saved_usd: float
    new_tokens: int
    carried_tokens: int
    rebuilt_tokens: int
    compaction_tokens: int
    calls: int
    unpriced_calls: int
