"""`crusts accuracy`: how far off the estimates are, where the bill tells the truth."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.index.estimates import load_weights
from crusts_index.index.fit import pairs_of
from crusts_index.insight.window.accuracy import accuracy_of, factors_of
from crusts_index.render import console, table
from crusts_index.rows.reports import EstimatePair
from crusts_index.store import query
from crusts_index.store.settings import Settings

FEWEST = 5
_COLUMNS = ("version", "kind", "pairs", "median_error_%", "from_%", "to_%")
_FACTORS = ("model", "pairs", "shipped", "error_%", "bias_%", "fitted", "error_%", "bias_%")


def accuracy(
    settings: Settings,
    since: options.Since = None,
    fewest: Annotated[
        int,
        Option("--fewest", reads=options.whole(), metavar="N", help="Leave out groups of fewer pairs of calls."),
    ] = FEWEST,
) -> None:
    """The error of the token estimates by Claude Code version and kind of content.

    Between two calls of a thread the context grew by what stands between them: the growth is exact, what stands
    there is estimated. Counted are pairs whose content is mostly (80 %) of one kind and at least 200 tokens. Median
    and the middle half of the errors, in percent of the truth; below 0: estimated too low.
    Below that, for each model, the errors of all pairs: by the factor that is shipped for it, and by the one that
    `crusts index` fitted to its calls once there were 100 pairs.
    """
    with show.opened(settings) as store:
        rows = query.rows(store, EstimatePair, since=options.since(since), project=settings.project)
        weights = load_weights(store)
        pairs = pairs_of(store, weights, since=options.since(since), project=settings.project)
    models = factors_of(pairs, {model: (weights.shipped_factor(model), weights.factor(model)) for model in pairs})
    every = [row._replace(version="all") for row in rows]
    found = [one for one in accuracy_of([*every, *rows]) if one.samples >= fewest]
    if settings.json:
        said = [one._asdict() for one in models]
        show.document({"pairs": len(rows), "rows": [one._asdict() for one in found], "models": said})
        return
    if not found:
        console.remark("Too few pairs of calls in the store to tell.")
        return
    shown = [(one.version, one.kind, one.samples, *(round(value, 1) for value in one[3:])) for one in found]
    console.put(table.table(_COLUMNS, shown, console.table_width()))
    console.remark(f"{len(rows):,} pairs of calls; half of each group's errors lie between from and to.")
    console.put("")
    shown = [(one.model, one.samples, *(round(value, 2) for value in one[2:])) for one in models]
    console.put(table.table(_FACTORS, shown, console.table_width()))
    console.remark("All pairs: the median size of their errors, and whether they lean low (below 0) or high.")
