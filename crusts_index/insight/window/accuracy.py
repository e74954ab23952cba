"""How far off estimates are: median and spread of their errors, group by group. Pure (D9)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


class FactorAccuracy(NamedTuple):
    """Errors over all pairs of a model's calls, in percent of the truth, by the factor that is shipped and by the one
    that holds: the median of their sizes, and that of the errors themselves (below 0 = estimated too low)."""

    model: str
    samples: int
    shipped_factor: float
    shipped_error_percent: float
    shipped_bias_percent: float
    factor: float
    error_percent: float
    bias_percent: float


def factors_of(
    pairs: Mapping[str, Iterable[tuple[int, float, float]]], factors: Mapping[str, tuple[float, float]]
) -> list[FactorAccuracy]:
    """The errors of each model's pairs, most pairs first. A pair is its growth, what a factor multiplies of its content
    and what it does not; `factors` are the shipped one of each model and the one that holds."""
    found = []
    for model, some in pairs.items():
        errors = [
            [(factor * text + fixed - growth) / growth * 100 for growth, text, fixed in some if growth > 0]
            for factor in factors[model]
        ]
        if errors[0]:
            shipped, held = ((quantile(list(map(abs, each)), 0.5), quantile(each, 0.5)) for each in errors)
            before, now = factors[model]
            found.append(FactorAccuracy(model, len(errors[0]), before, *shipped, now, *held))
    return sorted(found, key=lambda one: (-one.samples, one.model))


def quantile(values: list[float], share: float) -> float:
    """The quantile of the values by linear interpolation."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
