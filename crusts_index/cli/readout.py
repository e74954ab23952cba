"""`crusts readout`: what it does is in `quick/readout`, which imports little."""

from crusts_index.cli import options
from crusts_index.cli.declared import Annotated, Option
from crusts_index.quick import readout as quick
from crusts_index.render import console
from crusts_index.store.settings import Settings

Days = Annotated[
    int | None,
    Option("--days", reads=options.whole(1, quick.MOST_DAYS), metavar="N", help="Days back from now; 30 if not given."),
]
Detail = Annotated[str | None, Option("--detail", metavar="PATH", help="File for the detail; else context.json.")]
Full = Annotated[bool, Option("--full", help="Print the detail instead of the line.")]


def readout(
    settings: Settings,
    days: Days = None,
    since: options.Since = None,
    detail: Detail = None,
    full: Full = False,
) -> None:
    """The last 30 days in one line of JSON, below 400 bytes; the detail goes to context.json."""
    console.put(quick.answer(settings, quick.period(days, since), detail, full=full))
