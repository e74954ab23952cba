"""What fills the window, said: the categories' letters and names, and the one list of everything in it (D17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crusts_index.insight.session.mentions import short_names
from crusts_index.insight.window.contents import FILE, MEMORY
from crusts_index.insight.window.listed import REST, Content
from crusts_index.render import text
from crusts_index.render.jsonout import dollars
from crusts_index.render.page import Page

SHOWN = 10
"""Rows for people; the rest is one more."""
LETTERS = {"conversation": "C", "retrieved": "R", "user": "U", "system": "Sys", "tools": "T", "state": "St"}
NAMES = {"user": "last prompt"}
"""How a category is called where its key is not."""
LEGEND = (
    "Retrieved: looked up in files and on the web. Tools: schemas, all other inputs and results. System: fixed "
    "context, listings, summaries. State: memory, plans, tasks, skills."
)
SHORT_LEGEND = (
    "C conversation, R looked up in files and on the web, U last prompt, Sys fixed context, listings and summaries, "
    "T tools, St memory, plans, tasks, skills."
)
"""What the letters are, where no table names them."""
CARRIED = (
    "Carried: what having it in every later call has cost so far, at the price of a cache read. Derived: what the bill "
    "leaves for it."
)

_COUNTED = {"file": "read", "result": "result", "input": "use", "summary": "part"}


class Shown(NamedTuple):
    """A row for people."""

    tokens: int
    share: float
    what: str
    often: str
    letter: str
    accuracy: str
    usd: float | None


def category_name(category: str) -> str:
    """What a category is called."""
    return NAMES.get(category, category)


def shown_contents(contents: Sequence[Content], most: int = SHOWN) -> list[Shown]:
    """The first rows as they are shown, and all others in one."""
    named = short_names(row.what for row in contents if row.kind in (FILE, MEMORY))
    shown = list(contents[:most])
    if len(contents) > most and contents[-1].kind == REST and contents[-1].tokens >= shown[-1].tokens:
        shown[-1] = contents[-1]  # what is in no row: last in the list, but nothing to be passed over among small ones
    rows = [
        Shown(
            row.tokens,
            row.share,
            named.get(row.what, row.what),
            _often(row),
            LETTERS.get(row.category or "", ""),
            row.accuracy,
            row.carried_usd,
        )
        for row in shown
    ]
    others = [row for row in contents if row not in shown]
    if others:
        usd = [row.carried_usd for row in others]
        rows.append(
            Shown(
                sum(row.tokens for row in others),
                sum(row.share for row in others),
                f"{len(others):,} more",
                "",
                "",
                "estimated",
                None if None in usd else sum(filter(None, usd)),
            )
        )
    return rows


def contents_text(page: Page, contents: Sequence[Content], *, is_alone: bool) -> None:
    """The list: the first rows, and the rest in one; `is_alone`: nothing on the page says yet what the letters are."""
    if not contents:
        return
    page.head("What takes most")
    page.rows(
        ("tokens", "share", "", "what", "", "carried", "accuracy"),
        [
            (row.tokens, text.percent(row.share), row.letter, row.what, row.often, row.usd, row.accuracy)
            for row in shown_contents(contents)
        ],
        {"carried": text.usd},
    )
    if is_alone:
        page.say(SHORT_LEGEND)
    page.say(CARRIED)


def contents_json(contents: Sequence[Content]) -> list[dict[str, Any]] | None:
    """The whole list; `tokens` sum to the window. Null while that is not known."""
    return (
        None
        if not contents
        else [
            {
                "what": row.what,
                "kind": row.kind,
                "category": row.category,
                "count": row.times,
                "tokens": row.tokens,
                "share": round(row.share, 4),
                "accuracy": row.accuracy,
                "carried_usd": dollars(row.carried_usd),
            }
            for row in contents
        ]
    )


def _often(row: Content) -> str:
    noun = _COUNTED.get(row.kind)
    if noun is None or not row.times:
        return ""
    return f"{row.times:,} {noun}" + ("s" if row.times != 1 else "")
