"""The first store: transcripts, their records and blocks, API calls, tool uses, compactions, prices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring a store to this revision, within the caller's transaction."""
    op.create_table(
        "forgotten",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("forgotten_ms", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("session_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "models",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("priced", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("asked_ms", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("model"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "prices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("speed", sa.Text(), nullable=True),
        sa.Column("from_day", sa.Text(), nullable=True),
        sa.Column("above_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("input_usd", sa.Float(), nullable=True),
        sa.Column("cache_read_usd", sa.Float(), nullable=True),
        sa.Column("cache_write_5m_usd", sa.Float(), nullable=True),
        sa.Column("cache_write_1h_usd", sa.Float(), nullable=True),
        sa.Column("output_usd", sa.Float(), nullable=True),
        sa.Column("web_search_usd", sa.Float(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("prices_by_model", "prices", ["model", "speed", "from_day", "above_tokens"], unique=True)

    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("projects_by_path", "projects", ["path"], unique=True)

    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("started_ms", sa.Integer(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("files", sa.Integer(), nullable=True),
        sa.Column("changed", sa.Integer(), nullable=True),
        sa.Column("gone", sa.Integer(), nullable=True),
        sa.Column("bytes_read", sa.Integer(), nullable=True),
        sa.Column("records", sa.Integer(), nullable=True),
        sa.Column("problems", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "store_facts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "surroundings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("project_path", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("mtime_ns", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("chars", sa.Integer(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("first_seen_ms", sa.Integer(), nullable=False),
        sa.Column("last_seen_ms", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("surroundings_by_path", "surroundings", ["path", "content_hash"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("sessions_by_session_id", "sessions", ["session_id"], unique=True)

    op.create_table(
        "context_reports",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=True),
        sa.Column("time_ms", sa.Integer(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("used_tokens", sa.Integer(), nullable=True),
        sa.Column("window_tokens", sa.Integer(), nullable=True),
        sa.Column("rows", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "transcripts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("stem", sa.Text(), nullable=False),
        sa.Column("parent_session", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Integer(), nullable=True),
        sa.Column("size", sa.Integer(), server_default="-1", nullable=False),
        sa.Column("mtime_ns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("inode", sa.Integer(), server_default="0", nullable=False),
        sa.Column("offset", sa.Integer(), server_default="0", nullable=False),
        sa.Column("head_hash", sa.BLOB(), nullable=True),
        sa.Column("tail_hash", sa.BLOB(), nullable=True),
        sa.Column("parser", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gone", sa.Integer(), server_default="0", nullable=False),
        sa.Column("superseded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("in_view", sa.Integer(), server_default="1", nullable=False),
        sa.Column("records", sa.Integer(), server_default="0", nullable=False),
        sa.Column("first_ms", sa.Integer(), nullable=True),
        sa.Column("last_ms", sa.Integer(), nullable=True),
        sa.Column("last_message_ms", sa.Integer(), nullable=True),
        sa.Column("first_cwd", sa.Text(), nullable=True),
        sa.Column("last_cwd", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("last_version", sa.Text(), nullable=True),
        sa.Column("git_branch", sa.Text(), nullable=True),
        sa.Column("entrypoint", sa.Text(), nullable=True),
        sa.Column("record_session", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("agent_type", sa.Text(), nullable=True),
        sa.Column("agent_description", sa.Text(), nullable=True),
        sa.Column("parent_tool_use_id", sa.Text(), nullable=True),
        sa.Column("parent_agent_id", sa.Text(), nullable=True),
        sa.Column("meta_mtime_ns", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("transcripts_by_path", "transcripts", ["path"], unique=True)
    op.create_index("transcripts_by_session", "transcripts", ["session_id"], unique=False)

    op.create_table(
        "fold_states",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("transcript_id"),
    )
    op.create_table(
        "meta_records",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("transcript_id", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "problems",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("offset", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("transcript_id", "offset", "reason"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "threads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("parent_tool_use_id", sa.Text(), nullable=True),
        sa.Column("messages", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("threads_by_transcript", "threads", ["transcript_id"], unique=False)

    op.create_table(
        "api_calls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("time_ms", sa.Integer(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cache_read_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cache_write_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cache_write_1h_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("thinking_tokens", sa.Integer(), nullable=True),
        sa.Column("web_searches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("context_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("speed", sa.Text(), nullable=True),
        sa.Column("is_advisor", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retained", sa.Integer(), server_default="0", nullable=False),
        sa.Column("price_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["price_id"],
            ["prices.id"],
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("api_calls_by_time", "api_calls", ["time_ms"], unique=False)

    op.create_table(
        "branches",
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("branch", sa.Integer(), nullable=False),
        sa.Column("parent_branch", sa.Integer(), nullable=False),
        sa.Column("fork_uuid", sa.BLOB(), nullable=True),
        sa.Column("first_record_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
        ),
        sa.PrimaryKeyConstraint("thread_id", "branch"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "records",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("subtype", sa.Text(), nullable=True),
        sa.Column("uuid", sa.BLOB(), nullable=True),
        sa.Column("parent_uuid", sa.BLOB(), nullable=True),
        sa.Column("time_ms", sa.Integer(), nullable=True),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("branch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("call_ordinal", sa.Integer(), server_default="0", nullable=False),
        sa.Column("message", sa.Integer(), nullable=True),
        sa.Column("response_id", sa.Integer(), nullable=True),
        sa.Column("opens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_prompt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_summary", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_meta", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_copied", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_duplicate", sa.Integer(), server_default="0", nullable=False),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("records_by_uuid", "records", ["transcript_id", "uuid"], unique=False)
    op.create_index(
        "records_of_prompts",
        "records",
        ["thread_id"],
        unique=False,
        sqlite_where=sa.text("is_prompt = 1 or is_summary = 1"),
    )
    op.create_index(
        "records_opening", "records", ["transcript_id", "parent_uuid"], unique=False, sqlite_where=sa.text("opens = 1")
    )

    op.create_table(
        "tool_uses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("tool_use_id", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("server", sa.Text(), nullable=True),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("read_offset", sa.Integer(), nullable=True),
        sa.Column("read_limit", sa.Integer(), nullable=True),
        sa.Column("command", sa.Text(), nullable=True),
        sa.Column("agent_type", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("input_hash", sa.Integer(), nullable=True),
        sa.Column("use_record_id", sa.Integer(), nullable=True),
        sa.Column("use_ms", sa.Integer(), nullable=True),
        sa.Column("result_record_id", sa.Integer(), nullable=True),
        sa.Column("result_ms", sa.Integer(), nullable=True),
        sa.Column("result_hash", sa.Integer(), nullable=True),
        sa.Column("result_chars", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_error", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_stub", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_cut", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_own", sa.Integer(), server_default="0", nullable=False),
        sa.Column("prior_read_id", sa.Integer(), nullable=True),
        sa.Column("prior_edit_id", sa.Integer(), nullable=True),
        sa.Column("owns", sa.Integer(), server_default="1", nullable=False),
        sa.Column("owns_result", sa.Integer(), server_default="1", nullable=False),
        sa.Column("is_copied", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_nested", sa.Integer(), server_default="0", nullable=False),
        sa.Column("use_session", sa.Text(), nullable=True),
        sa.Column("result_session", sa.Text(), nullable=True),
        sa.Column("is_result_copied", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "tool_uses_by_agent", "tool_uses", ["agent_id"], unique=False, sqlite_where=sa.text("agent_id is not null")
    )
    op.create_index(
        "tool_uses_by_tool_use_id",
        "tool_uses",
        ["tool_use_id"],
        unique=False,
        sqlite_where=sa.text("tool_use_id is not null"),
    )
    op.create_index(
        "tool_uses_rereading", "tool_uses", ["use_ms"], unique=False, sqlite_where=sa.text("prior_read_id is not null")
    )

    op.create_table(
        "attachments",
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("event", sa.Text(), nullable=True),
        sa.Column("added", sa.Text(), nullable=True),
        sa.Column("removed", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["records.id"],
        ),
        sa.PrimaryKeyConstraint("record_id"),
    )
    op.create_table(
        "blocks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("chars", sa.Integer(), server_default="0", nullable=False),
        sa.Column("estimate", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_exact", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tool_use_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["records.id"],
        ),
        sa.ForeignKeyConstraint(
            ["tool_use_id"],
            ["tool_uses.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("blocks_by_record", "blocks", ["record_id"], unique=False)

    op.create_table(
        "compactions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("uuid", sa.BLOB(), nullable=True),
        sa.Column("record_session", sa.Text(), nullable=True),
        sa.Column("trigger", sa.Text(), nullable=True),
        sa.Column("pre_tokens", sa.Integer(), nullable=True),
        sa.Column("post_tokens", sa.Integer(), nullable=True),
        sa.Column("dropped_tokens", sa.Integer(), nullable=True),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
        sa.Column("messages_summarized", sa.Integer(), nullable=True),
        sa.Column("focus", sa.Text(), nullable=True),
        sa.Column("preserved", sa.Text(), nullable=True),
        sa.Column("discovered_tools", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["id"],
            ["records.id"],
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("compactions_by_thread", "compactions", ["thread_id"], unique=False)

    op.create_table(
        "preserved",
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("uuid", sa.BLOB(), nullable=True),
        sa.Column("is_segment", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["records.id"],
        ),
        sa.PrimaryKeyConstraint("record_id", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "removals",
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("tool_use_id", sa.Text(), nullable=True),
        sa.Column("uuid", sa.BLOB(), nullable=True),
        sa.Column("saved_tokens", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["records.id"],
        ),
        sa.PrimaryKeyConstraint("record_id", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "responses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("last_record_id", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.Integer(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("record_session", sa.Text(), nullable=True),
        sa.Column("message", sa.Integer(), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("branch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_copied", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_nested", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_advisor", sa.Integer(), server_default="0", nullable=False),
        sa.Column("first_ms", sa.Integer(), nullable=True),
        sa.Column("last_ms", sa.Integer(), nullable=True),
        sa.Column("has_usage", sa.Integer(), server_default="0", nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cache_read_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cache_write_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cache_write_1h_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("thinking_tokens", sa.Integer(), nullable=True),
        sa.Column("web_searches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("service_tier", sa.Text(), nullable=True),
        sa.Column("speed", sa.Text(), nullable=True),
        sa.Column("geo", sa.Text(), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("effort", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["call_id"],
            ["api_calls.id"],
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id"],
            ["transcripts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("responses_by_call", "responses", ["call_id"], unique=False)
    op.create_index(
        "responses_by_message",
        "responses",
        ["message_id"],
        unique=False,
        sqlite_where=sa.text("message_id is not null"),
    )
    op.create_index(
        "responses_by_request",
        "responses",
        ["request_id"],
        unique=False,
        sqlite_where=sa.text("request_id is not null"),
    )
    op.create_index(
        "responses_by_thread",
        "responses",
        ["thread_id", "id", "call_id", "last_ms", "is_advisor", "branch", "epoch", "ordinal"],
        unique=False,
    )

    op.create_table(
        "tool_loads",
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["records.id"],
        ),
        sa.PrimaryKeyConstraint("record_id", "name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "texts",
        sa.Column("block_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["block_id"],
            ["blocks.id"],
        ),
        sa.PrimaryKeyConstraint("block_id"),
    )
