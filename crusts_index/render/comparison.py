"""`compare` as text and as JSON: two sessions side by side."""

from __future__ import annotations

from typing import Any

from crusts_index.folders import last_part
from crusts_index.insight.waste.comparison import Comparison, Side
from crusts_index.insight.window.words import share_words, size_words
from crusts_index.render import bill, text
from crusts_index.render.contents import category_name
from crusts_index.render.jsonout import rounded
from crusts_index.render.page import Page

Json = dict[str, Any]

_FORMS = {"change": "{:+,}".format, "%": "{:+,.1f}".format}


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
        "window": {
            "sizeA": a.window.size,
            "sizeB": b.window.size,
            "limitA": a.window.limit,
            "limitB": b.window.limit,
            "limitKindA": a.window.limit_kind,
            "limitKindB": b.window.limit_kind,
            "accuracyA": a.window.basis,
            "accuracyB": b.window.basis,
        },
        "waste": {
            "countA": a.waste_items,
            "countB": b.waste_items,
            "totalTokensA": a.waste_tokens,
            "totalTokensB": b.waste_tokens,
        },
        "compaction": {"countA": a.compactions, "countB": b.compactions},
        "cost": {
            "usdA": a.billed.cost_usd,
            "usdB": b.billed.cost_usd,
            "callsA": a.billed.calls,
            "callsB": b.billed.calls,
            "unpricedCallsA": a.billed.unpriced_calls,
            "unpricedCallsB": b.billed.unpriced_calls,
            "placeholderCallsA": a.billed.placeholder_calls,
            "placeholderCallsB": b.billed.placeholder_calls,
            "missingUsdA": a.billed.cost_missing_usd,
            "missingUsdB": b.billed.cost_missing_usd,
        },
        "cache": {"readShareA": _share(a), "readShareB": _share(b)},
        "insights": list(found.insights),
    }


def comparison_text(page: Page, found: Comparison) -> None:
    """The two sessions, a table of what differs, and what stands out."""
    a, b, total = found.a, found.b, found.change.total
    for letter, side in (("A", a), ("B", b)):
        page.head_session(side.session_id, side.title, before=f"{letter}  ")
        name = last_part(side.project)
        page.say(f"{name} · {side.messages:,} messages · {side.window.model}", indent=2)
    said = "the windows now, scaled to their size" if found.change.basis == "window" else "tokens as counted, estimated"
    page.head(f"Tokens by category: {said}")
    rows: list[tuple[object, ...]] = [
        (
            *(category_name(one.category), one.before, one.after, one.delta),
            one.percent if one.before or not one.after else None,
        )
        for one in found.change.categories
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
