"""`crusts lost`: what compaction took out of the window, what became of it, and what that cost."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.losses.cost import costs_of, total_of, totals_by_trigger, totals_by_week
from crusts_index.insight.losses.paste import paste_of, used_files
from crusts_index.render import losses, losses_json
from crusts_index.store.settings import Settings

_SHOWN = 12

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
    """What each compaction of a session took out of the window, and what became of it.

    Dropped is the window before less the context of the first call after. Of it is back: what the boundary kept word
    for word, what Claude Code put back by itself, and what was read again, in whole or in part. Mentioned: the content
    is gone, but its path, name, words or most of its rarest terms stand in the summary. Gone: nothing points to it.
    The rest is in no item: thinking, small things, and what the transcript does not show. These sum to what was
    dropped; lost is what is mentioned or gone. Below stands a block to paste: decisions, files and facts that are
    gone and had been used again before. --verbose shows why each item is where it is.
    --all adds up what compaction cost over the sessions of a period or project.
    """
    period = options.period(since, until)
    if all_ and (session is not None or last is not None):
        raise WrongUsage("--all is about every session: name none beside it")
    if not all_ and period != (None, None):
        raise WrongUsage("--since and --until go with --all")
    shown = limit or _SHOWN
    if all_:
        _all(settings, period, shown)
    else:
        _one(settings, session, last, shown)


def _one(settings: Settings, session: str | None, last: int | None, shown: int) -> None:
    with opened(settings) as store:
        facts = store.load(store.choose(session, last))
        events = store.events(facts)
        used = used_files(store.fetch, facts) if events else []
        found = {event.number: paste_of(facts, event, used) for event in events}
    pastes = {number: paste for number, paste in found.items() if paste is not None}
    show.answer(
        settings,
        lambda: losses_json.losses_json(facts, events, pastes),
        lambda page: losses.losses_text(page, facts, events, pastes, shown, verbose=settings.verbose),
    )


def _all(settings: Settings, period: tuple[int | None, int | None], shown: int) -> None:
    with opened(settings) as store:
        costs = costs_of(store.fetch, store.load, since=period[0], until=period[1], project=settings.project)
    total, triggers, weeks = total_of(costs), totals_by_trigger(costs), totals_by_week(costs)
    show.answer(
        settings,
        lambda: losses_json.costs_json(costs, total, triggers, weeks),
        lambda page: losses.costs_text(page, costs, total, triggers, weeks, shown),
    )
