"""`compare` as text and as JSON: two sessions side by side."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from crusts_index.folders import last_part
from crusts_index.insight.waste.comparison import Comparison, Side
from crusts_index.insight.window.words import share_words, size_words
from crusts_index.render import bill, text
from crusts_index.render.contents import category_name
from crusts_index.render.jsonout import rounded
from crusts_index.render.page import Page

Json = dict[str, Any]

_FORMS = {"change": "{:+,}".format, "%": "{:+,.1f}%".format}


def comparison_json(found: Comparison) -> Json:
    """The object that `compare --json` prints; `basis` says what totals and categories stand on."""
    a, b, total = found.a, found.b, found.change.total
    return {
        "sessionA": _session_json(a),
        "sessionB": _session_json(b),
        "basis": found.change.basis,
        "totalA": total.before,
        "totalB": total.after,
        "totalDelta": total.delta,
        "totalDeltaPercent": rounded(found.total_percent, 2),
        "categoryDeltas": [
            {
                "category": one.category,
                "tokensA": one.before,
                "tokensB": one.after,
                "delta": one.delta,
                "deltaPercent": rounded(one.percent, 2),
            }
            for one in found.change.categories
        ],
        "window": _both(
            a, b, size="window.size", limit="window.limit", limitKind="window.limit_kind", accuracy="window.basis"
        ),
        "waste": _both(a, b, count="waste_items", totalTokens="waste_tokens"),
        "compaction": _both(a, b, count="compactions"),
        "cost": _both(
            *(a, b),
            usd="billed.cost_usd",
            calls="billed.calls",
            unpricedCalls="billed.unpriced_calls",
            placeholderCalls="billed.placeholder_calls",
            missingUsd="billed.cost_missing_usd",
        ),
        "cache": {"readShareA": _share(a), "readShareB": _share(b)},
        "insights": list(found.insights),
    }


def comparison_text(page: Page, found: Comparison) -> None:
    """The two sessions, a table of what differs, and what stands out."""
    a, b, total = found.a, found.b, found.change.total
    for letter, side in (("A", a), ("B", b)):
        page.head_session(side.session_id, side.title, before=f"{letter}  ")
        name = last_part(side.project)
        page.say(f"{name} · {text.plural(side.messages, 'message')} · {side.window.model}", indent=2)
    said = "the windows now, scaled to their size" if found.change.basis == "window" else "tokens as counted, estimated"
    page.head(f"Tokens by category: {said}")
    rows: list[tuple[object, ...]] = [
        (category_name(one.category), one.before, one.after, one.delta, one.relative) for one in found.change.categories
    ]
    rows.append(("total", total.before, total.after, total.delta, found.total_percent))
    page.rows(("category", "A", "B", "change", "%"), rows, _FORMS)
    page.head("Beside it")
    values = [
        ("window", *(size_words(one.window) for one in (a, b))),
        ("of its limit", *(share_words(one.window) for one in (a, b))),
        ("waste, tokens", text.number(a.waste_tokens), text.number(b.waste_tokens)),
        ("waste, items", text.number(a.waste_items), text.number(b.waste_items)),
        ("compactions", text.number(a.compactions), text.number(b.compactions)),
        ("calls", text.number(a.billed.calls), text.number(b.billed.calls)),
        ("cost", text.usd(bill.cost(a.billed)), text.usd(bill.cost(b.billed))),
        ("read from cache", text.percent(a.billed.cache_read_share), text.percent(b.billed.cache_read_share)),
    ]
    page.rows(("", "A", "B"), values)
    page.say("Windows, calls and cache are exact, waste is estimated, cost derived at list price.")
    for letter, side in (("A", a), ("B", b)):
        if side.billed.placeholder_calls:
            page.say(f"{letter} {bill.missing(side.billed)}")
    if found.insights:
        page.head("What stands out")
        for insight in found.insights:
            page.say(f"• {insight}", indent=2)


def _both(a: Side, b: Side, **places: str) -> Json:
    """What stands at these places of both sides, each under its name and the side's letter."""
    return {
        f"{name}{letter}": attrgetter(at)(side)
        for name, at in places.items()
        for letter, side in zip("AB", (a, b), strict=True)
    }


def _session_json(side: Side) -> Json:
    return {
        "id": side.session_id,
        "project": side.project,
        "title": side.title,
        "messageCount": side.messages,
    }


def _share(side: Side) -> float | None:
    share = side.billed.cache_read_share
    return None if share is None else round(share, 4)
