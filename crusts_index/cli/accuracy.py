"""`crusts accuracy`: how far off the estimates are, where the bill tells the truth."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.calibrated import print_spreads
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.index.estimates import load_weights
from crusts_index.index.fit import pairs_of
from crusts_index.index.past_windows import past_windows
from crusts_index.insight.money.breaks import agreement
from crusts_index.insight.window.accuracy import (
    Errors,
    Group,
    WeightErrors,
    groups,
    growth_errors,
    of_one_kind,
    spreads,
    weight_errors,
)
from crusts_index.insight.window.record import Record, record_of
from crusts_index.render import console, text
from crusts_index.rows.money import CacheBreak
from crusts_index.rows.reports import EstimatePair
from crusts_index.store.settings import Settings
from crusts_index.windows import HORIZONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FEWEST = 5
_SHOWN = 7
_GROUPS = ("pairs", "error", "bias", "p75", "p90")
_WEIGHTS = ("model", "pairs", "default", "error", "bias", "fitted", "error", "bias")


def accuracy(
    settings: Settings,
    since: options.Since = None,
    fewest: Annotated[
        int,
        Option("--fewest", reads=options.whole(), metavar="N", help="Leave out groups of fewer pairs of calls."),
    ] = FEWEST,
    forecast: Annotated[
        bool, Option("--forecast", help="Show the record of the forecast instead, over the whole store.")
    ] = False,
) -> None:
    """The error of the token estimates, over all pairs of calls, by what came between them and by model.

    Between two calls of a thread the context grew by what stands between them: the growth is exact, what stands
    there is estimated. error: the median size of the errors; bias: their median, below 0 = estimated too low; p75 and
    p90: what three in four and nine in ten errors stay below; all in percent of the growth.
    Each model's factor is the one that is shipped, or that `crusts index` fitted to its calls once there were 100
    pairs. With --verbose all groups, and by Claude Code version the pairs whose content is mostly (80 %) of one kind.

    Of cache breaks whose reason the API logged, how many would be inferred alike: `crusts cache`.

    The record of the forecast: what would have been promised at each call, from the fifth on, of the windows that were
    compacted by themselves, each by nothing but what stood before it; and what the median of the last 20 steps would
    have promised.
    """
    asked = {"since": options.since(since), "project": settings.project}
    with opened(settings) as store:
        record = record_of(past_windows(store.connection)) if forecast or settings.json else None
        if forecast and not settings.json:
            _print_record(record)
            return
        rows = store.fetch(EstimatePair, **asked)
        breaks = agreement(store.fetch(CacheBreak, session=None, until=None, singly=1, **asked))
        weights = load_weights(store.connection)
        pairs = pairs_of(store.connection, weights, since=options.since(since), project=settings.project)
    growth = growth_errors(rows)
    by = [one for one in groups(rows) if one.errors.pairs >= fewest]
    factors = {model: (weights.shipped_factor(model), weights.factors.get(model)) for model in pairs}
    models = [one for one in weight_errors(pairs, factors) if one.pairs >= fewest]
    long = [one for one in spreads(of_one_kind(rows)) if one.samples >= fewest] if settings.verbose else []
    if settings.json:
        told: dict[str, Any] = {
            "growth": growth._asdict() if growth else dict.fromkeys(Errors._fields) | {"pairs": 0},
            "by": [{"by": one.by, "key": one.key, **one.errors._asdict()} for one in by],
            "weights": [_rounded(one) for one in models],
            "forecast": _record_json(record),
            "cache": breaks._asdict(),
        }
        show.document(told | ({"rows": [one._asdict() for one in long]} if settings.verbose else {}))
        return
    if breaks.logged:
        console.remark(
            f"Cache breaks: of {breaks.logged:,} whose reason the API logged, {breaks.agree:,} would be inferred alike."
        )
    if growth is None:
        console.remark("No two calls that follow each other in the store: nothing to measure by.")
        return
    _print_growth(growth, by, most=None if settings.verbose else _SHOWN)
    _print_weights(models, most=None if settings.verbose else _SHOWN)
    if long:
        console.put("")
        print_spreads("kind", "pairs", long)
        console.remark("Mostly of one kind; half of each group's errors lie between from and to.")


def _print_growth(growth: Errors, by: list[Group], most: int | None) -> None:
    console.remark(
        f"Estimates against the exact growth between two calls, {growth.pairs:,} pairs: off by"
        f" {text.percent(growth.median_abs_error)} (median), bias {_signed(growth.bias)}; three in four within"
        f" {text.percent(growth.p75)}, nine in ten within {text.percent(growth.p90)}."
    )
    kinds = [(one.key, *one.errors) for one in by if one.by == "kind"]
    _print_first(("mostly", *_GROUPS), kinds, most, "kinds")


def _print_weights(models: list[WeightErrors], most: int | None) -> None:
    if not models:
        return
    console.put("")
    _print_first(_WEIGHTS, models, most, "models")


def _print_record(record: Record | None) -> None:
    if record is None:
        console.remark("No window with more than five calls was compacted by itself yet: no forecast to judge.")
        return
    windows = text.plural(record.epochs, "past window")
    console.remark(
        f"What was promised at {record.points:,} calls of {windows} compacted without being asked, each by what"
        " stood before it, against the calls that came:"
    )
    shown = [("forecast", record.points, record.median_abs_error, record.bias, record.twice_too_many)]
    if record.plain:
        shown.append(("median of the last 20 steps", *record.plain))
    heads = ("calls left by", "calls", "error", "bias", "over_twice")
    show.print_table(heads, shown, _FORMS)
    console.put("")
    held = [
        (f"{HORIZONS[-1]} or more" if one.below is None else f"below {one.below}", *one[1:]) for one in record.horizons
    ]
    held.append(("all", record.points, record.median_abs_error, record.coverage_80))
    columns = ("promised", "calls", "error", "in_range")
    show.print_table(columns, held, _FORMS)
    console.remark(
        "error: median size, in percent of the calls left; bias: median, above 0 = too many promised; in_range: the"
        " range, made to hold 80 %, held the truth."
    )


def _record_json(record: Record | None) -> dict[str, Any]:
    if record is None:
        return {**dict.fromkeys(Record._fields), "epochs": 0, "points": 0, "horizons": []}
    horizons = [one._asdict() for one in record.horizons]
    return record._asdict() | {"horizons": horizons, "plain": record.plain and record.plain._asdict()}


def _print_first(heads: Sequence[str], rows: Sequence[Sequence[object]], most: int | None, what: str) -> None:
    shown = rows[:most]
    show.print_table(heads, shown, _FORMS)
    if len(shown) < len(rows):
        console.put(f"+ {len(rows) - len(shown):,} more {what}: --verbose shows all")


def _rounded(one: WeightErrors) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in one._asdict().items()}


def _signed(share: float) -> str:
    return f"{share * 100:+.1f}%"


_FORMS = {**dict.fromkeys(("error", "p75", "p90", "over_twice", "in_range"), text.percent), "bias": _signed}
