"""What Claude Code says by itself that a session cost, model by model: its `cost-state` records (D1, D15)."""

from __future__ import annotations

from typing import Any

from crusts_index.transcript.spelling import camel
from crusts_index.tuples import NamedTuple

_MOST_COUNT = 2**53
# The counts in the order of the columns, and whether one is none where it is not logged.
_COUNTS = {
    "inputTokens": False,
    "outputTokens": False,
    "thinkingTokens": True,
    "cacheReadInputTokens": False,
    "cacheCreationInputTokens": False,
    "cacheCreationEphemeral5mInputTokens": True,
    "cacheCreationEphemeral1hInputTokens": True,
    "webSearchRequests": False,
}


class Cost(NamedTuple):
    """One model's, since the session began."""

    model: str
    """As it was asked for: `[1m]` stands in it."""
    input_tokens: int
    output_tokens: int
    thinking_tokens: int | None
    """None = not logged, here and where the writes are told apart."""
    cache_read_tokens: int
    cache_write_tokens: int
    cache_write_5m_tokens: int | None
    cache_write_1h_tokens: int | None
    web_searches: int
    cost_usd: float | None


def costs_of(body: dict[str, Any]) -> list[Cost]:
    """The models that a `cost-state` record names; `body` is the record with its names in camelCase."""
    usage = body.get("modelUsage")
    costs = []
    for model, said in usage.items() if isinstance(usage, dict) else ():
        if model and isinstance(said, dict):
            said = camel(said)
            counts = (_count(said.get(name), None if may_lack else 0) for name, may_lack in _COUNTS.items())
            costs.append(Cost._make((model, *counts, _number(said.get("costUSD", said.get("costUsd"))))))
    return costs


def _count(value: Any, lacking: int | None) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number <= _MOST_COUNT else lacking


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        return None
    return value
