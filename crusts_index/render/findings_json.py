"""Waste, advice and fixes as JSON: the shapes that other programs rely on; messages are numbered from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.advice import Advice
from crusts_index.insight.consumers import Consumer, FileUse
from crusts_index.insight.optimize import Fix
from crusts_index.insight.waste import WasteItem

Json = dict[str, Any]


def waste_json(items: Sequence[WasteItem]) -> list[Json]:
    """The findings in their order. Excused re-reads are among them, with an `excuse` and no tokens of their own."""
    return [item._asdict() | {"carried_usd": _usd(item.carried_usd)} for item in items]


def advice_json(advice: Advice) -> Json:
    """The object `recommendations`. Both predictions count API calls; the older name is kept for older readers."""
    return {
        "recommendations": [one._asdict() for one in advice.recommendations],
        "estimated_messages_until_compaction": advice.calls_until_compaction,
        "estimated_calls_until_compaction": advice.calls_until_compaction,
        "context_health": advice.context_health,
    }


def files_json(files: Sequence[FileUse]) -> list[Json]:
    """The files read in the window."""
    return [one._asdict() for one in files]


def consumers_json(consumers: Sequence[Consumer]) -> list[Json]:
    """What takes a part of the window."""
    return [one._asdict() for one in consumers]


def fix_json(fix: Fix) -> Json:
    """One fix of `optimize`; `applyTarget` and `applyContent` only where it can be written to a file."""
    found: Json = {
        "id": fix.id,
        "kind": fix.kind,
        "title": fix.title,
        "description": fix.description,
        "estimatedSavings": fix.savings,
        "action": fix.action,
        "autoApplicable": fix.is_applicable,
    }
    if fix.is_applicable:
        found |= {"applyTarget": fix.target, "applyContent": "\n".join(fix.lines)}
    return found


def _usd(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
