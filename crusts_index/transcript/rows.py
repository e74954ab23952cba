"""The rows that reading a transcript gives, table by table, in the order of the columns named here."""

from __future__ import annotations

from typing import Any

from crusts_index.tuples import NamedTuple

Row = tuple[Any, ...]

COLUMNS: dict[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "words": "id word",
        "threads": "id transcript_id kind agent_id parent_tool_use_id",
        "branches": "thread_id branch parent_branch fork_uuid first_record_id",
        "stored_records": "id length type subtype uuid parent_uuid time_ms thread branch epoch call_ordinal message"
        " response_back flags origin",
        "stored_responses": "id thread_id last_ahead request_id message_id record_session message ordinal branch epoch"
        " flags took_ms last_ms model input_tokens cache_read_tokens cache_write_tokens cache_write_1h_tokens"
        " output_tokens thinking_tokens web_searches service_tier speed geo stop_reason effort git_branch",
        "stored_response_facts": "response_id requested_model request miss_reason missed_tokens skill plugin mcp_server"
        " mcp_tool agent",
        "stored_blocks": "id place kind category chars soft marks extra estimate share use_back",
        "texts": "block_id text",
        "stored_tool_uses": "id thread use_key name path read_offset read_limit command agent_type agent_id"
        " resolved_model input_hash use_back use_ms result_ahead result_ms result_hash result_chars result_images flags"
        " prior_read_back prior_edit_back use_session result_session",
        "tool_loads": "record_id name",
        "compactions": "id transcript_id thread_id uuid record_session trigger pre_tokens post_tokens dropped_tokens"
        " duration_ms messages_summarized focus preserved discovered_tools",
        "preserved": "record_id place uuid is_segment",
        "removals": "record_id place kind use_key uuid saved_tokens",
        "attachments": "record_id type name event added removed",
        "stored_requests": "record_id uuid base kept tail shape_hash cache_hash model effort source agent",
        "request_shapes": "record_id shape_hash",
        "stored_version_starts": "record_id version",
        "stored_sent_parts": "record_id place kind name path chars soft marks",
        "context_reports": "id time_ms version model used_tokens window_tokens rows",
        "cost_states": "transcript_id model record_id input_tokens output_tokens thinking_tokens cache_read_tokens"
        " cache_write_tokens cache_write_5m_tokens cache_write_1h_tokens web_searches cost_usd",
        "meta_records": "transcript_id key record_id value",
        "problems": "transcript_id offset reason length",
    }.items()
}
"""Columns of each kind of row. The reader makes those of `context_reports`, from texts that the fold sets aside."""

RECORD_BITS = 40
"""A record's id is its transcript's id shifted by this, plus its offset."""

THREAD_BITS = 20
"""A thread's id is its transcript's id shifted by this, plus its number."""

# Bits of `flags` in stored_records.
OPENS, IS_PROMPT, IS_SUMMARY, IS_META, IS_COPIED, IS_DUPLICATE = 1, 2, 4, 8, 16, 32

IS_ADVISOR, HAS_USAGE, IS_ABORTED, IS_PLACEHOLDER = 4, 8, 16, 32
"""Bits of `flags` in stored_responses."""

NOT_OWNED = 128 | 256
"""Bits of `flags` in stored_tool_uses that are settled over all transcripts (D2)."""

REQUEST_PREFIX, MESSAGE_PREFIX, TOOL_USE_PREFIX = "req_", "msg_", "toolu_"
"""What the ids of a kind begin with; it is not stored."""


class Batch(NamedTuple):
    """Rows made from one stretch of a transcript, ready to be written together with the state behind them."""

    rows: dict[str, list[Row]]
    continued: list[int]
    """Ids of responses that have lines from before this stretch: their blocks' shares are to be made again."""
    again: list[tuple[int, int, int]]
    """Blocks of before this stretch whose model only now is known, to be estimated again: from a record on, before
    another, in a thread."""
    contexts: list[Row]
    """Outputs of `/context` that are still to be parsed: record, time, version, text."""
    records: int


def record_id(transcript_id: int, offset: int) -> int:
    """The id of the record at an offset of a transcript."""
    return transcript_id << RECORD_BITS | offset


def thread_id(transcript_id: int, number: int) -> int:
    """The id of a transcript's thread by its number; 0 is its main thread."""
    return transcript_id << THREAD_BITS | number


def cut_prefix(logged: str | None, prefix: str) -> str | None:
    """An id as it is stored: without the prefix that its kind has; one without that prefix begins with `=`."""
    if logged is None:
        return None
    if logged.startswith(prefix):
        rest = logged[len(prefix) :]
        if rest and rest[0] != "=":
            return rest
    return f"={logged}"


def back(here: int, there: int | None) -> int | None:
    """How far an id lies before another; None for none."""
    return None if there is None else here - there
