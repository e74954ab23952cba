"""Waste as JSON, the same in every command that has them."""

from __future__ import annotations

from collections.abc import Iterable

from crusts_index.insight.waste.find import WasteItem
from crusts_index.render.jsonout import dollars


def waste_json(items: Iterable[WasteItem]) -> list[dict[str, object]]:
    """The items; messages are numbered from 1, `message_range` holds both its ends."""
    return [
        {
            "type": item.type,
            "severity": item.severity,
            "description": item.description,
            "estimated_tokens": item.estimated_tokens,
            "recommendation": item.recommendation,
            **({"message_range": list(item.message_range)} if item.message_range else {}),
            "messages": list(item.messages),
            "path": item.path,
            "tool": item.tool,
            "carried_tokens": item.carried_tokens,
            "carried_usd": dollars(item.carried_usd),
            "excuse": item.excuse,
            "excused_tokens": item.excused_tokens,
            "accuracy": item.basis,
        }
        for item in items
    ]
