"""Compactions as results to compare: a session just before one and just after it, with what its summary names."""

from __future__ import annotations

from typing import Any

from crusts_index.cli.session import Store
from crusts_index.insight.losses.survivors import delta_of, file_references
from crusts_index.insight.session.facts import Compaction, Facts
from crusts_index.insight.session.sizes import sizes_of
from crusts_index.insight.window.buckets import lifetime_of
from crusts_index.insight.window.fixed import fixed_context
from crusts_index.render.jsonout import rounded

EXCERPT_CHARS = 2_048


def snapshot(store: Store, facts: Facts) -> dict[str, Any]:
    """A session in a few numbers. The window is exact or derived, the total and the waste are estimated."""
    window = store.window(facts)
    waste, lifetime = store.waste(facts, window), lifetime_of(facts, window)
    return {
        "tokensTotal": lifetime.total if lifetime else None,
        "tokensCurrentContext": window.size,
        "usagePercentage": rounded(window.usage_percentage, 1),
        "messageCount": facts.session.messages,
        "wasteCount": sum(item.is_counted for item in waste),
        "compactionCount": len(facts.all_compactions),
        "contextLimit": window.limit,
        "limitKind": window.limit_kind,
    }


def result_of(store: Store, facts: Facts, compaction: Compaction) -> dict[str, Any]:
    """The result of one compaction in the store: `facts` hold the whole session."""
    session = facts.session
    result: dict[str, Any] = {
        "sessionId": session.session_id,
        "sessionPath": session.transcript_path,
        "compaction": facts.all_compactions.index(compaction) + 1,
        "trigger": compaction.trigger,
        "focus": compaction.focus,
        "timestampMs": compaction.time_ms,
        **sizes_json(facts, compaction),
    }
    first = compaction.message
    if first is None or first < 2:
        return result | {"status": "error", "message": "nothing stands on one side of it"}
    before = snapshot(store, store.load(session.session_id, first - 1))
    after = snapshot(store, store.load(session.session_id, _settled(facts, first)))
    return result | {
        "status": "compacted",
        "before": before,
        "after": after,
        "delta": delta_of(before, after),
        **summary_of(facts, compaction),
    }


def sizes_json(facts: Facts, compaction: Compaction) -> dict[str, Any]:
    """The window around a compaction, as every command has it (D19)."""
    sizes = sizes_of(facts, compaction, fixed_context(facts).tokens)
    return {"tokensBefore": sizes.before, "tokensAfter": sizes.after, "tokensDropped": sizes.dropped}


def summary_of(facts: Facts, compaction: Compaction) -> dict[str, Any]:
    """The files that its summary names, and the summary's beginning; nothing where there is none."""
    texts = [
        text
        for block in facts.blocks
        if block.record_id == compaction.summary_record_id and (text := facts.text(block.id))
    ]
    whole = "\n".join(texts)
    if not whole:
        return {"summaryFileRefs": [], "summaryExcerpt": None}
    excerpt = whole if len(whole) <= EXCERPT_CHARS else whole[:EXCERPT_CHARS] + "…"
    return {"summaryFileRefs": file_references(whole), "summaryExcerpt": excerpt}


def _settled(facts: Facts, first: int) -> int:
    """The message of the first call after a compaction: with it the window's size is exact again."""
    later = (call.message for call in facts.calls if call.message >= first)
    return next(later, facts.session.messages)
