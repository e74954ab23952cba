"""When the window is full enough for advice nobody asked for, and what that advice says."""

from __future__ import annotations

from crusts_index.insight.window.words import limit_words, trigger_words
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crusts_index.insight.waste.actions import Action
    from crusts_index.insight.window.judge import Window


COMPACT_FROM = 50.0
LEAST_HEADROOM = 20_000
HEADROOM_SHARE = 0.1
MIN_GAP_MS = 300_000
COLD_USD = 0.5
_FORMER_DEFAULTS = {"threshold": 70, "minGapMs": MIN_GAP_MS}


class Gate(NamedTuple):
    """The user's settings: per cent of the limit (None: by headroom), milliseconds between two of one session, and from
    how many USD on a cold cache is spoken of."""

    is_enabled: bool
    threshold: float | None
    min_gap_ms: float
    cold_usd: float = COLD_USD


def gate_of(config: Mapping[str, object]) -> Gate:
    """The gate by `autoInject` in config.json. What makes no sense there gives way to the default.

    A threshold counts only if the user set it: claude-crusts 0.7 wrote its defaults back beside `lastInjectionAt`,
    and these are nobody's choice.
    """
    given = config.get("autoInject")
    given = given if isinstance(given, dict) else {}
    if "lastInjectionAt" in given and all(given.get(key) == value for key, value in _FORMER_DEFAULTS.items()):
        given = {key: value for key, value in given.items() if key not in _FORMER_DEFAULTS}
    threshold, gap, cold = (_number(given.get(key)) for key in ("threshold", "minGapMs", "coldUsd"))
    return Gate(
        is_enabled=given.get("enabled") is True,
        threshold=threshold if threshold is not None and 0 < threshold <= 100 else None,
        min_gap_ms=gap if gap is not None else MIN_GAP_MS,
        cold_usd=cold if cold is not None else COLD_USD,
    )


def compact_from(gate: Gate) -> float:
    """Per cent of the limit from which on compacting is worth it by itself: 50, or less where the user says so."""
    return min(COMPACT_FROM, gate.threshold) if gate.is_enabled and gate.threshold is not None else COMPACT_FROM


def is_hot(window: Window, gate: Gate) -> bool:
    """Whether the window is as full as the gate asks: by the user's threshold, else near the trigger."""
    if gate.threshold is not None:
        return window.usage_percentage is not None and window.usage_percentage >= gate.threshold
    return is_near(window)


def is_near(window: Window) -> bool:
    """Whether the trigger is near: the larger of 20,000 tokens and a tenth of the limit to go, or less."""
    if window.trigger is None or window.size is None:
        return False
    return window.size >= window.trigger - max(LEAST_HEADROOM, int(window.limit * HEADROOM_SHARE))


def advice(window: Window, actions: Sequence[Action]) -> str:
    """What Claude is told, to pass on: the list that every command has; tokens to be freed are estimated."""
    steps = "\n\n".join(_step(place, one) for place, one in enumerate(actions, 1))
    return (
        f"[crusts] The context window is {window.usage_percentage:.0f}% full: {window.size:,} of {limit_words(window)} "
        f"tokens. As it stands: {trigger_words(window)}.\n"
        "Before answering, show the user this list, what is to be typed as it stands here, and say in one sentence "
        f"what its first item does:\n\n{steps}\n\n"
        "Files that a compaction drops from the window stay on disk and can be read again."
    )


def _step(place: int, action: Action) -> str:
    lines = "".join(f"\n    {line}" for line in action.do.split("\n"))
    return f"{place}. {action.title}{': ' + action.gain if action.gain else ''}\n{lines}\n"


def _number(value: object) -> float | None:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53
    return float(value) if usable else None  # type: ignore[arg-type]
