"""The record of the forecast: what it would have said at the calls of past windows, beside what came. Pure (D10)."""

from __future__ import annotations

from itertools import pairwise

from crusts_index.insight.window.accuracy import quantile
from crusts_index.insight.window.evidence import Evidence
from crusts_index.insight.window.forecast import forecast_of
from crusts_index.insight.window.habits import Habits, SeenLimit
from crusts_index.insight.window.limit import limit_of
from crusts_index.insight.window.settings import WindowSettings
from crusts_index.insight.window.trigger import trigger_of
from crusts_index.tuples import NamedTuple
from crusts_index.windows import (
    FIRST_POINT,
    HORIZONS,
    growth_of,
    horizon_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.windows import PastWindow

LAST_DELTAS = 20
"""The plain forecast goes by the median of so many."""


class Judged(NamedTuple):
    """Errors of forecasts, as shares of the calls that were left: the median of their sizes, the bias (the median of
    the errors, above 0 = too many calls were promised), and how many promised more than twice too many."""

    points: int
    median_abs_error: float
    bias: float
    twice_too_many: float


class Horizon(NamedTuple):
    """The forecasts of fewer than `below` calls (None: of more) that are of no shorter horizon, and how many of their
    ranges held the truth."""

    below: int | None
    points: int
    median_abs_error: float
    coverage_80: float


class Record(NamedTuple):
    """Of the forecasts in all windows that ended in an automatic compaction, from their fifth call on.

    `coverage_80`: how many ranges held the truth; `plain`: what the median of the last deltas would have promised,
    where it promised anything.
    """

    epochs: int
    points: int
    median_abs_error: float
    bias: float
    twice_too_many: float
    coverage_80: float
    horizons: tuple[Horizon, ...]
    plain: Judged | None


class _Point(NamedTuple):
    """A forecast of calls left, its range, what the plain one would have been, and what came."""

    promised: int
    low: int
    high: int
    plain: float | None
    left: int


def record_of(windows: Iterable[PastWindow]) -> Record | None:
    """The record over past windows; None where none of them had enough calls."""
    epochs = 0
    points: list[_Point] = []
    for window in windows:
        judged = _points(window)
        epochs += bool(judged)
        points += judged
    whole = _judged([(point.promised, point.left) for point in points])
    if whole is None:
        return None
    return Record(
        epochs,
        *whole,
        _held(points),
        _horizons(points),
        _judged([(point.plain, point.left) for point in points if point.plain is not None]),
    )


def _points(window: PastWindow) -> list[_Point]:
    found = []
    contexts = [context for context, _ in window.calls]
    deltas = [after - before for before, after in pairwise(contexts)]
    largest = 0
    for place, (context, output) in enumerate(window.calls[:-1]):
        largest = max(largest, context)
        if place >= FIRST_POINT:
            size, trigger = context + output, _trigger(window, largest)
            growth = growth_of(context - contexts[0], place, window.prior)
            said = forecast_of(size, trigger, growth, window.ranges)
            usual = quantile(deltas[max(0, place - LAST_DELTAS) : place], 0.5)
            plain = max(0.0, trigger - size) / usual if usual > 0 and trigger is not None else None
            left = len(contexts) - 1 - place
            found.append(_Point(said.calls_left or 0, said.low or 0, said.high or 0, plain, left))
    return found


def _trigger(window: PastWindow, largest: int) -> int | None:
    """Where it would have been expected to be compacted, by what was known, once a call had `largest` tokens."""
    evidence = Evidence("", "", window.version, None, window.model, window.asked, largest=largest)
    seen = {window.asked: (SeenLimit(0, window.seen_limit, 0),)} if window.seen_limit else {}
    habits, settings = Habits(limits=seen, buffers=window.buffers), WindowSettings()
    return trigger_of(evidence, settings, habits, limit_of(evidence, settings, habits).tokens).tokens


def _judged(promises: Sequence[tuple[float, int]]) -> Judged | None:
    if not promises:
        return None
    errors = [promised / left - 1 for promised, left in promises]
    return Judged(
        len(errors),
        round(quantile([abs(error) for error in errors], 0.5), 4),
        round(quantile(errors, 0.5), 4),
        round(sum(error > 1 for error in errors) / len(errors), 4),
    )


def _held(points: Sequence[_Point]) -> float:
    return round(sum(point.low <= point.left <= point.high for point in points) / len(points), 4)


def _horizons(points: Sequence[_Point]) -> tuple[Horizon, ...]:
    found = []
    for place, below in enumerate((*HORIZONS, None)):
        some = [point for point in points if horizon_of(point.promised) == place]
        judged = _judged([(point.promised, point.left) for point in some])
        if judged is not None:
            found.append(Horizon(below, len(some), judged.median_abs_error, _held(some)))
    return tuple(found)
