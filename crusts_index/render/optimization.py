"""The text of `optimize`: each fix with what it saves and what to do."""

from __future__ import annotations

from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.optimize import Optimization
from crusts_index.render import text
from crusts_index.render.page import Page

_LINES_SHOWN = 5
_ANY_WIDTH = 10_000
_LEAST_SHARE = 0.1


def optimization_text(page: Page, facts: Facts, found: Optimization, share: float, folder: str | None) -> None:
    """The fixes for a terminal; `share` is per cent of the limit, `folder` the project that would be written to."""
    session = facts.session
    page.head_session(session.session_id, session.title)
    if not found.fixes:
        page.say("Nothing to optimize: no fix would save enough.")
        return
    of_limit = f", {share:.1f}% of the limit" if share >= _LEAST_SHARE else ""
    count = "1 fix" if len(found.fixes) == 1 else f"{len(found.fixes)} fixes"
    page.say(f"{count}, together worth about {found.total:,} tokens{of_limit} (estimated).")
    if folder is not None:
        page.say(f"Project: {text.shorten_path(folder, (page.width or _ANY_WIDTH) - 9)}")
    for fix in found.fixes:
        page.head(f"{fix.id}  {fix.title}" + (f", about {fix.savings:,} tokens" if fix.savings else ""))
        page.say_inset(2, f"{fix.kind}: {fix.description}")
        if fix.target:
            page.say_inset(2, f"adds to {fix.target.removeprefix(f'{folder}/')} of the project:")
        lines = fix.action.split("\n")
        page.say_as_is("\n".join(lines[:_LINES_SHOWN]), 4)
        if len(lines) > _LINES_SHOWN:
            rest = len(lines) - _LINES_SHOWN
            page.say_inset(2, f"  + {rest} more {'line' if rest == 1 else 'lines'}")
    if any(fix.is_applicable for fix in found.fixes):
        page.say()
        page.say("--apply writes these, asking for each; the old files are kept.")
