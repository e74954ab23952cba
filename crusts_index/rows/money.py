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
    inferred: str | None
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


@of("why")
class ThreadCost(NamedTuple):
    """What the calls of a thread cost, or those of an agent type, by part."""

    is_main: int
    agent: str | None
    description: str | None
    spawn: int | None
    calls: int
    unpriced_calls: int
    placeholder_calls: int
    new_tokens: int
    carried_tokens: int
    rebuilt_tokens: int
    compaction_tokens: int
    output_tokens: int
    thinking_tokens: int
    searches: int
    new_usd: float
    carried_usd: float
    rebuilt_usd: float
    compaction_usd: float
    output_usd: float
    thinking_usd: float
    searches_usd: float
    cost_usd: float | None
    priced_usd: float


@of("why_moments")
class Moment(NamedTuple):
    """One of the dearest calls, by part."""

    session: str | None
    agent: str | None
    message: int | None
    time: str | None
    reason: str | None
    cost_usd: float
    new_usd: float
    carried_usd: float
    rebuilt_usd: float
    compaction_usd: float
    output_usd: float
    thinking_usd: float
    searches_usd: float
