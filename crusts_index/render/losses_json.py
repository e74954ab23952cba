"""`lost --json`: the compactions of a session, or what they cost over many; messages are numbered from 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from crusts_index.insight.losses.cost import Cost, Total
from crusts_index.insight.losses.survival import VERDICTS, Again
from crusts_index.insight.losses.taken import Event, Fate
from crusts_index.insight.session.facts import Facts
from crusts_index.render.analysis_json import timestamp
from crusts_index.render.jsonout import dollars

Json = dict[str, Any]


def losses_json(facts: Facts, events: Sequence[Event]) -> Json:
    """The object that `lost --json` prints for a session; messages are numbered from 1."""
    return {
        "sessionId": facts.session.session_id,
        "project": facts.session.project,
        "compactionCount": len(events),
        "events": [_event_json(event) for event in events],
        "grandTotalLost": sum(event.lost_tokens for event in events),
        "grandTotalBefore": sum(event.tokens_before or 0 for event in events),
        "grandTotalDropped": sum(event.tokens_dropped or 0 for event in events),
        "grandTotalReacquired": sum(event.again_tokens for event in events),
        "grandTotalReacquiredCostUsd": sum_usd(event.again_usd for event in events),
        "accuracy": {"tokensBefore": "exact", "tokensAfter": "exact", "items": "estimated", "cost": "derived"},
    }


def _event_json(event: Event) -> Json:
    """One compaction."""
    one = event.compaction
    return {
        "eventNumber": event.number,
        "boundaryIndex": one.message,
        "trigger": one.trigger,
        "detection": one.detection,
        "timestamp": timestamp(one.time_ms),
        "focus": one.focus,
        "onLivePath": one.on_path,
        "isKnown": event.is_known,
        "tokensBefore": event.tokens_before,
        "tokensBeforeBasis": event.before_basis,
        "tokensAfter": event.tokens_after,
        "tokensAfterBasis": event.after_basis,
        "tokensDropped": event.tokens_dropped,
        "windowAfter": event.window_after,
        "callsUntilFull": event.calls_until_full,
        "summaryExcerpt": event.summary_excerpt,
        "rules": "fields" if event.has_fields else "text",
        "verdicts": {
            verdict: {
                "items": sum(fate.verdict == verdict for fate in event.fates),
                "tokens": event.tokens_of(verdict),
            }
            for verdict in VERDICTS
        },
        "reacquired": {
            "count": len(event.again),
            "tokens": event.again_tokens,
            "costUsd": dollars(event.again_usd),
        },
        "otherTokens": event.other_tokens,
        "items": [_fate_json(fate) for fate in event.fates],
        "lostItems": [_item_json(fate) for fate in event.lost],
        "totalLostTokens": event.lost_tokens,
    }


def costs_json(costs: Sequence[Cost], total: Total, triggers: Sequence[Total], weeks: Sequence[Total]) -> Json:
    """The object that `lost --all --json` prints."""
    return {
        "total": _total_json(total, None),
        "triggers": [_total_json(one, "trigger") for one in triggers],
        "weeks": [_total_json(one, "week") for one in weeks],
        "compactions": [
            {
                "session": cost.session_id,
                "project": cost.project,
                "timestamp": cost.timestamp,
                "trigger": cost.trigger,
                "focus": cost.focus,
                "tokensBefore": cost.tokens_before,
                "tokensAfter": cost.tokens_after,
                "tokensDropped": cost.tokens_dropped,
                "lostTokens": cost.lost_tokens,
                "reacquiredTokens": cost.again_tokens,
                "reacquiredCostUsd": dollars(cost.again_usd),
                "callsUntilFull": cost.calls_until_full,
            }
            for cost in costs
        ],
    }


def sum_usd(values: Iterable[float | None]) -> float | None:
    """Dollars added up; None if one of them is unknown."""
    total: float = 0
    for value in values:
        if value is None:
            return None
        total += value
    return dollars(total)


def _fate_json(fate: Fate) -> Json:
    return {
        **_item_json(fate),
        "weight": fate.item.weight,
        "evidence": [{"verdict": one.verdict, "detail": one.detail, "message": one.message} for one in fate.evidence],
        "reacquired": _again_json(fate.again),
    }


def _item_json(fate: Fate) -> Json:
    item = fate.item
    return {
        "type": item.kind,
        "description": item.description,
        "tokens": item.tokens,
        "messageRange": [item.first_message, item.last_message],
        "verdict": fate.verdict,
    }


def _again_json(again: Sequence[Again]) -> Json | None:
    if not again:
        return None
    return {
        "tokens": sum(one.tokens for one in again),
        "costUsd": sum_usd(one.cost_usd for one in again),
        "messages": [one.message for one in again],
    }


def _total_json(one: Total, key: str | None) -> Json:
    return {
        **({key: one.key} if key else {}),
        "compactions": one.compactions,
        "withFocus": one.with_focus,
        "tokensBefore": one.tokens_before,
        "tokensDropped": one.tokens_dropped,
        "lostTokens": one.lost_tokens,
        "reacquiredTokens": one.again_tokens,
        "reacquiredCostUsd": dollars(one.again_usd),
        "unpricedCompactions": one.unpriced,
        "medianCallsUntilFull": one.calls_until_full,
        "filledAgain": one.full,
    }
