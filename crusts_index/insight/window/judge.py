"""The window of a session: its size, its limit, and when it will be compacted; one judge for every command (D10)."""

from __future__ import annotations

from crusts_index.insight.session.numbers import DERIVED, ESTIMATED, EXACT
from crusts_index.insight.window.evidence import evidence_of
from crusts_index.insight.window.forecast import forecast_of, health_of
from crusts_index.insight.window.habits import Habits
from crusts_index.insight.window.limit import limit_of
from crusts_index.insight.window.settings import WindowSettings, settings_files
from crusts_index.insight.window.trigger import trigger_of
from crusts_index.tuples import NamedTuple
from crusts_index.windows import growth_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.evidence import Evidence
    from crusts_index.insight.window.fixed import FixedContext

__all__ = ["Window", "WindowSettings", "health_of", "judge", "window_of"]


class Window(NamedTuple):
    """A window as it stands. Sizes are tokens; `basis` says whether `size` is exact, derived or estimated.

    Without a call so far `size` and all that follows from it (basis, health, free, share, calls left) are None.
    `limit_kind` is set, seen, told or assumed (D10). `trigger` None: auto-compaction is off. `calls_left` counts API
    calls until the trigger, 0 past it, and is in `calls_low` to `calls_high` in 8 of 10 cases; None where nothing can
    be said. `growth` is the tokens a call that it rests on. `why` explains each derived number in words, by its name.
    """

    size: int | None
    basis: str | None
    limit: int
    limit_kind: str
    limit_signal: str
    trigger: int | None
    calls_left: int | None
    calls_low: int | None
    calls_high: int | None
    growth: float
    fixed_context: FixedContext
    model: str
    health: str | None
    free: int | None
    usage_percentage: float | None
    why: dict[str, str]


def judge(evidence: Evidence, settings: WindowSettings, habits: Habits) -> Window:
    """Judge a window, of one session or of many, by its evidence."""
    size, basis, size_why = _size(evidence)
    limit = limit_of(evidence, settings, habits)
    trigger = trigger_of(evidence, settings, habits, limit.tokens)
    prior = habits.prior(evidence.project)
    growth = growth_of(evidence.grown, evidence.grown_calls, prior)
    forecast = forecast_of(size, trigger.tokens, growth, habits.ranges)
    percentage = None if size is None else size / limit.tokens * 100
    return Window(
        size=size,
        basis=basis,
        limit=limit.tokens,
        limit_kind=limit.kind,
        limit_signal=limit.signal,
        trigger=trigger.tokens,
        calls_left=forecast.calls_left,
        calls_low=forecast.low,
        calls_high=forecast.high,
        growth=growth,
        fixed_context=evidence.fixed,
        model=settings.payload_model or evidence.model,
        health=None if size is None else health_of(100 * size / trigger.window),
        free=None if size is None else max(0, limit.tokens - size),
        usage_percentage=percentage,
        why={
            "window": size_why,
            "limit": limit.why,
            "trigger": trigger.why,
            "growth": f"{growth:,.0f} tokens a call: {evidence.grown:,} in {evidence.grown_calls:,} calls here, "
            f"drawn towards the {prior:,.0f} by which windows grew until they were compacted",
            "fixed context": evidence.fixed.reason,
        },
    )


def window_of(facts: Facts, settings: WindowSettings | None = None, habits: Habits | None = None) -> Window:
    """Judge the window of a session from its facts."""
    settings = settings or WindowSettings(files=settings_files(facts.settings))
    return judge(evidence_of(facts, settings.calibrated_schema_tokens), settings, habits or Habits())


def _size(evidence: Evidence) -> tuple[int | None, str | None, str]:
    """The window's tokens and how they are known, None where there was no call yet; and why."""
    last = evidence.last
    if last is not None:
        said = f"the last call's context {last.context:,}"
        if last.is_placeholder:
            output = max(last.output, last.answer)
            why = f"{said} + its answer, estimated at {output:,}: the output logged is a placeholder"
            return last.context + output, DERIVED, why
        return last.context + last.output, EXACT, f"{said} + its output {last.output:,}"
    if evidence.post_tokens is not None:
        kept = evidence.fixed.tokens or 0
        why = f"no call since the compaction: its postTokens {evidence.post_tokens:,} + fixed context {kept:,}"
        return evidence.post_tokens + kept, DERIVED, why
    if evidence.has_calls:
        return evidence.counted, ESTIMATED, "no call in this window to go by: the sum of what is estimated"
    return None, None, "not known yet: no call so far"
