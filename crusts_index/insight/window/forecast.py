"""How fast a window grows and how many calls are left until it is compacted: the one forecast, with its range (D10).

How a session grew lately says little about how far it is to the end; how the user's sessions grow says most. So the
growth a call is the session's own drawn towards that of past windows, and the range is what past forecasts missed by.
"""

from __future__ import annotations

from crusts_index.tuples import NamedTuple
from crusts_index.windows import horizon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.windows import Ranges

HEALTH = ((50, "healthy"), (70, "warming"), (85, "hot"))


class Forecast(NamedTuple):
    """API calls until the trigger, 0 past it; `low` and `high` hold it in 8 of 10 cases. All None where nothing
    will be compacted or the window is not known.
    """

    calls_left: int | None
    low: int | None
    high: int | None


def forecast_of(window: int | None, trigger: int | None, growth: float, ranges: Ranges) -> Forecast:
    """How many calls a window of so many tokens has left until the trigger, at a growth in tokens a call."""
    if window is None or trigger is None:
        return Forecast(None, None, None)
    if window >= trigger:
        return Forecast(0, 0, 0)
    calls = (trigger - window) / growth
    low, high = ranges[horizon_of(calls)]
    # One call at least, since the window is not there yet.
    return Forecast(max(1, int(calls)), max(1, int(calls * low + 0.5)), max(1, int(calls * high + 0.5)))


def health_of(percentage: float) -> str:
    """healthy below 50 per cent of the window that is compacted, warming below 70, hot below 85, else critical."""
    return next((name for below, name in HEALTH if percentage < below), "critical")
