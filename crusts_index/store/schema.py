"""The tables of the store, as SQLAlchemy metadata: what is kept, in which unit, and what a null means.

Rules that hold for every table:

* Facts stand as logged, once. What is judged (windows, rankings, cost, waste) is a query over them.
* Times are `…_ms`: UTC milliseconds since 1970 (D6). Views show ISO 8601.
* A record's id is `transcript_id << 40 | offset`: it sorts in log order, tells its transcript and where
  to find its bytes. A block's id is its record's id plus its place, a thread's id is
  `transcript_id << 20 | number`.
* Nothing here depends on the order in which transcripts were read, except the surrogate ids, which no view
  shows.

Imported only where the schema is laid or checked: reports and appends read and write through `sqlite3` alone.
"""

from __future__ import annotations

from sqlalchemy import BLOB, Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy.types import TypeEngine

metadata = MetaData()


def _col(name: str, kind: type[TypeEngine[Any]], doc: str, *args: Any, **options: Any) -> Column[Any]:
    return Column(name, kind, *args, doc=doc, **options)


def _int(name: str, doc: str, *args: Any, **options: Any) -> Column[Any]:
    return _col(name, Integer, doc, *args, **options)


def _text(name: str, doc: str, *args: Any, **options: Any) -> Column[Any]:
    return _col(name, Text, doc, *args, **options)


def _flag(name: str, doc: str) -> Column[Any]:
    return _col(name, Integer, doc, nullable=False, server_default="0")


def _count(name: str, doc: str) -> Column[Any]:
    return _col(name, Integer, doc, nullable=False, server_default="0")


def _of_transcript() -> Column[Any]:
    return _int("transcript_id", "the transcript it stands in", ForeignKey("transcripts.id"), nullable=False)


projects = Table(
    "projects",
    metadata,
    _int("id", "surrogate key", primary_key=True),
    _text(
        "path",
        "the first `cwd` of a session; without any, the folder's name as it stands (D3)",
        nullable=False,
    ),
    _text("name", "the last part of the path", nullable=False),
    Index("projects_by_path", "path", unique=True),
)

sessions = Table(
    "sessions",
    metadata,
    _int("id", "surrogate key", primary_key=True),
    _text("session_id", "the session's own id (D3)", nullable=False),
    _int("project_id", "its project", ForeignKey("projects.id")),
    Index("sessions_by_session_id", "session_id", unique=True),
)

transcripts = Table(
    "transcripts",
    metadata,
    _int("id", "surrogate key", primary_key=True),
    _text("root", "the projects folder it was found under", nullable=False),
    _text("path", "its real path", nullable=False),
    _text("folder", "the name of its project folder", nullable=False),
    _text("kind", "main or subagent", nullable=False),
    _text("stem", "file name without .jsonl", nullable=False),
    _text("parent_session", "of a subagent file: the id of the session folder it lies in; null in the old place"),
    _int("session_id", "its session; null until a record tells it", ForeignKey("sessions.id")),
    _int(
        "size",
        "bytes when last read to its end; -1 while that is not done",
        nullable=False,
        server_default="-1",
    ),
    _int("mtime_ns", "modification time then, nanoseconds", nullable=False, server_default="0"),
    _int("inode", "inode then", nullable=False, server_default="0"),
    _int("offset", "bytes consumed: the high-water mark", nullable=False, server_default="0"),
    _col("head_hash", BLOB, "hash of the first 4 KiB before the offset (D4)"),
    _col("tail_hash", BLOB, "hash of the last 4 KiB before the offset (D4)"),
    _int("parser", "number of the parser that read it", nullable=False, server_default="0"),
    _flag("gone", "1 = no longer on disk; its rows stay (D4)"),
    _flag("superseded", "1 = gone, and all its uuids stand in another transcript of its session (D3)"),
    _int("in_view", "1 = the session's own view shows its threads (D3)", nullable=False, server_default="1"),
    _count("records", "records read so far"),
    _int("first_ms", "time of its first timed record; null = none"),
    _int("last_ms", "latest time of a record"),
    _int("last_message_ms", "latest time of a message of its main thread"),
    _text("first_cwd", "first `cwd`: it decides the project"),
    _text("last_cwd", "last `cwd`"),
    _text("version", "first non-empty Claude Code version"),
    _text("last_version", "last one"),
    _text("git_branch", "last git branch"),
    _text("entrypoint", "last entrypoint: cli, sdk-cli, claude-vscode …"),
    _text("record_session", "the most frequent `sessionId` of its records, ties to the smaller"),
    _text("agent_id", "of a subagent file: the agent's id"),
    _text("agent_type", "from its .meta.json"),
    _text("agent_description", "from its .meta.json"),
    _text("parent_tool_use_id", "from its .meta.json: the tool use that started it"),
    _text("parent_agent_id", "from its .meta.json: the agent that started it"),
    _int("meta_mtime_ns", "modification time of its .meta.json; null = none seen"),
    Index("transcripts_by_path", "path", unique=True),
    Index("transcripts_by_session", "session_id"),
)

fold_states = Table(
    "fold_states",
    metadata,
    _int(
        "transcript_id",
        "its transcript",
        ForeignKey("transcripts.id"),
        primary_key=True,
    ),
    _text("state", "what the reader must know to go on from the offset, as JSON", nullable=False),
)

threads = Table(
    "threads",
    metadata,
    _int("id", "transcript_id << 20 | number", primary_key=True),
    _of_transcript(),
    _text(
        "kind",
        "main, subagent (own file), sidechain (inside a main file) or progress (nested)",
        nullable=False,
    ),
    _text("agent_id", "the agent's id, where known"),
    _text("parent_tool_use_id", "of a progress thread: the tool use it reports on"),
    _count("messages", "messages numbered so far (D7)"),
    Index("threads_by_transcript", "transcript_id"),
)

branches = Table(
    "branches",
    metadata,
    _int("thread_id", "its thread", ForeignKey("threads.id"), primary_key=True),
    _int("branch", "number in its thread; branch 0 has no row", primary_key=True),
    _int("parent_branch", "the branch it left", nullable=False),
    _col("fork_uuid", BLOB, "uuid of the record it forks at; null = it forks at none"),
    _int("first_record_id", "the prompt or boundary that opened it (D10)", nullable=False),
    sqlite_with_rowid=False,
)

records = Table(
    "records",
    metadata,
    _int("id", "transcript_id << 40 | offset", primary_key=True),
    _of_transcript(),
    _int("length", "bytes of the record, line end left out", nullable=False),
    _text("type", "as logged"),
    _text("subtype", "as logged; of an attachment its type, of a progress record `agent_progress` or null"),
    _col("uuid", BLOB, "16 bytes; text where it is no uuid; null = none"),
    _col(
        "parent_uuid",
        BLOB,
        "`parentUuid`, of a boundary `logicalParentUuid`, of a last-prompt record `leafUuid`",
    ),
    _int("time_ms", "its time; without a valid one, that of the record before it (D6); null = none"),
    _int("thread_id", "its thread", ForeignKey("threads.id"), nullable=False),
    _count("branch", "branch in its thread (D10)"),
    _count("epoch", "which boundary of its thread it stands behind, 0 = none (D10)"),
    _count("call_ordinal", "API responses of its thread begun so far, its own included (D13)"),
    _int("message", "number of its message in its thread; null = it puts nothing into the context (D7)"),
    _int("response_id", "the API response it is a line of"),
    _flag("opens", "1 = a human prompt or a boundary: what can open a branch (D10)"),
    _flag("is_prompt", "1 = a human prompt (D8)"),
    _flag("is_summary", "1 = a compaction summary"),
    _flag("is_meta", "1 = `isMeta`"),
    _flag("is_copied", "1 = it names another session as its origin: `forkedFrom` or `requestSessionId` (D2)"),
    _flag("is_duplicate", "1 = its uuid stood before in this transcript: kept, counted nowhere (D2)"),
    _text(
        "origin",
        "why a user record is no human prompt: command, bash, notification, interruption, reminder …;"
        " of a line of an answer that was cut off: aborted",
    ),
    Index("records_by_uuid", "transcript_id", "uuid"),
    Index("records_opening", "transcript_id", "parent_uuid", sqlite_where=text("opens = 1")),
    Index("records_of_prompts", "thread_id", sqlite_where=text("is_prompt = 1 or is_summary = 1")),
)

responses = Table(
    "responses",
    metadata,
    _int("id", "id of its first record; below 0 = retained: its bytes are gone (D4)", primary_key=True),
    _of_transcript(),
    _int("thread_id", "its thread", ForeignKey("threads.id"), nullable=False),
    _int("last_record_id", "its last record in this transcript", nullable=False),
    _int(
        "call_id",
        "the API call it is an occurrence of; null = it logged no usage",
        ForeignKey("api_calls.id"),
    ),
    _text("request_id", "`requestId`; null = none"),
    _text("message_id", "`message.id`; null = none"),
    _text("record_session", "`sessionId` of its records; of copies that name it, the session that asked"),
    _int("message", "number of its message in its thread"),
    _int("ordinal", "its place among the responses of its thread, from 1", nullable=False),
    _count("branch", "branch in its thread"),
    _count("epoch", "epoch in its thread"),
    _flag("is_copied", "1 = its first record is copied: rank 1 of D2"),
    _flag("is_nested", "1 = found inside a progress record: rank 2 of D2"),
    _flag("is_advisor", "1 = an `advisor_message` iteration: a call of its own, in no curve (D1)"),
    _int("first_ms", "time of its first record: rank 5 of D2"),
    _int("last_ms", "time of its last record"),
    _flag("has_usage", "1 = at least one record carried a usage object"),
    _text("model", "as logged on its last record with usage"),
    _count("input_tokens", "uncached input, exact"),
    _count("cache_read_tokens", "input read from the cache, exact"),
    _count("cache_write_tokens", "input written to the cache: the larger of flat field and 5m + 1h (D1), exact"),
    _count("cache_write_1h_tokens", "of these, written for one hour, exact"),
    _count("output_tokens", "output as logged; a placeholder in older versions"),
    _int("thinking_tokens", "of the output, thinking; null = not logged"),
    _count("web_searches", "web searches made"),
    _text("service_tier", "as logged; null = standard or not logged"),
    _text("speed", "as logged; null = standard or not logged"),
    _text("geo", "`inference_geo` as logged; null = none told"),
    _text("stop_reason", "as logged on its last record"),
    _text("effort", "as logged"),
    Index("responses_by_request", "request_id", sqlite_where=text("request_id is not null")),
    Index("responses_by_message", "message_id", sqlite_where=text("message_id is not null")),
    # A thread's curve and the last call of each epoch, without looking at the rows.
    Index("responses_by_thread", "thread_id", "id", "call_id", "last_ms", "is_advisor", "branch", "epoch", "ordinal"),
    Index("responses_by_call", "call_id"),
)

api_calls = Table(
    "api_calls",
    metadata,
    _int("id", "smallest id of its responses when first seen", primary_key=True),
    _int("response_id", "the owning response (D2)", nullable=False),
    _int("transcript_id", "the owner's transcript", ForeignKey("transcripts.id"), nullable=False),
    _int("thread_id", "the owner's thread", ForeignKey("threads.id"), nullable=False),
    _text("model", "as logged"),
    _int("time_ms", "time of its last record in the owning transcript"),
    _count("input_tokens", "as in responses, of the owner's last record"),
    _count("cache_read_tokens", "likewise"),
    _count("cache_write_tokens", "likewise"),
    _count("cache_write_1h_tokens", "likewise"),
    _count("output_tokens", "likewise"),
    _int("thinking_tokens", "likewise"),
    _count("web_searches", "likewise"),
    _count("context_tokens", "input + cache read + cache write: the context of the call (X-ctx), exact"),
    _text("speed", "what its usage says that may have a price of its own: speed, geo, tier; null = standard"),
    _flag("is_advisor", "1 = an advisor's call, in no curve"),
    _flag("retained", "1 = its bytes are gone from every transcript; it was billed and stays (D4)"),
    _int("price_id", "the price that holds for it (D15); null = unpriced", ForeignKey("prices.id")),
    Index("api_calls_by_time", "time_ms"),
)

blocks = Table(
    "blocks",
    metadata,
    _int("id", "record_id + place", primary_key=True),
    _int("record_id", "its record", ForeignKey("records.id"), nullable=False),
    _text("kind", "text, thinking, tool_use, tool_result, image, document or attachment", nullable=False),
    _text(
        "category",
        "conversation, retrieved, system, tools or state; the last prompt's `user` is a query's (D8)",
    ),
    _count("chars", "Unicode characters counted"),
    _count("estimate", "tokens by characters, images and documents (D9), estimated"),
    _count("tokens", "the estimate, or the block's share of the logged output (D9)"),
    _flag("is_exact", "1 = the shares of its response add up to the billed output"),
    _int("tool_use_id", "of a tool_use or tool_result block: its row in tool_uses", ForeignKey("tool_uses.id")),
    Index("blocks_by_record", "record_id"),
)

texts = Table(
    "texts",
    metadata,
    _int("block_id", "its block", ForeignKey("blocks.id"), primary_key=True),
    _text(
        "text",
        "prompts, answers and summaries up to 64 KiB, else the first 200 characters (D16)",
        nullable=False,
    ),
)

tool_uses = Table(
    "tool_uses",
    metadata,
    _int(
        "id",
        "id of its tool_use block; of its tool_result where the use is not in this transcript",
        primary_key=True,
    ),
    _of_transcript(),
    _int("thread_id", "its thread", ForeignKey("threads.id"), nullable=False),
    _text("tool_use_id", "as logged; null = none"),
    _text("name", "the tool's name; null = the use is not in this transcript"),
    _text("server", "MCP server in the name; null = a built-in tool"),
    _text("path", "file path as logged, up to 2 KiB"),
    _col("read_offset", Integer, "of a Read: `offset` as logged"),
    _col("read_limit", Integer, "of a Read: `limit` as logged"),
    _text("command", "command, pattern, URL, query or skill, up to 2 KiB"),
    _text("agent_type", "of Task and Agent: `subagent_type`"),
    _text("agent_id", "of Task and Agent: the agent that ran, from its result"),
    _int("input_hash", "64 bits over name and input: the same call again has the same"),
    _int("use_record_id", "the record of the use"),
    _int("use_ms", "its time"),
    _int("result_record_id", "the record of the result; null = none"),
    _int("result_ms", "its time"),
    _int("result_hash", "64 bits over the result's text"),
    _count("result_chars", "characters of the result's text parts"),
    _count("result_tokens", "ceil(chars / 4) + 1,500 an image (X-size), estimated"),
    _flag("is_error", "1 = the result is an error"),
    _flag("is_stub", "1 = the result only says that nothing changed"),
    _flag("is_cut", "1 = the result was cut short or moved to a file"),
    _flag("is_own", "1 = a call of crusts itself"),
    _int("prior_read_id", "of a Read: the previous one of the same path, offset and limit in its thread"),
    _int("prior_edit_id", "of a Read: the last Edit, Write, MultiEdit or NotebookEdit of that path before it"),
    _int("owns", "1 = totals count this use (D2)", nullable=False, server_default="1"),
    _int("owns_result", "1 = totals count this result (D2)", nullable=False, server_default="1"),
    _flag("is_copied", "1 = its record is copied"),
    _flag("is_nested", "1 = found inside a progress record"),
    _text("use_session", "`sessionId` of its record; null = the session that the transcript's place tells"),
    _text("result_session", "likewise, of its result"),
    _flag("is_result_copied", "1 = the result's record is copied, or the use in this transcript is"),
    Index("tool_uses_by_tool_use_id", "tool_use_id", sqlite_where=text("tool_use_id is not null")),
    Index("tool_uses_by_agent", "agent_id", sqlite_where=text("agent_id is not null")),
    Index("tool_uses_rereading", "use_ms", sqlite_where=text("prior_read_id is not null")),
)

tool_loads = Table(
    "tool_loads",
    metadata,
    _int("record_id", "the ToolSearch result that loaded it", ForeignKey("records.id"), primary_key=True),
    _text("name", "the tool whose schema it loaded", primary_key=True),
    sqlite_with_rowid=False,
)

compactions = Table(
    "compactions",
    metadata,
    _int("id", "its boundary record", ForeignKey("records.id"), primary_key=True),
    _of_transcript(),
    _int("thread_id", "its thread", ForeignKey("threads.id"), nullable=False),
    _col("uuid", BLOB, "the boundary's uuid; of a copy with a new one, the uuid its `forkedFrom` names (D2)"),
    _text("record_session", "`sessionId` of its record"),
    _text("trigger", "auto or manual, as logged"),
    _int("pre_tokens", "`preTokens`; null = not logged"),
    _int("post_tokens", "`postTokens`: messages only; null = not logged"),
    _int("dropped_tokens", "`cumulativeDroppedTokens`"),
    _int("duration_ms", "`durationMs`"),
    _int("messages_summarized", "`messagesSummarized`"),
    _text("focus", "what the user asked it to keep (`userContext`)"),
    _text("preserved", "uuids named as preserved, a JSON array; null = not logged"),
    _text("discovered_tools", "tools loaded before it, a JSON array"),
    Index("compactions_by_thread", "thread_id"),
)

preserved = Table(
    "preserved",
    metadata,
    _int("record_id", "the boundary record of a compaction", ForeignKey("records.id"), primary_key=True),
    _int("place", "place in what it names", primary_key=True),
    _col("uuid", BLOB, "a record that it preserved"),
    _flag("is_segment", "1 = one end of a stretch: place 0 is its head, 1 its tail"),
    sqlite_with_rowid=False,
)

removals = Table(
    "removals",
    metadata,
    _int("record_id", "the record that says so", ForeignKey("records.id"), primary_key=True),
    _int("place", "place in that record", primary_key=True),
    _text("kind", "microcompact, replacement, retraction or superseded", nullable=False),
    _text("tool_use_id", "the tool use whose result was taken out"),
    _col("uuid", BLOB, "the record that was taken out"),
    _int("saved_tokens", "on place 0: `tokensSaved`; null = not logged"),
    sqlite_with_rowid=False,
)

attachments = Table(
    "attachments",
    metadata,
    _int("record_id", "its record", ForeignKey("records.id"), primary_key=True),
    _text("type", "as logged", nullable=False),
    _text("name", "hook name, file name or skill"),
    _text("event", "hook event"),
    _text("added", "names it lists or adds, a JSON array"),
    _text("removed", "names it takes away, a JSON array"),
)

context_reports = Table(
    "context_reports",
    metadata,
    _int("id", "record id of a `/context` output; below 0 = pasted by the user", primary_key=True),
    _int("session_id", "its session; null = not told", ForeignKey("sessions.id")),
    _int("time_ms", "when"),
    _text("model", "as printed"),
    _text("version", "Claude Code version then"),
    _int("used_tokens", "as printed"),
    _int("window_tokens", "as printed"),
    _text("rows", "JSON array of [label, tokens, deferred]", nullable=False),
)

meta_records = Table(
    "meta_records",
    metadata,
    _int("transcript_id", "its transcript", ForeignKey("transcripts.id"), primary_key=True),
    _text("key", "record type, the last one wins; prompt, command: the first by time", primary_key=True),
    _int("record_id", "the record that said so", nullable=False),
    _text("value", "what it said, titles as one line of up to 200 characters; JSON where it is no single text"),
    sqlite_with_rowid=False,
)

surroundings = Table(
    "surroundings",
    metadata,
    _int("id", "surrogate key", primary_key=True),
    _text("kind", "claude_md, memory, skill, mcp, settings, agent …", nullable=False),
    _text("path", "the file", nullable=False),
    _text("project_path", "the project it serves; null = all"),
    _text("name", "what it names"),
    _text("content_hash", "hash of its bytes", nullable=False),
    _int("mtime_ns", "modification time", nullable=False),
    _int("bytes", "size", nullable=False),
    _int("chars", "characters"),
    _int("tokens", "ceil(chars / 4), estimated"),
    _text("detail", "names and settings, JSON; never text"),
    _int("first_seen_ms", "first run that saw this content", nullable=False),
    _int("last_seen_ms", "last one", nullable=False),
    Index("surroundings_by_path", "path", "content_hash"),
)

models = Table(
    "models",
    metadata,
    _text("model", "as logged", primary_key=True),
    _int("priced", "1 = the price list knows it", nullable=False),
    _text("source", "price list and version asked", nullable=False),
    _int("asked_ms", "when", nullable=False),
    sqlite_with_rowid=False,
)

prices = Table(
    "prices",
    metadata,
    _int("id", "surrogate key", primary_key=True),
    _text("model", "as logged in the calls it prices", nullable=False),
    _text("speed", "holds for calls of this speed or tier only; null = for those with no row of their own"),
    _text("from_day", "first UTC day it holds, YYYY-MM-DD; null = from the beginning"),
    _int(
        "above_tokens",
        "holds for calls with more context tokens than this",
        nullable=False,
        server_default="0",
    ),
    _col("input_usd", Float, "USD a million tokens; null = not listed"),
    _col("cache_read_usd", Float, "likewise"),
    _col("cache_write_5m_usd", Float, "likewise"),
    _col("cache_write_1h_usd", Float, "likewise"),
    _col("output_usd", Float, "likewise"),
    _col("web_search_usd", Float, "USD a thousand searches; null = not listed"),
    _text("source", "price list and version", nullable=False),
    Index("prices_by_model", "model", "speed", "from_day", "above_tokens", unique=True),
)

problems = Table(
    "problems",
    metadata,
    _int("transcript_id", "its transcript", ForeignKey("transcripts.id"), primary_key=True),
    _int("offset", "where the damage begins", primary_key=True),
    _text("reason", "what is wrong", primary_key=True),
    _int("length", "bytes", nullable=False),
    sqlite_with_rowid=False,
)

runs = Table(
    "runs",
    metadata,
    _int("id", "surrogate key", primary_key=True),
    _int("started_ms", "when it began", nullable=False),
    _int("duration_ms", "how long it took, milliseconds"),
    _text("kind", "index, hook, report, rebuild"),
    _text("version", "crusts version"),
    _int("files", "transcripts seen"),
    _int("changed", "transcripts read"),
    _int("gone", "newly marked gone"),
    _int("bytes_read", "bytes read"),
    _int("records", "records written"),
    _int("problems", "problems found"),
)

forgotten = Table(
    "forgotten",
    metadata,
    _text("session_id", "a session that was forgotten and is not read in again (D16)", primary_key=True),
    _int("forgotten_ms", "when", nullable=False),
    sqlite_with_rowid=False,
)

store_facts = Table(
    "store_facts",
    metadata,
    _text("name", "what: views, text, promise, kept_up, look:<folder> …", primary_key=True),
    _text("value", "its value", nullable=False),
    sqlite_with_rowid=False,
)
