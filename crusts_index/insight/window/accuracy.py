"""How far off estimates are, where the bill tells the truth: the growth between two calls. Pure (D9)."""

from __future__ import annotations

from crusts_index import windows
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crusts_index.rows.reports import EstimatePair

LEAST_GROWTH = 50
"""Tokens below which an error in per cent of the growth says nothing."""
MOSTLY, LEAST_ESTIMATE = 0.8, 200
"""A pair is of one kind if so much of its content is, and has so many tokens."""


class Errors(NamedTuple):
    """Errors of some pairs of calls, as shares of the truth.

    `bias` is the median of the errors, below 0 = estimated too low; the others are of their sizes: the median, and what
    three in four and nine in ten stay below.
    """

    pairs: int
    median_abs_error: float
    bias: float
    p75: float
    p90: float


class Group(NamedTuple):
    """The errors of the pairs that have something in common: `by` says what, `key` which."""

    by: str
    key: str
    errors: Errors


class Sample(NamedTuple):
    """Something of a kind as estimated and as it is, in tokens, with a Claude Code of a version."""

    version: str
    kind: str
    estimate: int
    truth: int


class Spread(NamedTuple):
    """Errors of one group in percent of the truth: below 0 = estimated too low. Half of them lie in the spread."""

    version: str
    kind: str
    samples: int
    median_error_percent: float
    spread_low_percent: float
    spread_high_percent: float


class WeightErrors(NamedTuple):
    """A model's factor as it is shipped and as it was fitted to the user's own calls, each with the errors of all
    pairs of the model: their median size and their bias, as in `Errors`. None where nothing was fitted."""

    model: str
    pairs: int
    default: float
    default_error: float
    default_bias: float
    fitted: float | None
    fitted_error: float | None
    fitted_bias: float | None


def growth_errors(pairs: Iterable[EstimatePair]) -> Errors | None:
    """The errors of all pairs; None without any."""
    return _errors([_error(pair) for pair in pairs])


def groups(pairs: Sequence[EstimatePair]) -> list[Group]:
    """The errors by kind of what came between, then by model; of each most pairs first."""
    return [*_grouped("kind", pairs, lambda pair: pair.kind), *_grouped("model", pairs, lambda pair: pair.model)]


def of_one_kind(pairs: Iterable[EstimatePair]) -> list[Sample]:
    """The pairs whose content is mostly of one kind, each under its version and under all."""
    return [
        Sample(version, pair.kind, pair.estimate, pair.growth)
        for pair in pairs
        if pair.estimate >= LEAST_ESTIMATE and pair.most >= MOSTLY * pair.estimate
        for version in ("all", pair.version)
    ]


def spreads(samples: Iterable[Sample]) -> list[Spread]:
    """The errors of samples by version and kind; most samples first."""
    errors: dict[tuple[str, str], list[float]] = {}
    for one in samples:
        if one.truth > 0:
            errors.setdefault((one.version, one.kind), []).append((one.estimate / one.truth - 1) * 100)
    found = [
        Spread(version, kind, len(group), quantile(group, 0.5), quantile(group, 0.25), quantile(group, 0.75))
        for (version, kind), group in errors.items()
    ]
    return sorted(found, key=lambda one: (-one.samples, one.version, one.kind))


def weight_errors(
    pairs: Mapping[str, Iterable[tuple[int, float, float]]], factors: Mapping[str, tuple[float, float | None]]
) -> list[WeightErrors]:
    """The errors of each model's pairs, most pairs first. A pair is its growth, what a factor multiplies of its content
    and what it does not; `factors` are the shipped one of each model and the fitted one."""
    found = []
    for model, some in pairs.items():
        known = [pair for pair in some if pair[0] >= LEAST_GROWTH]
        default, fitted = factors[model]
        before = _errors([(default * text + fixed) / growth - 1 for growth, text, fixed in known])
        if before is None:
            continue
        now = (
            None if fitted is None else _errors([(fitted * text + fixed) / growth - 1 for growth, text, fixed in known])
        )
        found.append(
            WeightErrors(
                *(model, before.pairs, default, before.median_abs_error, before.bias, fitted),
                *((now.median_abs_error, now.bias) if now else (None, None)),
            )
        )
    return sorted(found, key=lambda one: (-one.pairs, one.model))


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile of the values, in any order, by linear interpolation."""
    return windows.quantile(sorted(values), share)


def _error(pair: EstimatePair) -> float:
    return pair.estimate / pair.growth - 1


def _errors(errors: Sequence[float]) -> Errors | None:
    if not errors:
        return None
    sizes = sorted(map(abs, errors))
    told = (windows.quantile(sizes, 0.5), quantile(errors, 0.5), *(windows.quantile(sizes, p) for p in (0.75, 0.9)))
    return Errors(len(errors), *(round(share, 4) for share in told))


def _grouped(by: str, pairs: Iterable[EstimatePair], key: Callable[[EstimatePair], str]) -> list[Group]:
    errors: dict[str, list[float]] = {}
    for pair in pairs:
        errors.setdefault(key(pair), []).append(_error(pair))
    found = [Group(by, name, told) for name, some in errors.items() if (told := _errors(some)) is not None]
    return sorted(found, key=lambda one: (-one.errors.pairs, one.key))
