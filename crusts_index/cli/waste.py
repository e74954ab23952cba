"""`crusts waste`: tokens in the window that serve nothing, item by item, or over all sessions."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.judged import judge
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.waste.files import files_of
from crusts_index.insight.window.words import window_json
from crusts_index.render import console, findings, findings_json, waste_overview
from crusts_index.render.actions import actions_json, actions_text, recommendations_json
from crusts_index.render.contents import contents_json, contents_text
from crusts_index.render.waste_json import waste_json
from crusts_index.rows.reports import HistoryWaste
from crusts_index.store.settings import Settings

_SHOWN = 10  # rows of a kind for people, where not told otherwise

All = Annotated[bool, Option("--all", help="All sessions, of a project or a period, instead of one.")]
UntilWhat = Annotated[
    str | None,
    Option("--until", metavar="N|WHEN", help="Messages 1 to N only; with --all, results up to WHEN."),
]
Since = Annotated[str | None, Option("--since", metavar="WHEN", help="With --all: results at or after WHEN.")]


def waste(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    until: UntilWhat = None,
    every: All = False,
    since: Since = None,
    limit: options.Limit = None,
) -> None:
    """Tokens in the window that serve nothing, and what it costs to carry them along.

    Looks at the window since the last compaction: reads that nothing has spoken of for 15 messages, reads of what
    was read already, exchanges that a mere "thanks" has settled, CLAUDE.md files above 1,500 tokens. The window is
    exact, tokens of findings are estimated and counted once; the cost of carrying them is derived. Re-reads with an
    excuse, and results that nothing was made of, are told and not counted.

    --all asks the whole store instead: which habits, files, tools, servers, projects and sessions waste most.
    """
    if every:
        if session is not None or last is not None:
            raise WrongUsage("--all is about all sessions: name none")
        _all_sessions(settings, since, until, limit)
        return
    if since is not None:
        raise WrongUsage("--since goes with --all")
    with opened(settings) as store:
        found = judge(store, settings, store.choose(session, last), _message(until))
        _, contents = store.filled(found.facts, found.window)
    facts, window, items = found.facts, found.window, found.waste[:limit]
    files = files_of(facts, found.waste)
    if settings.json:
        show.document(
            {
                "sessionId": facts.session.session_id,
                "project": facts.session.project,
                "messageCount": facts.session.messages,
                "until": facts.until if facts.is_partial else None,
                "window": {**window_json(window), "accuracy": window.basis},
                "waste": waste_json(items),
                "wasteTokens": sum(item.estimated_tokens for item in found.waste),
                "excusedTokens": sum(item.excused_tokens for item in found.waste),
                "accuracy": "estimated",
                "files": findings_json.files_json(files),
                "contents": contents_json(contents),
                "actions": actions_json(found.actions),
                "recommendations": recommendations_json(found.actions, window),
            }
        )
        return
    page = show.page(settings)
    findings.waste_text(page, facts, window, items, everything=settings.verbose)
    contents_text(page, contents, is_alone=True)
    findings.files_text(page, files, facts.session.project)
    actions_text(page, found.actions)
    findings.note_text(page)
    console.put(page.text())


def _message(until: str | None) -> int | None:
    if until is None:
        return None
    try:
        return options.whole()(until)
    except WrongUsage:
        raise WrongUsage(f"--until: {until!r} is not the number of a message; a time needs --all") from None


def _all_sessions(settings: Settings, since: str | None, until: str | None, limit: int | None) -> None:
    begin, end = options.period(since, until)
    with opened(settings) as store:
        shown = limit if settings.json else limit or _SHOWN
        rows = store.fetch(HistoryWaste, project=settings.project, limit=shown, since=begin, until=end)
    show.answer(
        settings,
        lambda: waste_overview.overview_json(rows),
        lambda page: waste_overview.overview_text(page, rows),
    )
