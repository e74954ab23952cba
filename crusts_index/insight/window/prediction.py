"""How fast a window grows, when it will be compacted, how full it is in a word: the one prediction (D10)."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Call

HEALTH = ((50, "healthy"), (70, "warming"), (85, "hot"))
LAST_DELTAS = 20
LEAST_DELTAS = 3


def growth_of(calls: Iterable[Call]) -> tuple[float | None, str]:
    """The median growth a call: over the last 20 since the compaction, or with fewer than 3 over the session."""
    path = [call for call in calls if call.on_path]
    spans = [
        (after.live_epoch, after.context_tokens - before.context_tokens)
        for before, after in pairwise(path)
        if before.epoch == after.epoch
    ]
    deltas = [delta for live, delta in spans if live][-LAST_DELTAS:]
    where = f"the last {len(deltas)} calls"
    if len(deltas) < LEAST_DELTAS:
        deltas = [delta for _, delta in spans]
        where = "all calls of the path, too few being in the window"
    if not deltas:
        return None, "fewer than two calls to compare"
    growth = median(deltas)
    return growth, f"median over {where}: {growth:,g} tokens a call"


def calls_left(size: int, trigger: int, growth: float | None) -> int | None:
    """API calls until the window reaches the trigger; None where it does not grow."""
    if size >= trigger:
        return 0
    if growth is None or growth <= 0:
        return None
    return int((trigger - size) / growth)


def health_of(percentage: float) -> str:
    """healthy below 50 per cent of the limit, warming below 70, hot below 85, else critical."""
    return next((name for below, name in HEALTH if percentage < below), "critical")


def median(values: list[int]) -> float:
    """The median; the mean of the two middle ones of an even count."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2
