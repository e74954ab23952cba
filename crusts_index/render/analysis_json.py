"""`analyze --json`: the shape that other programs rely on, numbers with their accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crusts_index.insight.session.facts import Compaction, Facts
from crusts_index.insight.session.model_history import ModelHistory
from crusts_index.insight.session.sizes import CALL, sizes_of
from crusts_index.insight.window.buckets import Buckets
from crusts_index.insight.window.catalogue import core_tool_names
from crusts_index.insight.window.fixed import FixedContext
from crusts_index.insight.window.framing import framing_of
from crusts_index.insight.window.judge import Window
from crusts_index.insight.window.settings import WindowSettings, settings_files
from crusts_index.insight.window.toolset import Toolset, announced, configured_servers
from crusts_index.render.jsonout import dollars, rounded

Json = dict[str, Any]


def breakdown_json(
    facts: Facts,
    window: Window,
    current: Buckets | None,
    lifetime: Buckets | None,
    toolset: Toolset,
    history: ModelHistory,
) -> Json:
    """The object `breakdown`. `total_tokens` is the window; buckets are the session's life, `currentContext` now.

    Without a call all of them are null, but for how the session is made.
    """
    found: Json = {
        "buckets": buckets_json(lifetime),
        "total_tokens": window.size,
        "total_accuracy": window.basis,
        "contentSumTokens": lifetime.content_sum if lifetime else None,
        "context_limit": window.limit,
        "limit_signal": window.limit_signal,
        "autocompact_trigger": window.trigger,
        "free_tokens": window.free,
        "usage_percentage": rounded(window.usage_percentage, 2),
        "context_health": window.health,
        "calls_until_compaction": window.calls_left,
        "growth_tokens_per_call": round(window.growth, 1),
        "reconciliation": reconciliation_json(lifetime),
        "toolBreakdown": _tools_json(toolset),
        "model": window.model,
        "modelHistory": history_json(history),
        "claudeCodeVersion": facts.session.first_version,
        "durationSeconds": duration_seconds(facts),
        "compactionEvents": compactions_json(facts, window),
        "currentContext": {
            "buckets": buckets_json(current),
            "total_tokens": window.size,
            "contentSumTokens": current.content_sum if current else None,
            "free_tokens": window.free,
            "usage_percentage": rounded(window.usage_percentage, 2),
            "startIndex": start_message(facts),
            "reconciliation": reconciliation_json(current),
        },
        "derivedOverhead": {
            "internalSystemPrompt": _fixed_json(window.fixed_context),
            "messageFraming": _framing_json(facts, current),
        },
        "explanations": window.why,
    }
    if toolset.servers:
        found["mcpBreakdown"] = {
            "servers": [
                {
                    "name": server.name,
                    "source": server.source,
                    "invocationCount": server.calls,
                    "tokensSpent": server.tokens,
                    "unused": server.unused,
                }
                for server in toolset.servers
            ],
            "unusedServers": list(toolset.unused_servers),
            "totalMcpTokens": toolset.mcp_tokens,
        }
    return found


def buckets_json(buckets: Buckets | None) -> list[Json] | None:
    """The six buckets; `tokens` on the basis of the reconciliation, `contentTokens` as counted."""
    return buckets and [
        {
            "category": bucket.category,
            "tokens": bucket.tokens,
            "percentage": round(bucket.percentage, 2),
            "accuracy": bucket.accuracy,
            "contentTokens": bucket.content_tokens,
        }
        for bucket in buckets.buckets
    ]


def reconciliation_json(buckets: Buckets | None) -> Json | None:
    """On which basis the buckets stand, and how far the estimates are off: window / content."""
    return buckets and {"basis": buckets.basis, "scale": rounded(buckets.scale, 4)}


def history_json(history: ModelHistory) -> Json:
    """The object `modelHistory`; messages are numbered from 1."""
    return {
        "segments": [
            {
                "model": one.model,
                "firstMessageIndex": one.first_message,
                "lastMessageIndex": one.last_message,
                "assistantMessageCount": one.calls,
                "totalInputTokens": one.input_tokens,
                "totalOutputTokens": one.output_tokens,
                "cacheCreationTokens": one.cache_write_tokens,
                "cacheReadTokens": one.cache_read_tokens,
                "firstSeenAt": timestamp(one.first_seen_ms),
                "lastSeenAt": timestamp(one.last_seen_ms),
                "costUsd": dollars(one.cost_usd),
                "placeholderCalls": one.placeholder_calls,
            }
            for one in history.segments
        ],
        "uniqueModels": list(history.models),
        "current": history.current,
        "switchCount": history.switches,
    }


def compactions_json(facts: Facts, window: Window) -> list[Json]:
    """The compaction events; messages are numbered from 1.

    `tokensBefore` and `tokensAfter` are the window before and after it, the same in every command (D19);
    `windowAfter` is null without a call behind it.
    """
    return [_compaction_json(facts, window, one) for one in facts.all_compactions]


def _compaction_json(facts: Facts, window: Window, one: Compaction) -> Json:
    sizes = sizes_of(facts, one, window.fixed_context.tokens)
    summary = sum(block.tokens for block in facts.blocks if block.record_id == one.summary_record_id)
    return {
        "beforeIndex": None if one.message is None else one.message - 1,
        "afterIndex": one.message,
        "summaryIndex": one.summary_message,
        "summaryTokens": summary if one.summary_record_id is not None else None,
        "tokensBefore": sizes.before,
        "tokensAfter": sizes.after,
        "tokensDropped": sizes.dropped,
        "windowAfter": sizes.after if sizes.after_basis == CALL else None,
        "trigger": one.trigger,
        "detection": one.detection,
        "timestamp": timestamp(one.time_ms),
        "durationMs": one.duration_ms,
        "focus": one.focus,
        "onLivePath": one.on_path,
    }


def config_json(facts: Facts, toolset: Toolset) -> Json:
    """What surrounded the session as far as that is known (D11): names and sizes, never text."""
    version = facts.session.first_version
    instructions = [one for one in facts.surroundings if one.kind in ("claude_md", "rule")]
    memory = [one for one in facts.surroundings if one.kind == "memory"]
    skills = [one for one in facts.surroundings if one.kind in ("skill", "command", "agent")]
    return {
        "systemPrompt": _files_json(instructions),
        "mcpServers": [
            {"name": name, "source": source, "toolCount": None, "estimatedSchemaTokens": 0}
            for name, source in configured_servers(facts.surroundings).items()
        ],
        "memoryFiles": _files_json(memory),
        "builtInTools": {
            "tools": [{"name": name, "estimated_tokens": None} for name in core_tool_names(version, announced(facts))],
            "totalEstimatedTokens": toolset.schema_tokens,
        },
        "skills": {
            "items": [{"name": one.name, "kind": one.kind, "estimatedTokens": _loaded(one)} for one in skills],
            "totalEstimatedTokens": sum(map(_loaded, skills)),
        },
        "settingsModels": list(dict.fromkeys(WindowSettings(files=settings_files(facts.surroundings)).models)),
        "complete": facts.surroundings_complete,
    }


def start_message(facts: Facts) -> int | None:
    """The number of the window's first message."""
    return next((block.message for block in facts.blocks if block.in_window), None)


def duration_seconds(facts: Facts) -> int | None:
    """From the first record to the last, if that is a span."""
    started, last = facts.session.started_ms, facts.session.last_ms
    if started is None or last is None or last <= started:
        return None
    return round((last - started) / 1000)


def timestamp(time_ms: int | None) -> str | None:
    """UTC milliseconds as ISO 8601."""
    if time_ms is None:
        return None
    from datetime import UTC, datetime

    try:
        second = datetime.fromtimestamp(time_ms // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return f"{second:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03d}Z"


def _tools_json(toolset: Toolset) -> Json:
    return {
        "loadedTools": list(toolset.loaded),
        "usedTools": list(toolset.used),
        "unusedTools": list(toolset.unused),
        "loadedDeferred": list(toolset.loaded_deferred),
        "deferredBuiltIn": list(toolset.deferred_built_in),
        "deferredMcp": list(toolset.deferred_mcp),
        "schemaTokens": toolset.schema_tokens,
        "callTokens": toolset.call_tokens,
        "resultTokens": toolset.result_tokens,
    }


def _fixed_json(fixed: FixedContext) -> Json | None:
    if fixed.tokens is None:
        return None
    known = fixed.known_message_tokens + fixed.known_attachment_tokens
    parts = fixed.claude_md_tokens + fixed.schema_tokens + fixed.memory_tokens + fixed.skill_tokens
    return {
        "tokens": fixed.tokens - parts,
        "fixedContextTokens": fixed.tokens,
        "isDivided": fixed.internal_tokens is not None,
        "accuracy": "derived",
        "derivation": {
            "firstAssistantInputTokens": fixed.first_call_tokens,
            "knownClaudeMd": fixed.claude_md_tokens,
            "knownToolSchemas": fixed.schema_tokens,
            "knownMemory": fixed.memory_tokens,
            "knownSkills": fixed.skill_tokens,
            "knownFirstUserMessage": fixed.known_message_tokens,
            "knownAttachments": fixed.known_attachment_tokens,
            "totalKnown": known + parts,
        },
    }


def _framing_json(facts: Facts, current: Buckets | None) -> Json | None:
    """What calls grew by beyond the estimates, a message; told, not added: the estimates have it in them (D9)."""
    framing = framing_of(facts)
    if framing.tokens_per_message is None or current is None:
        return None
    return {
        "tokensPerMessage": framing.tokens_per_message,
        "totalTokens": framing.tokens_per_message * current.contents.messages,
        "sampleCount": len(framing.samples),
        "samples": list(framing.samples),
        "accuracy": "derived",
    }


def _files_json(files: Sequence[Any]) -> Json:
    return {
        "files": [{"path": one.path, "estimatedTokens": _loaded(one), "exists": True} for one in files],
        "totalEstimatedTokens": sum(map(_loaded, files)),
    }


def _loaded(one: Any) -> int:
    """What of a file is in the context from the start, its imports included."""
    detail: Mapping[str, Any] = one.detail
    return int(detail.get("loaded_tokens", one.tokens)) + int(detail.get("import_tokens", 0))
