"""Which columns hold words (`words`), and the words that no row has any more: text that must go goes from there too."""

from __future__ import annotations

from crusts_index.store.driver import sqlite3

WORDS: dict[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "stored_records": "type subtype origin",
        "stored_responses": "record_session model service_tier speed geo stop_reason effort git_branch",
        "stored_response_facts": "requested_model miss_reason skill plugin mcp_server mcp_tool agent",
        "stored_blocks": "kind category",
        "stored_tool_uses": "name agent_type resolved_model use_session result_session",
        "stored_requests": "model effort source agent",
        "stored_sent_parts": "kind name",
        "stored_version_starts": "version",
        "stored_call_sums": "model",
        "stored_tool_sums": "name",
        "stored_curve_models": "model",
        "stored_window_sums": "category",
    }.items()
}
"""Columns whose numbers are ids of words; 0 in a sum is no word."""

_USED = " union ".join(
    f"select {column} as used from {table} where {column} is not null"
    for table, columns in WORDS.items()
    for column in columns
)
_UNUSED = f"delete from words where id not in (select used from ({_USED}))"


def sweep_words(store: sqlite3.Connection) -> None:
    """Delete the words that no row has; the caller holds a transaction."""
    store.execute(_UNUSED)
