"""Waste over all sessions: the rows of `queries/waste.sql` by kind, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.waste.noise import NOISE
from crusts_index.insight.waste.rules import DuplicateRead
from crusts_index.render import text
from crusts_index.render.page import Page
from crusts_index.rows.reports import HistoryWaste

HABITS = {
    DuplicateRead.name: DuplicateRead.title,
    NOISE: "reading what is installed, built or locked",
    "repeated_call": "the same call again with the same result",
    "failed_call": "calls that failed, commands apart",
}
"""What the keys of habits mean."""
_KINDS = {"habit": "Habits", "file": "Files", "tool": "Tools", "server": "MCP servers", "project": "Projects"}
_KINDS |= {"session": "Sessions"}
_NAMES = {"habit": "habits", "file": "files", "tool": "tools", "server": "servers", "project": "projects"}
_NAMES |= {"session": "sessions"}
_COLUMNS = ("wasted_tokens", "wasted_uses", "tokens", "carried_tokens")
_HEADS = ("wasted", "times", "of tokens", "carried", "carried_usd")
_FORMS = dict.fromkeys(("wasted", "of tokens", "carried"), text.tokens)
_NUMBERS = 50  # columns that the numbers of a row take


def overview_json(rows: Sequence[HistoryWaste]) -> dict[str, Any]:
    """`{total, habits, files, tools, servers, projects, sessions}`, those that waste most first."""
    document: dict[str, Any] = {"total": _row_json(_total(rows), None), "accuracy": "estimated"}
    for kind, name in _NAMES.items():
        document[name] = [_row_json(row, kind) for row in rows if row.kind == kind]
    return document


def overview_text(page: Page, rows: Sequence[HistoryWaste]) -> None:
    """The same for people."""
    total = _total(rows)
    page.head("Waste over all sessions")
    if not total.uses:
        page.say("No tool results in this period.")
        return
    share = total.wasted_tokens / total.tokens if total.tokens else 0.0
    usd = "" if total.priced_usd is None else f", {text.usd(carried_usd(total))} as cache reads"
    page.say(
        f"{total.wasted_tokens:,} of {total.tokens:,} tokens of tool results served nothing "
        f"({text.percent(share)}), in {text.plural(total.sessions, 'session')}; carried along they came to "
        f"{text.tokens(total.carried_tokens)}{usd}."
    )
    room = None if page.width is None else max(12, page.width - _NUMBERS)
    for kind, title in _KINDS.items():
        found = [row for row in rows if row.kind == kind]
        if found:
            page.head(title)
            values = [
                (*(getattr(row, name) for name in _COLUMNS), carried_usd(row), _key(kind, str(row.key), room))
                for row in found
            ]
            page.rows((*_HEADS, kind), values, _FORMS)
    page.say()
    page.say(
        "Results are exact, tokens estimated (see `crusts accuracy`). A result counts once, where it was first made, "
        "and under one habit. Carried: tokens times the calls that came later, up to the next compaction, at the list "
        "price of a cache read (derived). Re-reads with an excuse are left out."
    )
    if total.carried_usd is None:
        page.say("≥ at least: calls without a list price are not in it; try `crusts index --prices --fetch`.")


def _total(rows: Sequence[HistoryWaste]) -> HistoryWaste:
    return next((row for row in rows if row.kind == "total"), HistoryWaste("total", None, 0, 0, 0, 0, 0, 0.0, 0.0, 0))


def carried_usd(row: HistoryWaste) -> float | None:
    """What carrying it along cost, in USD: at least what is priced of it, None where nothing is."""
    return text.at_least(row.priced_usd, row.carried_usd is None)


def _row_json(row: HistoryWaste, kind: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {} if kind is None else {kind: row.key}
    if kind == "habit":
        found["description"] = HABITS[row.key or ""]
    return found | {name: value for name, value in row._asdict().items() if name not in ("kind", "key")}


def _key(kind: str, key: str, room: int | None) -> str:
    if kind == "habit":
        return HABITS[key]
    if kind in ("file", "project") and room is not None:
        return text.shorten_path(key, room)
    return key
