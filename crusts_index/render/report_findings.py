"""What a report says about waste and what to do: findings, advice, texts to paste, what takes most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.advice import Advice
from crusts_index.insight.waste.consumers import consumers_of
from crusts_index.insight.waste.find import WasteItem
from crusts_index.insight.waste.fixes import FixBlocks
from crusts_index.insight.window.judge import Window
from crusts_index.render import text
from crusts_index.render.report_parts import Column, Copy, Table, count, inside, plural, shares

Json = dict[str, Any]

_NUMBERED = re.compile(r"^\s*\d+\.\s*")
_CONSUMERS = 10


def copies(fixes: FixBlocks) -> list[Copy]:
    """The texts to paste that there are."""
    given = (
        Copy("paste-now", "Type now", fixes.compact_command or ""),
        Copy("paste-session", "Say in this session", fixes.session_prompt or ""),
        Copy("paste-claude-md", "Add to CLAUDE.md", fixes.claude_md_snippet or ""),
    )
    return [one for one in given if one.body]


def advice_steps(advice: Advice) -> list[Json]:
    """What to do, the most urgent first."""
    found = []
    for one in advice.recommendations:
        head, *lines = one.action.splitlines()
        found.append(
            {
                "head": head.rstrip(":") if lines else head,
                "lines": [_NUMBERED.sub("", line) for line in lines],
                "saves": f"about {one.impact:,} tokens" if one.impact else "",
                "reason": one.reason,
            }
        )
    return found


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
        "head": f"{plural(len(items), 're-read')} with an excuse, not counted",
        "lines": [f"{item.description} ({item.excused_tokens:,} tokens, {item.basis})" for item in items],
    }


def consumers(facts: Facts, window: Window, waste: Sequence[WasteItem]) -> Table:
    """What takes most of the window."""
    every = consumers_of(facts, window, waste)
    shown = every[:_CONSUMERS]
    columns = (Column("what", "path"), Column("tokens", "number"), Column("accuracy"), Column("note", "words"))
    bars = shares([one.tokens for one in shown], (count(one.tokens) for one in shown))
    rows = [(one.name, bar, one.basis, one.note) for one, bar in zip(shown, bars, strict=True)]
    return Table(columns, rows, more=len(every) - len(shown))
