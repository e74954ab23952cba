"""`crusts accuracy`: how far off the estimates are, where the bill tells the truth."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.insight.accuracy import accuracy_of
from crusts_index.render import console, table
from crusts_index.rows.reports import EstimatePair
from crusts_index.store import query
from crusts_index.store.settings import Settings

FEWEST = 5
_COLUMNS = ("version", "kind", "pairs", "median_error_%", "from_%", "to_%")


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
    """
    with show.opened(settings) as store:
        rows = query.rows(store, EstimatePair, since=options.since(since), project=settings.project)
    every = [row._replace(version="all") for row in rows]
    found = [one for one in accuracy_of([*every, *rows]) if one.samples >= fewest]
    if settings.json:
        show.document({"pairs": len(rows), "rows": [one._asdict() for one in found]})
        return
    if not found:
        console.remark("Too few pairs of calls in the store to tell.")
        return
    shown = [(one.version, one.kind, one.samples, *(round(value, 1) for value in one[3:])) for one in found]
    console.put(table.table(_COLUMNS, shown, console.table_width()))
    console.remark(f"{len(rows):,} pairs of calls; half of each group's errors lie between from and to.")
