"""What newer versions log of an API response beside its usage (D20): why its cache missed, and what it is due to."""

from __future__ import annotations

from crusts_index.transcript.past import Uuid
from crusts_index.transcript.places import uuid_key
from crusts_index.transcript.rows import Row
from crusts_index.transcript.shapes import Message, Record
from crusts_index.transcript.words import Words

Facts = tuple[
    str | None, Uuid | None, str | None, int | None, str | None, str | None, str | None, str | None, str | None
]
"""Model asked for, request answered; reason and tokens of a cache miss; skill, plugin, MCP server and tool, agent."""

_MOST_COUNT = 2**53
_NOTHING = (None,) * 8


def facts_of(record: Record, message: Message) -> Facts | None:
    """What a line says; None for nothing."""
    told = (
        record.requested_model,
        record.request_ref,
        message.diagnostics,
        record.attribution_skill,
        record.attribution_plugin,
        record.attribution_mcp_server,
        record.attribution_mcp_tool,
        record.attribution_agent,
    )
    if told == _NOTHING:
        return None
    model, request, diagnostics, skill, plugin, server, tool, agent = told
    miss = diagnostics.cache_miss_reason if diagnostics is not None else None
    reason, missed = (miss.type, miss.cache_missed_input_tokens) if miss is not None else (None, None)
    if missed is not None and not 0 <= missed <= _MOST_COUNT:
        missed = None
    due = (skill or None, plugin or None, server or None, tool or None, agent or None)
    facts: Facts = (model or None, uuid_key(request), reason or None, missed, *due)
    return facts if any(fact is not None for fact in facts) else None


def merged(before: Facts | None, facts: Facts | None) -> Facts | None:
    """Of what several lines of one response say the last holds."""
    if before is None or facts is None:
        return facts or before
    return tuple(old if new is None else new for old, new in zip(before, facts, strict=True))  # type: ignore[return-value]


def facts_row(response_id: int, facts: Facts, words: Words) -> Row:
    """The row of `stored_response_facts`."""
    model, request, reason, missed, *due = facts
    return (response_id, words[model], request, words[reason], missed, *(words[name] for name in due))
