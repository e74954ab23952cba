"""What a report says about waste and what to do: findings, advice, texts to paste, what takes most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.actions import Action
from crusts_index.insight.waste.find import WasteItem
from crusts_index.insight.window.listed import Content
from crusts_index.render import text
from crusts_index.render.contents import Shown, shown_contents
from crusts_index.render.report_parts import Column, Copy, Table, count, inside, shares

Json = dict[str, Any]


def steps(actions: Sequence[Action]) -> list[Json]:
    """What to do, each with the text to paste, what it frees, and why."""
    return [
        {
            "paste": Copy(f"do-{place}", one.title, one.do),
            "gain": one.gain,
            "reason": one.why,
            "evidence": list(one.evidence),
        }
        for place, one in enumerate(actions, 1)
    ]


def waste_findings(facts: Facts, waste: Sequence[WasteItem]) -> list[Json]:
    """The findings that count, the worst first."""
    items = [item for item in waste if item.is_counted]
    return [
        {
            "severity": item.severity,
            "tokens": count(item.estimated_tokens) if item.estimated_tokens else "",
            "basis": item.basis,
            "what": item.description,
            "where": inside(item.path, facts.session.project),
            "todo": item.recommendation,
            "carried": text.tokens(item.carried_tokens),
            "usd": text.usd(item.carried_usd),
        }
        for item in items
    ]


def excused(waste: Sequence[WasteItem]) -> Json:
    """Those that have an excuse."""
    items = [item for item in waste if not item.is_counted]
    return {
        "head": f"{text.plural(len(items), 're-read')} with an excuse, not counted",
        "lines": [f"{item.description} ({item.excused_tokens:,} tokens, {item.basis})" for item in items],
    }


def takes(contents: Sequence[Content]) -> Table:
    """What takes most of the window: the first of the list, and the rest in one row."""
    rows = shown_contents(contents)
    columns = (
        Column("what", "path"),
        Column("tokens", "number"),
        Column("share", "number"),
        Column("carried", "number"),
        Column("accuracy"),
    )
    bars = shares([row.tokens for row in rows], (count(row.tokens) for row in rows))
    return Table(
        columns,
        [
            (_with_often(row), bar, text.percent(row.share), text.usd(row.usd), row.accuracy)
            for row, bar in zip(rows, bars, strict=True)
        ],
    )


def _with_often(row: Shown) -> str:
    return f"{row.what} ({row.often})" if row.often else row.what
