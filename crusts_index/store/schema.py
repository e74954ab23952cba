"""The tables of the store, as SQLAlchemy metadata: what is kept, in which unit, and what a null means.

Rules that hold for every table:

* Facts stand as logged, once. What is judged (windows, rankings, cost, waste) is a query over them.
* Times are `…_ms`: UTC milliseconds since 1970 (D6). Views show ISO 8601.
* A record's id is `transcript_id << 40 | offset`: it sorts in log order, tells its transcript and where
  to find its bytes. A block's id is its record's id plus its place, a thread's id is
  `transcript_id << 20 | number`.
* What is told by the millions is narrow: tables `stored_…` hold it, and a view called by the rest of that name shows it
  with words, ids and flags as they are. There a word (a type, a model, a tool's name) is its id in `words`; an id
  near the row's own is how far `…_back` (or `…_ahead`) it lies; yes and no are bits of `flags`; a request, message or
  tool use id goes without the prefix that they all have, and one without that prefix begins with `=`.
* Nothing here depends on the order in which transcripts were read, except the surrogate ids, which no view
  shows.

Imported only where the schema is laid or checked: reports and appends read and write through `sqlite3` alone.
"""

from __future__ import annotations

from sqlalchemy import BLOB, Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text, func, text

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


def _word(name: str, doc: str) -> Column[Any]:
    return _col(name, Integer, f"{doc}; a word")


def _flag(name: str, doc: str) -> Column[Any]:
    return _col(name, Integer, doc, nullable=False, server_default="0")


def _count(name: str, doc: str) -> Column[Any]:
    return _col(name, Integer, doc, nullable=False, server_default="0")


def _end(name: Column[Any]) -> Any:
    """By what an id is indexed: six characters of a usual one tell nearly all apart; odd ones may all end alike."""
    return func.substr(name, func.iif(func.length(name) == 24, -6, -64))


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
    _text("repo", "the folder that its worktree belongs to; null = its transcripts name none (D22)"),
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
    # How many there are, without their wide rows: every run asks for it.
    Index("transcripts_read", "root", "parser", sqlite_where=text("gone = 0 and size >= 0")),
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

words = Table(
    "words",
    metadata,
    _int("id", "of a usual word a small number, else 48 bits of its hash: the same in every store", primary_key=True),
    _text("word", "a type, kind, category, model, tool's name, branch … as logged", nullable=False),
)

stored_records = Table(
    "stored_records",
    metadata,
    _int("id", "transcript_id << 40 | offset", primary_key=True),
    _int("length", "bytes of the record, line end left out", nullable=False),
    _word("type", "as logged"),
    _word("subtype", "as logged; of an attachment its type, of a progress record `agent_progress` or null"),
    _col("uuid", BLOB, "16 bytes; text where it is no uuid; null = none"),
    _col(
        "parent_uuid",
        BLOB,
        "`parentUuid`, of a boundary `logicalParentUuid`, of a last-prompt record `leafUuid`; kept of what can open a"
        " branch, of last-prompt records, and where no record of that uuid stands before it",
    ),
    _int("time_ms", "its time; without a valid one, that of the record before it (D6); null = none"),
    _count("thread", "number of its thread in its transcript"),
    _count("branch", "branch in its thread (D10)"),
    _count("epoch", "which boundary of its thread it stands behind, 0 = none (D10)"),
    _count("call_ordinal", "API responses of its thread begun so far, its own included (D13)"),
    _int("message", "number of its message in its thread; null = it puts nothing into the context (D7)"),
    _int("response_back", "how far the API response that it is a line of lies before it; null = it is none"),
    _count(
        "flags",
        "1 = opens a branch perhaps: a human prompt or a boundary; 2 = a human prompt (D8); 4 = a compaction summary;"
        " 8 = `isMeta`; 16 = copied: it names another session as its origin (D2); 32 = its uuid stood before in this"
        " transcript: kept, counted nowhere (D2)",
    ),
    _word(
        "origin",
        "why a user record is no human prompt: command, bash, notification, interruption, reminder …;"
        " of a line of an answer that was cut off: aborted",
    ),
)
# Four bytes of sixteen tell nearly all apart; the query looks at the rest.
Index("records_by_uuid", func.substr(stored_records.c.uuid, 1, 4), sqlite_where=text("uuid is not null"))
Index("records_opening", func.substr(stored_records.c.parent_uuid, 1, 4), sqlite_where=text("flags & 1"))
Index("records_of_prompts", stored_records.c.thread, sqlite_where=text("flags & 6"))

stored_responses = Table(
    "stored_responses",
    metadata,
    _int("id", "id of its first record; below 0 = retained: its bytes are gone (D4)", primary_key=True),
    _int("thread_id", "its thread", ForeignKey("threads.id"), nullable=False),
    _count("last_ahead", "how far its last record in this transcript lies behind its first"),
    _int("shared_call_id", "the API call that it is one occurrence of several of; null = its call has its own id"),
    _text("request_id", "`requestId` without `req_`; null = none"),
    _text("message_id", "`message.id` without `msg_`; null = none"),
    _word("record_session", "`sessionId` of its records; of copies that name it, the session that asked"),
    _int("message", "number of its message in its thread"),
    _int("ordinal", "its place among the responses of its thread, from 1", nullable=False),
    _count("branch", "branch in its thread"),
    _count("epoch", "epoch in its thread"),
    _count(
        "flags",
        "1 = its first record is copied: rank 1 of D2; 2 = found inside a progress record: rank 2; 4 = an"
        " `advisor_message` iteration: a call of its own, in no curve (D1); 8 = a record of it carried a usage object;"
        " 16 = it was cut off; 32 = its output is a placeholder (D9)",
    ),
    _int("took_ms", "its last record's time less its first one's (rank 5 of D2); null = the first has none"),
    _int("last_ms", "time of its last record"),
    _word("model", "as logged on its last record with usage"),
    _count("input_tokens", "uncached input, exact"),
    _count("cache_read_tokens", "input read from the cache, exact"),
    _count("cache_write_tokens", "input written to the cache: the larger of flat field and 5m + 1h (D1), exact"),
    _count("cache_write_1h_tokens", "of these, written for one hour, exact"),
    _count("output_tokens", "output as logged; a placeholder in older versions"),
    _int("thinking_tokens", "of the output, thinking; null = not logged"),
    _count("web_searches", "web searches made"),
    _word("service_tier", "as logged; null = standard or not logged"),
    _word("speed", "as logged; null = standard or not logged"),
    _word("geo", "`inference_geo` as logged; null = none told"),
    _word("stop_reason", "as logged on its last record"),
    _word("effort", "as logged"),
    _word("git_branch", "`gitBranch` of its first record; null = none"),
)
Index("responses_by_request", _end(stored_responses.c.request_id), sqlite_where=text("request_id is not null"))
Index("responses_by_message", _end(stored_responses.c.message_id), sqlite_where=text("message_id is not null"))
Index("responses_by_thread", stored_responses.c.thread_id)
Index("responses_by_call", stored_responses.c.shared_call_id, sqlite_where=text("shared_call_id is not null"))

stored_response_facts = Table(
    "stored_response_facts",
    metadata,
    _int("response_id", "a response that logged any of these", primary_key=True),
    _word("requested_model", "`requestedModel`; may end in [1m]"),
    _col("request", BLOB, "`requestRef`: the uuid of the request that it answers"),
    _word("miss_reason", "`diagnostics.cache_miss_reason.type`: why the cache did not hold, as the API told"),
    _int("missed_tokens", "`cache_missed_input_tokens`"),
    _word("skill", "`attributionSkill`"),
    _word("plugin", "`attributionPlugin`"),
    _word("mcp_server", "`attributionMcpServer`"),
    _word("mcp_tool", "`attributionMcpTool`"),
    _word("agent", "`attributionAgent`"),
)
Index("response_facts_by_request", stored_response_facts.c.request, sqlite_where=text("request is not null"))

stored_requests = Table(
    "stored_requests",
    metadata,
    _int("record_id", "its `api-request` record", primary_key=True),
    _col("uuid", BLOB, "its id, 16 bytes"),
    _col("base", BLOB, "the request that it goes on from; null = none"),
    _int("kept", "how many messages of that one it sends again"),
    _int("tail", "how many it adds"),
    _int("shape_hash", "48 bits over `shapeHash`: system and tools; see request_shapes"),
    _int("cache_hash", "48 bits over where it asked for caching"),
    _word("model", "as asked"),
    _word("effort", "as asked"),
    _word("source", "`querySource`"),
    _word("agent", "`agentId`; null = the main thread's"),
)

request_shapes = Table(
    "request_shapes",
    metadata,
    _int("record_id", "its `api-request-shape` record", primary_key=True),
    _int("shape_hash", "48 bits over `shapeHash`"),
)

stored_version_starts = Table(
    "stored_version_starts",
    metadata,
    _int("record_id", "a record that names another version of Claude Code than those before it", primary_key=True),
    _word("version", "the version"),
)

stored_sent_parts = Table(
    "stored_sent_parts",
    metadata,
    _int("record_id", "an `api-request-shape`, `prompt_snapshot` or `instructions` record", primary_key=True),
    _int("place", "place in that record, from 0", primary_key=True),
    _word("kind", "tool, system or file"),
    _word("name", "of a tool its name; of a file its type"),
    _text("path", "of a file"),
    _count("chars", "Unicode characters"),
    _count("soft", "as in blocks"),
    _count("marks", "as in blocks"),
    sqlite_with_rowid=False,
)

stored_calls = Table(
    "stored_calls",
    metadata,
    _int("id", "smallest id of its responses when first seen", primary_key=True),
    _int("response_id", "the owning response (D2); null = the one of the same id"),
    _int("usage_id", "the response that tells its usage (D1); null = the owner"),
    _int("time_ms", "time of that one's last record"),
    _int("price_id", "the price that holds for it (D15); null = unpriced", ForeignKey("prices.id")),
    _flag("retained", "1 = its bytes are gone from every transcript; it was billed and stays (D4)"),
    Index("calls_by_time", "time_ms"),
)

weights = Table(
    "weights",
    metadata,
    _text(
        "name", "what it weighs: soft, marks, a kind of block …; factor = that of a model's tokenizer", primary_key=True
    ),
    _text("model", "of a factor the model; else empty", primary_key=True),
    _col("value", Float, "what holds (D9)", nullable=False),
    _col("shipped", Float, "what the program came with", nullable=False),
    _count("pairs", "pairs of calls it was fitted to; 0 = as shipped"),
    sqlite_with_rowid=False,
)

stored_blocks = Table(
    "stored_blocks",
    metadata,
    _int("id", "id of its record + place", primary_key=True),
    _count("place", "its place in its record, from 0"),
    _word("kind", "text, thinking, tool_use, tool_result, image, document or attachment"),
    _word("category", "conversation, retrieved, system, tools or state; the last prompt's `user` is a query's (D8)"),
    _count("chars", "Unicode characters counted"),
    _count("soft", "characters that are no white space + 2 × (UTF-8 bytes − characters) (D9)"),
    _count("marks", "runs of ASCII digits and punctuation + 2 × line ends (D9)"),
    _count(
        "extra",
        "of a tool_use the keys of its input; of thinking the length of its signature; of all else the tokens that no"
        " text tells: of images and documents by size, and what an empty task_reminder and EnterPlanMode bring (D9)",
    ),
    _count("estimate", "tokens by these and the weights that hold (D9), estimated"),
    _int("share", "its share of the billed output (D9), exact in sum; null = the estimate stands"),
    _int("use_back", "of a tool_use or tool_result: how far its row in tool uses lies before it"),
)

texts = Table(
    "texts",
    metadata,
    _int("block_id", "its block", ForeignKey("stored_blocks.id"), primary_key=True),
    _text(
        "text",
        "prompts, answers and summaries up to 64 KiB, else the first 80 characters (D16)",
        nullable=False,
    ),
)

stored_tool_uses = Table(
    "stored_tool_uses",
    metadata,
    _int(
        "id",
        "id of its tool_use block; of its tool_result where the use is not in this transcript",
        primary_key=True,
    ),
    _count("thread", "number of its thread in its transcript"),
    _text("use_key", "its id as logged, without `toolu_`; null = none"),
    _word("name", "the tool's name; null = the use is not in this transcript"),
    _text("path", "file path as logged, up to 2 KiB"),
    _col("read_offset", Integer, "of a Read: `offset` as logged"),
    _col("read_limit", Integer, "of a Read: `limit` as logged"),
    _text("command", "command, pattern, URL, query or skill, up to 2 KiB"),
    _word("agent_type", "of Task and Agent: `subagent_type`"),
    _text("agent_id", "of Task and Agent: the agent that ran, from its result"),
    _word("resolved_model", "of Task and Agent: the model that ran, from its result; may end in [1m]"),
    _int("input_hash", "48 bits over name and input: the same call again has the same"),
    _int("use_back", "how far the record of the use lies before it; null = it is not in this transcript"),
    _int("use_ms", "time of the use"),
    _int("result_ahead", "how far the record of the result lies behind it; null = there is none"),
    _int("result_ms", "time of the result, less use_ms where that is known"),
    _int("result_hash", "48 bits over the result's text"),
    _count("result_chars", "characters of the result's text parts"),
    _count("result_images", "images in the result"),
    _count(
        "flags",
        "1 = the result is an error; 2 = it only says that nothing changed; 4 = it was cut short or moved to a file;"
        " 8 = a call of crusts itself; 16 = its record is copied; 32 = found inside a progress record; 64 = the"
        " result's record is copied, or the use in this transcript is; 128 = totals do not count this use, 256 = nor"
        " this result (D2)",
    ),
    _int("prior_read_back", "of a Read: how far the previous one of the same path, offset and limit lies before it"),
    _int("prior_edit_back", "of a Read: how far the last edit of that path lies before it"),
    _word("use_session", "`sessionId` of its record; null = the session that the transcript's place tells"),
    _word("result_session", "likewise, of its result"),
)
Index(
    "tool_uses_by_key",
    _end(stored_tool_uses.c.use_key),
    sqlite_where=text("use_key is not null"),
)
Index("tool_uses_by_agent", stored_tool_uses.c.agent_id, sqlite_where=text("agent_id is not null"))
Index("tool_uses_rereading", stored_tool_uses.c.use_ms, sqlite_where=text("prior_read_back is not null"))

tool_loads = Table(
    "tool_loads",
    metadata,
    _int("record_id", "the ToolSearch result that loaded it", ForeignKey("stored_records.id"), primary_key=True),
    _text("name", "the tool whose schema it loaded", primary_key=True),
    sqlite_with_rowid=False,
)

compactions = Table(
    "compactions",
    metadata,
    _int("id", "its boundary record", ForeignKey("stored_records.id"), primary_key=True),
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
    _int("record_id", "the boundary record of a compaction", ForeignKey("stored_records.id"), primary_key=True),
    _int("place", "place in what it names", primary_key=True),
    _col("uuid", BLOB, "a record that it preserved"),
    _flag("is_segment", "1 = one end of a stretch: place 0 is its head, 1 its tail"),
    sqlite_with_rowid=False,
)

removals = Table(
    "removals",
    metadata,
    _int("record_id", "the record that says so", ForeignKey("stored_records.id"), primary_key=True),
    _int("place", "place in that record", primary_key=True),
    _text("kind", "microcompact, replacement, retraction or superseded", nullable=False),
    _text("use_key", "the tool use whose result was taken out: stored_tool_uses.use_key"),
    _col("uuid", BLOB, "the record that was taken out"),
    _int("saved_tokens", "on place 0: `tokensSaved`; null = not logged"),
    sqlite_with_rowid=False,
)

attachments = Table(
    "attachments",
    metadata,
    _int("record_id", "its record", ForeignKey("stored_records.id"), primary_key=True),
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

habits = Table(
    "habits",
    metadata,
    _text(
        "kind",
        "what of the user's history: limit, the window that a model showed; buffer, what automatic compactions left"
        " free of it; prior, by how much windows grew a call until then; range_low and range_high, what held 80 % of"
        " the truth, as shares of a forecast (D10)",
        primary_key=True,
    ),
    _text(
        "scope",
        "of a limit the model as asked for; of a buffer the limit and the line of versions; of a prior the project's"
        " path, empty = all; of a range the horizon, 0 to 4",
        primary_key=True,
    ),
    _int("since_ms", "of a limit since when it showed; else 0", primary_key=True),
    _col("value", Float, "tokens, tokens a call, or a share", nullable=False),
    _int(
        "support",
        "of a limit the context that showed it, tokens; else how many compactions, epochs or calls tell it",
        nullable=False,
    ),
    sqlite_with_rowid=False,
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

cost_states = Table(
    "cost_states",
    metadata,
    _int("transcript_id", "its transcript", ForeignKey("transcripts.id"), primary_key=True),
    _text("model", "as logged in the last `cost-state`; may end in [1m]", primary_key=True),
    _int("record_id", "the record that said so", nullable=False),
    _count("input_tokens", "Claude Code's own count of uncached input; never part of billed sums (D1)"),
    _count("output_tokens", "likewise"),
    _int("thinking_tokens", "likewise; null = not logged"),
    _count("cache_read_tokens", "likewise"),
    _count("cache_write_tokens", "likewise"),
    _int("cache_write_5m_tokens", "likewise; null = not logged"),
    _int("cache_write_1h_tokens", "likewise; null = not logged"),
    _count("web_searches", "likewise"),
    _col("cost_usd", Float, "likewise, USD"),
    sqlite_with_rowid=False,
)

payload_facts = Table(
    "payload_facts",
    metadata,
    _text("session_id", "the session that the payload of a status line or hook was of", primary_key=True),
    _text("model", "its model's id, as sent; may end in [1m]", primary_key=True),
    _int("time_ms", "when something new was told last", nullable=False),
    _int("window_tokens", "`context_window_size`; null = never sent, here and below"),
    _text("cache_ttl", "`prompt_cache.ttl`: 5m or 1h"),
    _int("cache_expires_ms", "`prompt_cache.expires_at`, kept to the minute; when it was told that it likely expired"),
    _text("repo", "`workspace.repo`: host/owner/name"),
    _text("worktree", "`worktree.name`, else `workspace.git_worktree`"),
    _text("worktree_of", "the folder that it belongs to, by `worktree.path` and `worktree.original_cwd` (D22)"),
    _text("branch", "`worktree.branch`"),
    _text("pr", "`pr.number` and `review_state`"),
    sqlite_with_rowid=False,
)

limit_samples = Table(
    "limit_samples",
    metadata,
    _text("name", "five_hour or seven_day", primary_key=True),
    _int("time_ms", "when the status line was told", primary_key=True),
    _col("used_percentage", Float, "as sent", nullable=False),
    _int("resets_ms", "`resets_at`; null = not sent"),
    sqlite_with_rowid=False,
)

stored_call_sums = Table(
    "stored_call_sums",
    metadata,
    _int("thread_id", "the thread that owns the calls (D2)", primary_key=True),
    _int("quarter", "quarter of an hour of their times, counted from 1970; -1 = without a time", primary_key=True),
    _int("model", "as logged, a word; 0 = none", primary_key=True),
    _int("price_id", "the price that holds for them; 0 = none", primary_key=True),
    _text(
        "mode",
        "what their usage says that may have a price of its own, as in api_calls; empty = standard",
        primary_key=True,
    ),
    _int("calls", "how many", nullable=False),
    _int("input_tokens", "sum", nullable=False),
    _int("cache_read_tokens", "sum", nullable=False),
    _int("cache_write_tokens", "sum", nullable=False),
    _int("cache_write_1h_tokens", "of these, for one hour", nullable=False),
    _int("output_tokens", "sum, as logged", nullable=False),
    _int("web_searches", "sum", nullable=False),
    _int("retained", "of the calls, those in no transcript any more", nullable=False),
    _int("placeholders", "of the calls, those whose output is a placeholder (D9)", nullable=False),
    sqlite_with_rowid=False,
)

stored_tool_sums = Table(
    "stored_tool_sums",
    metadata,
    _int("thread_id", "the thread in which the use or the result stands", primary_key=True),
    _int("branch", "branch in it (D10)", primary_key=True),
    _int("epoch", "epoch in it", primary_key=True),
    _int("quarter", "quarter of an hour of its time, counted from 1970; -1 = without a time", primary_key=True),
    _int("name", "the tool, a word; 0 = a result whose use is in another transcript, if any", primary_key=True),
    _int("uses", "uses that totals count (D2)", nullable=False),
    _int("results", "results that totals count", nullable=False),
    _int("result_tokens", "sum of their sizes (X-size)", nullable=False),
    _int("behind_calls", "sum of each size times the call ordinal of its result (D13)", nullable=False),
    _int("errors", "of the results, errors", nullable=False),
    sqlite_with_rowid=False,
)

spans = Table(
    "spans",
    metadata,
    _int("thread_id", "the thread", primary_key=True),
    _int("branch", "branch in it (D10)", primary_key=True),
    _int("epoch", "epoch in it", primary_key=True),
    _count("last_call", "ordinal of its last API response there"),
    _count("last_result", "largest call ordinal of a tool result there: beyond last_call no call followed it"),
    sqlite_with_rowid=False,
)

stored_curves = Table(
    "stored_curves",
    metadata,
    _int("thread_id", "whose calls: what occurs in the thread, copies too (X-ctx)", primary_key=True),
    _int("part", "64 responses of it, by their ordinals", primary_key=True),
    _int("calls", "how many, without advisors' and those of no tokens", nullable=False),
    _int("first_ms", "earliest time; null = one has none"),
    _int("last_ms", "latest time; null = none has one"),
    _int("peak_tokens", "most context tokens of one, exact", nullable=False),
    _text("contexts", "context tokens of each in log order, parted by commas, exact", nullable=False),
    sqlite_with_rowid=False,
)

stored_curve_models = Table(
    "stored_curve_models",
    metadata,
    _int("thread_id", "whose calls", primary_key=True),
    _int("part", "as in stored_curves", primary_key=True),
    _int("model", "as logged, a word; 0 = none", primary_key=True),
    _int("calls", "how many", nullable=False),
    _int("peak_tokens", "most context tokens of one, exact", nullable=False),
    _int("first_id", "the first response", nullable=False),
    _int("last_id", "the last one", nullable=False),
    _int("fall_tokens", "by how much the context fell from the call before at most; null = there is none before"),
    sqlite_with_rowid=False,
)

stored_rebuilds = Table(
    "stored_rebuilds",
    metadata,
    _int(
        "response_id",
        "a response that sent again what was in the context before, or is the first behind a boundary (D21)",
        primary_key=True,
    ),
    _int("rebuilt_tokens", "how much it sent again, exact: at most what it sent", nullable=False),
    _int("gap_ms", "of a break: from the last line of the response before it to its first; null = not known"),
    _count(
        "changes",
        "1 = the first behind a boundary; of a break, what differs from the response before it: 2 = another branch;"
        " 4 = another model; 8 = something was taken out of the context; 16 = another version; 32 = tools, servers,"
        " skills or agents were listed or loaded; 64 = CLAUDE.md files changed; 128 = a subagent was asked again; 256 ="
        " what was cached lives an hour; of its request: 512 = earlier messages were changed; 1024 = system or tools;"
        " 2048 = effort; 4096 = where it asked for caching; 8192 = model; 16384 = both are logged; 32768 = tools;"
        " 65536 = the context is smaller; 131072 = the session was opened again, or copied",
    ),
)

stored_window_sums = Table(
    "stored_window_sums",
    metadata,
    _int("thread_id", "the thread", primary_key=True),
    _int("branch", "branch in it (D10)", primary_key=True),
    _int("epoch", "epoch in it", primary_key=True),
    _int("category", "as in blocks, a word; 0 = see messages", primary_key=True),
    _int("tokens", "of the blocks of messages that came there, as in blocks", nullable=False),
    _int(
        "messages",
        "messages of which the largest block is of it; of category 0 those with parts on other branches or epochs too",
        nullable=False,
    ),
    sqlite_with_rowid=False,
)
