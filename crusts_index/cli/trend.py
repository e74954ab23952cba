"""`crusts trend`: sessions over time."""

from __future__ import annotations

import enum
import os

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.window.trend import trend_of
from crusts_index.render import console
from crusts_index.render import trend as page_of
from crusts_index.render.page import Page
from crusts_index.rows.trend import TrendWeek
from crusts_index.store import query, when
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
    page = show.page(settings)
    if by is By.WEEK:
        _weeks(settings, limit, form, output, page)
    else:
        _sessions(settings, limit, form, output, page)


def _sessions(settings: Settings, limit: int, form: show.Format, output: str | None, page: Page) -> None:
    with opened(settings) as store:
        fetch = store.fetch
        found = trend_of(fetch, settings.config, os.environ, when.now_ms(), project=settings.project, limit=limit)
    if form is show.Format.CSV:
        _csv(page_of.trend_csv(found), output)
    elif form is show.Format.JSON:
        show.document(page_of.trend_json(found))
    else:
        page_of.trend_text(page, found, limit)
        console.put(page.text())


def _weeks(settings: Settings, limit: int, form: show.Format, output: str | None, page: Page) -> None:
    with show.opened(settings) as store:
        rows = query.rows(store, TrendWeek, project=settings.project, limit=limit)
    if form is show.Format.CSV:
        _csv(page_of.weeks_csv(rows), output)
    elif form is show.Format.JSON:
        show.document(page_of.weeks_json(rows))
    else:
        page_of.weeks_text(page, rows)
        console.put(page.text())


def _csv(text: str, output: str | None) -> None:
    if output is None:
        console.put(text)
        return
    show.write(output, text)
    console.note(f"{text.count(chr(10)) - 1:,} rows in {output}")
