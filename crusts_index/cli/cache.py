"""`crusts cache`: what had been cached and was sent again, why, and what that cost."""

from __future__ import annotations

import enum

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.money.breaks import by_column, by_reason
from crusts_index.render import cache as render
from crusts_index.render import console
from crusts_index.rows.money import CacheBreak, CacheTotal
from crusts_index.store.settings import Settings

_SHOWN = 20


class By(enum.StrEnum):
    """What a row of the report stands for."""

    REASON = "reason"
    DAY = "day"
    PROJECT = "project"
    MODEL = "model"
    SESSION = "session"


def cache(
    settings: Settings,
    by: Annotated[By | None, Option("--by", help="What a row stands for; else the reason.")] = None,
    breaks: Annotated[bool, Option("--breaks", help="The single breaks instead, the dearest first.")] = False,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.Limit = None,
) -> None:
    """What had been cached and was sent again, by reason, day, project, model or session, and what that cost.

    A break is a call that sent 2,000 tokens or more again of what stood in the context before it; the first call behind
    a compaction is none. Its reason is what the API logged, else what the requests themselves show, else the first that
    holds of: not cached by the call before, a subagent asked again, a rewind, another model, something taken out of the
    context, a pause longer than the cache lives, an update of Claude Code, other tools, servers or skills, another
    CLAUDE.md, a session opened again.
    """
    if by is not None and breaks and not settings.json:
        raise WrongUsage("--by or --breaks: sums by something, or the single breaks; give one of the two")
    by = by or By.REASON
    begin, end = options.period(since, until)
    asked = {"since": begin, "until": end, "project": settings.project}
    with opened(settings) as store:
        singly = 1 if breaks or settings.json or by is By.DAY else None
        found = store.fetch(CacheBreak, session=None, singly=singly, **asked)
        (total,) = store.fetch(CacheTotal, **asked)
    sums = by_reason(found) if by is By.REASON else by_column(found, by.value)
    if settings.json:
        show.document(render.as_json(total, found, by.value, None if by is By.REASON else sums, limit))
        return
    page = show.page(settings)
    if not total.calls:
        page.say(show.nothing(settings, "Nothing in this period."))
    else:
        render.head(page, total, found)
    if found and breaks:
        render.breaks_text(page, found, limit or _SHOWN)
    elif found:
        render.sums_text(page, total, by.value, sums, limit)
    console.put(page.text())
