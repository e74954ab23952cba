"""`crusts trend`: sessions over time."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.plain import Safe
from crusts_index.render import console
from crusts_index.render import trend as page_of
from crusts_index.render.page import Page
from crusts_index.rows.trend import TrendWeek
from crusts_index.store.settings import Settings

_LIMIT = 50


class By(enum.StrEnum):
    """What a row stands for."""

    SESSION = "session"
    WEEK = "week"


Rows = Annotated[By, Option("--by", help="What a row stands for.")]
Limit = Annotated[int, Option("--limit", reads=options.whole(), metavar="N", help="The last N sessions or weeks.")]
Output = Annotated[str | None, Option("--output", metavar="FILE", help="File for the CSV.")]


def trend(
    settings: Settings,
    by: Rows = By.SESSION,
    limit: Limit = _LIMIT,
    format: show.RowFormat = show.Format.TABLE,
    output: Output = None,
) -> None:
    """How full the last sessions ended, in order of their last activity, and whether that gets better or worse.

    A row is a session: its window as it stands, in tokens and per cent of its limit. --by week: the median peak of
    the sessions, compactions, the share of tool results that were re-reads, cache reads and cost.
    """
    form = show.form_of(settings, format) if format is not show.Format.CSV else format
    if output is not None and form is not show.Format.CSV:
        raise WrongUsage("--output goes with --format csv")
    ways: tuple[Callable[[], Safe], Callable[[], Mapping[str, object]], Callable[[Page], None]]
    with opened(settings) as store:
        if by is By.WEEK:
            rows = store.fetch(TrendWeek, project=settings.project, limit=limit)
            ways = (
                lambda: page_of.weeks_csv(rows),
                lambda: page_of.weeks_json(rows),
                lambda page: page_of.weeks_text(page, rows),
            )
        else:
            found = store.trend(limit)
            ways = (
                lambda: page_of.trend_csv(found),
                lambda: page_of.trend_json(found),
                lambda page: page_of.trend_text(page, found, limit),
            )
    as_csv, as_json, as_text = ways
    if form is show.Format.CSV:
        _csv(as_csv(), output)
    else:
        show.answer(settings, as_json, as_text, is_json=form is show.Format.JSON)


def _csv(text: str, output: str | None) -> None:
    if output is None:
        console.put(text)
        return
    show.write(output, text)
    console.note(f"{text.count(chr(10)) - 1:,} rows in {output}")
