"""The rows that reading a transcript gives, table by table, in the order of the columns named here."""

from __future__ import annotations

from typing import Any, NamedTuple

Row = tuple[Any, ...]

COLUMNS: dict[str, tuple[str, ...]] = {
    "threads": ("id", "transcript_id", "kind", "agent_id", "parent_tool_use_id"),
    "branches": ("thread_id", "branch", "parent_branch", "fork_uuid", "first_record_id"),
    "records": (
        *("id", "transcript_id", "length", "type", "subtype", "uuid", "parent_uuid", "time_ms"),
        *("thread_id", "branch", "epoch", "call_ordinal", "message", "response_id"),
        *("opens", "is_prompt", "is_summary", "is_meta", "is_copied", "is_duplicate", "origin"),
    ),
    "responses": (
        *("id", "transcript_id", "thread_id", "last_record_id", "request_id", "message_id", "record_session"),
        *(
            "message",
            "ordinal",
            "branch",
            "epoch",
            "is_copied",
            "is_nested",
            "is_advisor",
            "first_ms",
            "last_ms",
        ),
        *(
            "has_usage",
            "model",
            "input_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "cache_write_1h_tokens",
        ),
        *(
            "output_tokens",
            "thinking_tokens",
            "web_searches",
            "service_tier",
            "speed",
            "geo",
            "stop_reason",
            "effort",
        ),
    ),
    "blocks": (
        "id",
        "record_id",
        "kind",
        "category",
        "chars",
        "estimate",
        "tokens",
        "is_exact",
        "tool_use_id",
    ),
    "texts": ("block_id", "text"),
    "tool_uses": (
        *(
            "id",
            "transcript_id",
            "thread_id",
            "tool_use_id",
            "name",
            "server",
            "path",
            "read_offset",
            "read_limit",
        ),
        *("command", "agent_type", "agent_id", "input_hash", "use_record_id", "use_ms", "result_record_id"),
        *(
            "result_ms",
            "result_hash",
            "result_chars",
            "result_tokens",
            "is_error",
            "is_stub",
            "is_cut",
            "is_own",
        ),
        *("prior_read_id", "prior_edit_id", "is_copied", "is_nested"),
        *("use_session", "result_session", "is_result_copied"),
    ),
    "tool_loads": ("record_id", "name"),
    "compactions": (
        *(
            "id",
            "transcript_id",
            "thread_id",
            "uuid",
            "record_session",
            "trigger",
            "pre_tokens",
            "post_tokens",
            "dropped_tokens",
        ),
        *("duration_ms", "messages_summarized", "focus", "preserved", "discovered_tools"),
    ),
    "preserved": ("record_id", "place", "uuid", "is_segment"),
    "removals": ("record_id", "place", "kind", "tool_use_id", "uuid", "saved_tokens"),
    "attachments": ("record_id", "type", "name", "event", "added", "removed"),
    "context_reports": ("id", "time_ms", "version", "model", "used_tokens", "window_tokens", "rows"),
    "meta_records": ("transcript_id", "key", "record_id", "value"),
    "problems": ("transcript_id", "offset", "reason", "length"),
}
"""Columns of each kind of row. The reader makes those of `context_reports`, from texts that the fold sets aside."""

RECORD_BITS = 40
"""A record's id is its transcript's id shifted by this, plus its offset."""

THREAD_BITS = 20
"""A thread's id is its transcript's id shifted by this, plus its number."""


class Batch(NamedTuple):
    """Rows made from one stretch of a transcript, ready to be written together with the state behind them."""

    rows: dict[str, list[Row]]
    continued: list[int]
    """Ids of responses that have lines from before this stretch: their blocks' shares are to be made again."""
    contexts: list[Row]
    """Outputs of `/context` that are still to be parsed: record, time, version, text."""
    records: int


def record_id(transcript_id: int, offset: int) -> int:
    """The id of the record at an offset of a transcript."""
    return transcript_id << RECORD_BITS | offset


def thread_id(transcript_id: int, number: int) -> int:
    """The id of a transcript's thread by its number; 0 is its main thread."""
    return transcript_id << THREAD_BITS | number
