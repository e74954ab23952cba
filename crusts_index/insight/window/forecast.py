"""How fast a window grows and how many calls are left until it is compacted: the one forecast, with its range (D10).

How a session grew lately says little about how far it is to the end; how the user's sessions grow says most. So the
growth a call is the session's own drawn towards that of past windows, and the range is what past forecasts missed by.
"""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Ranges = Sequence[tuple[float, float]]

HEALTH = ((50, "healthy"), (70, "warming"), (85, "hot"))
PRIOR = 870.0
"""Tokens a call where the user's own history is too short to tell."""
PRIOR_CALLS = 200
"""As many calls of the session's own count as much as what is known beforehand."""
HORIZONS = (10, 25, 50, 100)
"""Calls predicted below which a range is one of its own; the last range is for all above."""
RANGES: Ranges = ((0.79, 3.85), (0.64, 2.41), (0.63, 1.95), (0.58, 1.58), (0.49, 1.16))
"""What held 80 % of the truth, as shares of the forecast, by horizon."""


class Forecast(NamedTuple):
    """API calls until the trigger, 0 past it; `low` and `high` hold it in 8 of 10 cases. All None where nothing
    will be compacted or the window is not known. `growth` is in tokens a call, `why` in words.
    """

    calls_left: int | None
    low: int | None
    high: int | None
    growth: float
    why: str


def growth_of(grown: int, calls: int, prior: float) -> float:
    """Tokens a call: what `calls` of the window added, drawn towards the prior; at least 1."""
    return max(1.0, (grown + PRIOR_CALLS * prior) / (calls + PRIOR_CALLS))


def horizon_of(calls: float) -> int:
    """Which of the ranges is for a forecast of so many calls."""
    return sum(calls >= bound for bound in HORIZONS)


def forecast_of(window: int | None, trigger: int | None, growth: float, ranges: Ranges, why: str = "") -> Forecast:
    """How many calls a window of so many tokens has left until the trigger."""
    if window is None or trigger is None:
        return Forecast(None, None, None, growth, why)
    if window >= trigger:
        return Forecast(0, 0, 0, growth, why)
    calls = (trigger - window) / growth
    low, high = ranges[horizon_of(calls)]
    # One call at least, since the window is not there yet.
    return Forecast(max(1, int(calls)), max(1, int(calls * low)), max(1, int(calls * high + 0.999)), growth, why)


def health_of(percentage: float) -> str:
    """healthy below 50 per cent of the limit, warming below 70, hot below 85, else critical."""
    return next((name for below, name in HEALTH if percentage < below), "critical")


def median(values: Sequence[float]) -> float:
    """The median; the mean of the two middle ones of an even count."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2
