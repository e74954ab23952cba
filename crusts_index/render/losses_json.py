"""`lost --json`: the compactions of a session, or what they cost over many; messages are numbered from 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crusts_index.insight.losses.back import Again
from crusts_index.insight.losses.cost import Cost, Total
from crusts_index.insight.losses.taken import Classes, Event, Fate
from crusts_index.insight.session.facts import Facts
from crusts_index.render.analysis_json import timestamp
from crusts_index.render.jsonout import dollars

Json = dict[str, Any]


def losses_json(facts: Facts, events: Sequence[Event], pastes: Mapping[int, str]) -> Json:
    """The object that `lost --json` prints for a session; `pastes` by the number of the event."""
    return {
        "sessionId": facts.session.session_id,
        "project": facts.session.project,
        "compactionCount": len(events),
        "events": [_event_json(event, pastes.get(event.number)) for event in events],
        "grandTotalLost": sum(event.classes.lost for event in events),
        "grandTotalBefore": sum(event.sizes.before or 0 for event in events),
        "grandTotalDropped": sum(event.sizes.dropped or 0 for event in events),
        "grandTotalReacquired": sum(event.again_tokens for event in events),
        "grandTotalReacquiredCostUsd": sum_usd(event.again_usd for event in events),
        "accuracy": {"before": "exact", "after": "exact", "items": "estimated", "cost": "derived"},
    }


def _event_json(event: Event, paste: str | None) -> Json:
    """One compaction. `before`, `after`, `dropped`, and the parts that sum to it."""
    one, sizes, classes = event.compaction, event.sizes, event.classes
    return {
        "eventNumber": event.number,
        "boundaryIndex": one.message,
        "trigger": one.trigger,
        "detection": one.detection,
        "timestamp": timestamp(one.time_ms),
        "focus": one.focus,
        "onLivePath": one.on_path,
        "isKnown": event.is_known,
        "before": sizes.before,
        "after": sizes.after,
        "dropped": sizes.dropped,
        **_classes_json(classes, is_known=event.is_known),
        "thinkingTokens": event.thinking_tokens,
        "paste": paste,
        "tokensBefore": sizes.before,
        "tokensBeforeBasis": sizes.before_basis,
        "tokensAfter": sizes.after,
        "tokensAfterBasis": sizes.after_basis,
        "tokensDropped": sizes.dropped,
        "callsUntilFull": event.calls_until_full,
        "summaryExcerpt": event.summary.excerpt,
        "verdicts": {
            verdict: {"items": sum(fate.verdict == verdict for fate in event.fates), "tokens": tokens}
            for verdict, tokens in classes.by_verdict.items()
        },
        "reacquired": {
            "count": len(event.again),
            "tokens": event.again_tokens,
            "costUsd": dollars(event.again_usd),
        },
        "items": [_fate_json(fate) for fate in event.fates],
        "lostItems": [_item_json(fate) for fate in event.fates if fate.lost_tokens],
        "totalLostTokens": classes.lost,
    }


def _classes_json(classes: Classes, *, is_known: bool) -> Json:
    """What became of what was dropped, null where nothing is left to tell it by."""
    if not is_known:
        return dict.fromkeys(("back", "mentioned", "gone", "rest", "scale"))
    return {
        "back": {"kept": classes.kept, "reinjected": classes.reinjected, "read_again": classes.read_again},
        "mentioned": classes.mentioned,
        "gone": classes.gone,
        "rest": classes.rest,
        "scale": round(classes.scale, 4),
    }


def costs_json(costs: Sequence[Cost], total: Total, triggers: Sequence[Total], weeks: Sequence[Total]) -> Json:
    """The object that `lost --all --json` prints."""
    return {
        "total": _total_json(total, None),
        "triggers": [_total_json(one, "trigger") for one in triggers],
        "weeks": [_total_json(one, "week") for one in weeks],
        "compactions": [_cost_json(cost) for cost in costs],
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
        "evidence": [part._asdict() for part in fate.evidence],
        "reacquired": _again_json(fate.again),
    }


def _item_json(fate: Fate) -> Json:
    item = fate.item
    return {
        "type": item.kind,
        "description": item.description,
        "tokens": item.tokens,
        "lostTokens": fate.lost_tokens,
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


def _cost_json(cost: Cost) -> Json:
    row, event = cost.row, cost.event
    return {
        "session": row.session_id,
        "project": row.project,
        "timestamp": row.timestamp,
        "trigger": row.trigger,
        "focus": row.focus,
        "tokensBefore": cost.sizes.before,
        "tokensAfter": cost.sizes.after,
        "tokensDropped": cost.sizes.dropped,
        "lostTokens": event.classes.lost if event else None,
        "reacquiredTokens": event.again_tokens if event else None,
        "reacquiredCostUsd": dollars(event.again_usd) if event else None,
        "callsUntilFull": event.calls_until_full if event else None,
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
