"""Waste for people: grouped by severity, wrapped to the terminal's width."""

from __future__ import annotations

from collections.abc import Sequence

from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.files import FileUse
from crusts_index.insight.waste.find import SEVERITIES, WasteItem
from crusts_index.insight.window.judge import Window
from crusts_index.render import text
from crusts_index.render.page import Page

_LOW_SHOWN = 5
_FILES_SHOWN = 10
_ACCURACY = (
    "Tokens of findings are estimated (see `crusts accuracy`), each counted once. Carried: tokens times the later "
    "calls that had them in their context, at the list price of a cache read (derived)."
)


def waste_text(page: Page, facts: Facts, window: Window, items: Sequence[WasteItem], *, everything: bool) -> None:
    """The findings of a session's window; of the low ones the first few unless `everything`."""
    counted = [item for item in items if item.is_counted]
    total = sum(item.estimated_tokens for item in counted)
    session = facts.session
    page.head_session(session.session_id, session.title)
    cut = f", up to message {facts.until:,}" if facts.is_partial else ""
    share = f", {text.percent(min(1.0, total / window.size))}" if window.size else ""
    worth = [item for item in counted if item.estimated_tokens]
    if window.size is None:
        page.say("No call so far, so the window is not known yet.")
    elif not worth:
        page.say(f"Clean: nothing in the window of {window.size:,} tokens ({window.basis}) counts as waste{cut}.")
    else:
        page.say(
            f"{text.plural(len(worth), 'finding')} worth {total:,} tokens{share} of the window's {window.size:,} "
            f"({window.basis}){cut}."
        )
    for severity in SEVERITIES:
        _group(page, severity, [item for item in counted if item.severity == severity], everything)
    _told(page, [item for item in items if not item.is_counted])


def files_text(page: Page, files: Sequence[FileUse], project: str) -> None:
    """The files that take most of the window, by their paths within the project."""
    if not files:
        return
    page.head("Files read")
    shown = files[:_FILES_SHOWN]
    room = None if page.width is None else max(8, page.width - 36)
    page.rows(
        ("tokens", "of it waste", "reads", "edits", "file"),
        [(one.tokens, one.wasted_tokens, one.reads, one.edits, _path(one.path, project, room)) for one in shown],
    )
    if len(shown) < len(files):
        page.say(f"+ {len(files) - len(shown):,} more")


def note_text(page: Page) -> None:
    """How the numbers are to be read."""
    page.say()
    page.say(_ACCURACY)


def _group(page: Page, severity: str, items: list[WasteItem], everything: bool) -> None:
    if not items:
        return
    total = sum(item.estimated_tokens for item in items)
    page.head(f"{severity.capitalize()} ({len(items)}{f', {total:,} tokens' if total else ''})")
    shown = items if everything or severity != "low" else items[:_LOW_SHOWN]
    told = ""
    for item in shown:
        size = f"{item.estimated_tokens:,} tokens: " if item.estimated_tokens else ""
        page.say_inset(2, f"{size}{item.description}{_carried(item)}")
        if item.recommendation != told:
            page.say_inset(4, f"→ {item.recommendation}")
        told = item.recommendation
    if len(shown) < len(items):
        rest = sum(item.estimated_tokens for item in items[len(shown) :])
        page.say_inset(2, f"+ {len(items) - len(shown):,} more, {rest:,} tokens (--verbose shows them)")


def _carried(item: WasteItem) -> str:
    if not item.carried_tokens or not item.estimated_tokens:
        return ""
    usd = "" if item.carried_usd is None else f", {text.usd(item.carried_usd)}"
    return f"; carried so far {text.tokens(item.carried_tokens)}{usd}"


def _told(page: Page, items: list[WasteItem]) -> None:
    if not items:
        return
    page.head("Told, not counted")
    for item in items:
        page.say_inset(2, f"{item.excused_tokens:,} tokens: {item.description}")


def _path(path: str, project: str, room: int | None) -> str:
    inside = path.removeprefix(project.rstrip("/") + "/")
    return inside if room is None else text.shorten_path(inside, room)
