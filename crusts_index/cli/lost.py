"""`crusts lost`: what compaction took out of the window, what became of it, and what that cost."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.losses.cost import costs_of, total_of, totals_by_trigger, totals_by_week
from crusts_index.insight.losses.taken import losses_of, prices_of
from crusts_index.render import console, losses, losses_json
from crusts_index.render.page import Page
from crusts_index.store.settings import Settings

_SHOWN = 8

All = Annotated[bool, Option("--all", help="Every compaction of the period, added up.")]


def lost(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    all_: All = False,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.Limit = None,
) -> None:
    """What each compaction of a session lost: a verdict for every file, exchange, tool result and instruction.

    kept: the boundary names it. re-injected: an attachment brought it back. re-acquired later: the same input
    came again (of a command, with the same result). named in the summary: its file name or key terms stand there.
    gone: none of these. --verbose shows all items with their evidence.
    --all adds up what compaction cost over the sessions of a period or project.
    """
    period = options.period(since, until)
    if all_ and (session is not None or last is not None):
        raise WrongUsage("--all is about every session: name none beside it")
    if not all_ and period != (None, None):
        raise WrongUsage("--since and --until go with --all")
    shown = limit or _SHOWN
    page = show.page(settings)
    if all_:
        _all(settings, period, page, shown)
    else:
        _one(settings, session, last, page, shown)


def _one(settings: Settings, session: str | None, last: int | None, page: Page, shown: int) -> None:
    with opened(settings) as store:
        chosen = store.choose(session, last)
        facts = store.load(chosen)
        events = losses_of(facts, prices_of(store.fetch, facts), lambda end: store.load(chosen, end))
    if settings.json:
        show.document(losses_json.losses_json(facts, events))
    else:
        losses.losses_text(page, facts, events, shown, verbose=settings.verbose)
        console.put(page.text())


def _all(settings: Settings, period: tuple[int | None, int | None], page: Page, shown: int) -> None:
    with opened(settings) as store:
        costs = costs_of(store.fetch, store.load, since=period[0], until=period[1], project=settings.project)
    total, triggers, weeks = total_of(costs), totals_by_trigger(costs), totals_by_week(costs)
    if settings.json:
        show.document(losses_json.costs_json(costs, total, triggers, weeks))
    else:
        losses.costs_text(page, costs, total, triggers, weeks, shown)
        console.put(page.text())
