"""`crusts fix`: what to do, as texts to paste."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.judged import Judged, judge
from crusts_index.cli.session import opened
from crusts_index.insight.window.words import window_json
from crusts_index.render.actions import actions_json, fix_json
from crusts_index.render.page import Page
from crusts_index.store.settings import Settings


def fix(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    until: options.UntilMessage = None,
) -> None:
    """What to do, as text to paste: the list that `crusts analyze` has, each with what it frees and why.

    Commands to type, prompts to say to Claude, and what to change in files and settings. Tokens freed by a /compact
    are the share that your own compactions freed (median); money is that of carrying the tokens along as cache reads.
    """
    with opened(settings) as store:
        found = judge(store, settings, store.choose(session, last), until)
    show.answer(settings, lambda: _json(found), lambda page: _text(page, found))


def _json(found: Judged) -> dict[str, object]:
    return {
        "sessionId": found.facts.session.session_id,
        "window": window_json(found.window),
        **fix_json(found.actions),
        "actions": actions_json(found.actions),
    }


def _text(page: Page, found: Judged) -> None:
    window = found.window
    if not found.actions:
        page.say(
            "Nothing to fix: no call so far, so the window is not known yet."
            if window.size is None
            else f"Nothing to fix: the window is {window.health}, at {window.usage_percentage:.0f}% of its limit.",
            indent=2,
        )
    for place, one in enumerate(found.actions, 1):
        if place > 1:
            page.say()
        page.head(f"{place}. {one.title}")
        page.say()
        if one.place == "set":  # told, not pasted
            for line in one.do.splitlines():
                page.say(line, indent=2)
        else:
            page.say_as_is(one.do)
        page.say()
        page.say_inset(2, "; ".join(filter(None, (one.gain, one.why))))
