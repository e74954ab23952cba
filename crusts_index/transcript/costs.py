"""What Claude Code says by itself that a session cost, model by model: its `cost-state` records (D1, D15)."""

from __future__ import annotations

from typing import Any, NamedTuple

from crusts_index.transcript.spelling import camel

_MOST_COUNT = 2**53
_COUNTS = (
    *("inputTokens", "outputTokens", "thinkingTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
    *("cacheCreationEphemeral5mInputTokens", "cacheCreationEphemeral1hInputTokens", "webSearchRequests"),
)


class Cost(NamedTuple):
    """One model's, since the session began; None = not logged."""

    model: str
    """As it was asked for: `[1m]` stands in it."""
    input_tokens: int | None
    output_tokens: int | None
    thinking_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_5m_tokens: int | None
    cache_write_1h_tokens: int | None
    web_searches: int | None
    cost_usd: float | None


def costs_of(body: dict[str, Any]) -> list[Cost]:
    """The models that a `cost-state` record names; `body` is the record with its names in camelCase."""
    usage = body.get("modelUsage")
    return [
        Cost(model, *(_count(said.get(name)) for name in _COUNTS), _number(said.get("costUSD", said.get("costUsd"))))
        for model, raw in (usage.items() if isinstance(usage, dict) else ())
        if isinstance(raw, dict) and (said := camel(raw)) is not None
    ]


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number <= _MOST_COUNT else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        return None
    return value
