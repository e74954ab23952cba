"""How far off estimates are: median and spread of their errors, group by group. Pure (D9)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.rows.reports import EstimatePair


class Accuracy(NamedTuple):
    """Errors of one group in percent of the truth: below 0 = estimated too low. Half of them lie in the spread."""

    version: str
    kind: str
    samples: int
    median_error_percent: float
    spread_low_percent: float
    spread_high_percent: float


def accuracy_of(pairs: Iterable[EstimatePair]) -> list[Accuracy]:
    """Group pairs by version and kind, and sum up their errors; most pairs first."""
    errors: dict[tuple[str, str], list[float]] = {}
    for pair in pairs:
        if pair.growth > 0:
            error = (pair.estimate - pair.growth) / pair.growth * 100
            errors.setdefault((pair.version, pair.kind), []).append(error)
    found = [
        Accuracy(version, kind, len(group), quantile(group, 0.5), quantile(group, 0.25), quantile(group, 0.75))
        for (version, kind), group in errors.items()
    ]
    return sorted(found, key=lambda one: (-one.samples, one.version, one.kind))


def quantile(values: list[float], share: float) -> float:
    """The quantile of the values by linear interpolation."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
