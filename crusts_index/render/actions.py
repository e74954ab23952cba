"""What to do, as text and as JSON, the same in every command that has it (D18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.waste.actions import Action
from crusts_index.insight.waste.optimize import Fix
from crusts_index.insight.window.judge import Window
from crusts_index.render import text
from crusts_index.render.page import Page

_LINES_SHOWN = 5
_PRIORITIES = 5
_ANY_WIDTH = 10_000
_LEAST_SHARE = 0.1
_PLACES = {"type": "type", "say": "say to Claude", "set": "change"}


def actions_json(actions: Sequence[Action]) -> list[dict[str, object]]:
    """The list; unknown = null."""
    return [one.as_json() for one in actions]


def recommendations_json(actions: Sequence[Action], window: Window) -> dict[str, Any]:
    """The same list under the keys that older programs know; the calls left stand there as messages too."""
    return {
        "recommendations": [
            {
                "priority": min(place, _PRIORITIES),
                "action": one.do,
                "impact": one.frees_tokens or 0,
                "reason": one.why,
            }
            for place, one in enumerate(actions, 1)
        ],
        "estimated_messages_until_compaction": window.calls_left,
        "estimated_calls_until_compaction": window.calls_left,
        "context_health": window.health,
    }


def actions_text(page: Page, actions: Sequence[Action]) -> None:
    """The list for people, with where each number comes from; nothing where it is empty."""
    if not actions:
        return
    page.head("What to do")
    for place, one in enumerate(actions, 1):
        page.say(f"{place}. {one.title} ({_PLACES[one.place]}):", indent=3)
        _do(page, one.do, 5)
        if one.gain:
            page.say_inset(3, one.gain)
        page.say_inset(3, one.why)


def fixes_text(page: Page, fixes: Sequence[Fix], total: int, share: float, folder: str | None) -> None:
    """The ways to carry actions out; `share` is per cent of the limit, `folder` the project that is written to."""
    if not fixes:
        page.say("Nothing to optimize: no fix would save enough.")
        return
    of_limit = f", {share:.1f}% of the limit" if share >= _LEAST_SHARE else ""
    count = text.plural(len(fixes), "fix", "fixes")
    page.say(f"{count}, together worth about {total:,} tokens{of_limit} (estimated).")
    if folder is not None:
        page.say(f"Project: {text.shorten_path(folder, (page.width or _ANY_WIDTH) - 9)}")
    for fix in fixes:
        page.head(f"{fix.id}  {fix.title}" + (f", about {fix.savings:,} tokens" if fix.savings else ""))
        page.say_inset(2, f"{fix.kind}: {fix.description}")
        if fix.target:
            page.say_inset(2, f"adds to {fix.target.removeprefix(f'{folder}/')} of the project:")
        _do(page, fix.action, 4)
    if any(fix.is_applicable for fix in fixes):
        page.say()
        page.say("--apply writes these, asking for each; the old files are kept.")


def _do(page: Page, do: str, margin: int) -> None:
    """What is to be done: a command as it is, however long, and of other texts the first lines, wrapped."""
    lines = do.split("\n")
    for line in lines[:_LINES_SHOWN]:
        if line.startswith("/"):
            page.say_as_is(line, margin)
        else:
            page.say_inset(margin, line)
    if len(lines) > _LINES_SHOWN:
        page.say_inset(margin, f"+ {text.plural(len(lines) - _LINES_SHOWN, 'more line')}")


def fix_json(actions: Sequence[Action]) -> dict[str, Any]:
    """The three texts that older programs know: to say, to add to CLAUDE.md, and to type; null = nothing."""
    by_id = {one.id: one.do for one in actions}
    ways = {way.kind: "\n".join(way.lines) for one in actions for way in one.ways}
    return {
        "sessionPrompt": by_id.get("session-prompt"),
        "claudeMdSnippet": ways.get("claudemd-rule"),
        "compactCommand": by_id.get("compact-focus", by_id.get("compact")),
    }
