"""The window of a session: its size, its limit, and when it will be compacted; one number for every command (D10)."""

from __future__ import annotations

from crusts_index.insight.window.contents import DERIVED, ESTIMATED, EXACT, contents_of, framing_of
from crusts_index.insight.window.fixed import fixed_context
from crusts_index.insight.window.limit import WindowSettings, limit_of, trigger_of
from crusts_index.insight.window.prediction import calls_left, growth_of, health_of
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Call, Facts
    from crusts_index.insight.window.contents import Framing
    from crusts_index.insight.window.fixed import FixedContext

__all__ = ["Window", "WindowSettings", "health_of", "window_of"]


class Window(NamedTuple):
    """The window as it stands. Sizes are tokens; `basis` says whether `size` is exact, derived or estimated.

    `calls_left` counts API calls until the trigger, None where nothing can be said; `growth` is the median
    growth a call that it rests on. `call` is the last call of the live path behind the last compaction.
    `why` explains each derived number in words, by its name.
    """

    size: int
    basis: str
    limit: int
    limit_signal: str
    trigger: int
    calls_left: int | None
    growth: float | None
    fixed_context: FixedContext
    framing: Framing
    call: Call | None
    model: str
    health: str
    free: int
    usage_percentage: float
    why: dict[str, str]


def window_of(facts: Facts, settings: WindowSettings | None = None) -> Window:
    """Judge the window of a session from its facts."""
    settings = settings or WindowSettings()
    fixed = fixed_context(facts, settings.calibrated_schema_tokens)
    framing = framing_of(facts)
    call = next((call for call in reversed(facts.calls) if call.live_epoch), None)
    size, basis, size_why = _size(facts, fixed, framing, call)
    model = call.model if call else facts.calls[-1].model if facts.calls else "unknown"
    limit = limit_of(facts, settings, model)
    trigger = trigger_of(facts, settings, limit.tokens)
    growth, growth_why = growth_of(facts.calls)
    percentage = size / limit.tokens * 100
    return Window(
        size=size,
        basis=basis,
        limit=limit.tokens,
        limit_signal=limit.signal,
        trigger=trigger.tokens,
        calls_left=calls_left(size, trigger.tokens, growth),
        growth=growth,
        fixed_context=fixed,
        framing=framing,
        call=call,
        model=settings.payload_model or model,
        health=health_of(percentage),
        free=max(0, limit.tokens - size),
        usage_percentage=percentage,
        why={
            "window": size_why,
            "limit": limit.why,
            "trigger": trigger.why,
            "growth": growth_why,
            "fixed context": fixed.reason,
            "framing": _framing_why(framing),
        },
    )


def _size(facts: Facts, fixed: FixedContext, framing: Framing, call: Call | None) -> tuple[int, str, str]:
    if call is not None:
        answer = [block for block in facts.blocks if block.call_id == call.id]
        said = f"the last call's context {call.context_tokens:,}"
        if call.is_placeholder:
            output = max(call.output_tokens, sum(block.tokens for block in answer))
            return (
                call.context_tokens + output,
                DERIVED,
                f"{said} + its answer, estimated at {output:,}: the output logged is a placeholder",
            )
        return call.context_tokens + call.output_tokens, EXACT, f"{said} + its output {call.output_tokens:,}"
    live = facts.live_from
    if live is not None and live.post_tokens is not None:
        kept = fixed.tokens or 0
        return (
            live.post_tokens + kept,
            DERIVED,
            f"no call since the compaction: its postTokens {live.post_tokens:,} + fixed context {kept:,}",
        )
    contents = contents_of(facts, fixed, framing, current=True)
    return contents.total, ESTIMATED, "no call to go by: the sum of what is estimated"


def _framing_why(framing: Framing) -> str:
    if framing.tokens_per_message is None:
        return f"not derived: {len(framing.samples)} usable samples, 3 are needed"
    return f"{framing.tokens_per_message} tokens a message, the median of {len(framing.samples)} samples"
