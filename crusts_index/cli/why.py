"""`crusts why`: where the money of a session or a period went, with what would have avoided the largest part."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.money.parts import bill_of, largest_avoidable, sentence, ways
from crusts_index.insight.waste.actions import FREED_SHARE
from crusts_index.render import why as render
from crusts_index.rows.money import CacheBreak, Moment, ThreadCost
from crusts_index.store.settings import Settings

_MOMENTS = 5


def why(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    since: options.Since = None,
    until: options.Until = None,
) -> None:
    """Where the money of a session went; with --project, --since or --until, that of a project or a period.

    What a call sent was new, or stood in the context before: then it was read from the cache, or sent again although
    it had been cached. With what compactions sent, answers, thinking and searches these parts sum to the cost. The
    sentence names what was avoidable at the highest cost; below stand the parts, the subagents by the message that
    started them, the dearest calls, and what would have avoided the largest part.
    """
    begin, end = options.period(since, until)
    is_named = session is not None or last is not None
    if is_named and (begin, end) != (None, None):
        raise WrongUsage("--since and --until are about all sessions: name none beside them")
    is_session = is_named or (begin is None and end is None and not settings.project)
    with opened(settings) as store:
        chosen = store.choose(session, last) if is_session else None
        project = None if is_session else settings.project
        asked = {"session": chosen, "since": begin, "until": end, "project": project}
        bill = bill_of(store.fetch(ThreadCost, **asked))
        breaks = store.fetch(CacheBreak, singly=1, **asked)
        moments = store.fetch(Moment, limit=_MOMENTS, **asked)
    avoidable = largest_avoidable(breaks)
    said = sentence(bill, avoidable, is_session=is_session)
    instead = ways(avoidable, breaks, FREED_SHARE)
    show.answer(
        settings,
        lambda: render.as_json(chosen, bill, avoidable, said, moments, instead),
        lambda page: (
            render.as_text(page, bill, said, moments, instead, is_session=is_session)
            if bill.calls
            else page.say(_nothing(settings, is_session=is_session))
        ),
    )


def _nothing(settings: Settings, *, is_session: bool) -> str:
    return "No API call in this session yet." if is_session else show.nothing(settings, "Nothing in this period.")
