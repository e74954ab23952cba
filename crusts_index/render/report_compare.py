"""What a report says about two sessions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.session.facts import Compaction
from crusts_index.insight.session.numbers import DERIVED, ESTIMATED, EXACT
from crusts_index.insight.waste.comparison import Comparison, Side
from crusts_index.insight.window.curve import Point
from crusts_index.insight.window.words import NOT_KNOWN, limit_words, share_words, size_words
from crusts_index.render import bill, text
from crusts_index.render.report_chart import curve_chart
from crusts_index.render.report_costs import cache_bar, output_basis
from crusts_index.render.report_parts import Column, Table, change_words, count, name_of, numbers, signed
from crusts_index.render.report_session import bucket_bar

Json = dict[str, Any]
Curve = tuple[Sequence[Point], Sequence[Compaction]]


def compare_context(found: Comparison, curves: tuple[Curve, Curve]) -> Json:
    """What the templates `compare.*` are filled with; both curves are drawn to one scale."""
    change = found.change
    peak = max((point.call.context_tokens for points, _ in curves for point in points), default=0)
    said = "the windows now, scaled to their size" if change.basis == "window" else "tokens as counted"
    return {
        "title": "Two sessions compared",
        "sides": [
            _side(letter, side, curve, peak)
            for letter, side, curve in zip("AB", (found.a, found.b), curves, strict=True)
        ],
        "insights": found.insights,
        "basis": said,
        "categories": _categories(found),
        "rest": _rest(found.a, found.b),
        "cache": [(letter, cache_bar(side.billed)) for letter, side in (("A", found.a), ("B", found.b))],
    }


def _side(letter: str, side: Side, curve: Curve, peak: float) -> Json:
    points, cuts = curve
    window = side.window
    return {
        "letter": letter,
        "title": text.shorten(side.title or name_of(side.project), 160),
        "facts": [
            ("Session", side.session_id),
            ("Project", side.project),
            ("Model", window.model),
            ("Messages", f"{side.messages:,}, in {bill.calls(side.billed)}"),
            (
                "Window",
                NOT_KNOWN
                if window.size is None
                else f"{window.size:,} ({window.basis}) of {limit_words(window)} tokens, {window.health}",
            ),
        ],
        "chart": curve_chart(f"curve-{letter.lower()}", points, cuts, top=peak),
        "bar": bucket_bar(side.buckets),
    }


def _categories(found: Comparison) -> Table:
    columns = (Column("category", "category"), *numbers(ESTIMATED, "A", "B", "change", "%"))
    rows = [
        (one.category, count(one.before), count(one.after), signed(one.delta), change_words(one.relative))
        for one in found.change.categories
    ]
    total = found.change.total
    last = ("total", count(total.before), count(total.after), signed(total.delta), change_words(found.total_percent))
    return Table(columns, [*rows, last], has_total=True)


def _rest(a: Side, b: Side) -> Table:
    columns = (Column(""), Column("A", "number"), Column("B", "number"), Column("accuracy"))
    basis = ", ".join(dict.fromkeys(filter(None, (a.window.basis, b.window.basis))))
    rows = [
        ("window", size_words(a.window), size_words(b.window), basis),
        ("of its limit", share_words(a.window), share_words(b.window), basis),
        ("waste, tokens", count(a.waste_tokens), count(b.waste_tokens), ESTIMATED),
        ("waste, findings", count(a.waste_items), count(b.waste_items), ESTIMATED),
        ("compactions", count(a.compactions), count(b.compactions), EXACT),
        ("API calls", count(a.billed.calls), count(b.billed.calls), EXACT),
        (
            "output tokens",
            *(text.tokens(text.at_least(one.billed.output, one.billed.placeholder_calls)) for one in (a, b)),
            output_basis(a.billed.placeholder_calls or b.billed.placeholder_calls),
        ),
        (
            "read from cache",
            text.percent(a.billed.cache_read_share),
            text.percent(b.billed.cache_read_share),
            EXACT,
        ),
        ("cost", text.usd(bill.cost(a.billed)), text.usd(bill.cost(b.billed)), DERIVED),
    ]
    return Table(columns, rows)
