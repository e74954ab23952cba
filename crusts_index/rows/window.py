"""Rows of the queries that a session's window is judged by, those of a status line among them: one module, since each
one that is imported costs it time. Flags are 1 or 0, times UTC milliseconds; None is SQL's null."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("session_parts")
class SessionPart(NamedTuple):
    """A main transcript that the session's own view shows."""

    id: int
    session_id: str
    project: str
    path: str
    gone: int
    first_ms: int | None
    last_ms: int | None
    version: str | None
    last_version: str | None
    entrypoint: str | None
    git_branch: str | None
    title: str | None


@of("session_calls")
class SessionCall(NamedTuple):
    """A response that is a point of its thread's curve."""

    id: int
    last_record_id: int
    message: int
    ordinal: int
    branch: int
    epoch: int
    model: str
    time_ms: int | None
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    output_tokens: int
    thinking_tokens: int | None
    context_tokens: int
    cost_usd: float | None
    cache_read_usd: float | None
    stop_reason: str | None
    effort: str | None


@of("session_blocks")
class SessionBlock(NamedTuple):
    """A block of a numbered message."""

    id: int
    record_id: int
    message: int
    time_ms: int | None
    kind: str
    category: str
    tokens: int
    estimate: int
    chars: int
    is_exact: int
    branch: int
    epoch: int
    call_ordinal: int
    type: str
    subtype: str | None
    is_prompt: int
    is_summary: int
    is_meta: int
    origin: str | None
    tool_use_id: int | None
    response_id: int | None


@of("session_boundaries")
class SessionBoundary(NamedTuple):
    """A compaction boundary; `preserved` and `discovered_tools` are JSON arrays."""

    id: int
    time_ms: int | None
    trigger: str | None
    pre_tokens: int | None
    post_tokens: int | None
    dropped_tokens: int | None
    duration_ms: int | None
    focus: str | None
    preserved: str | None
    discovered_tools: str | None
    epoch: int
    branch: int
    is_owner: int


@of("session_branches")
class SessionBranch(NamedTuple):
    """A branch, and the record that it forks at."""

    branch: int
    parent_branch: int
    starts_anew: int
    first_record_id: int
    fork_record_id: int | None
    fork_branch: int | None
    fork_response_id: int | None


@of("session_end")
class SessionEnd(NamedTuple):
    """The last record up to a message, and how far messages and times go there."""

    id: int
    branch: int
    epoch: int
    message: int
    last_ms: int | None


@of("session_leaf")
class SessionLeaf(NamedTuple):
    """A last-prompt record, and the uuid of the leaf that it names."""

    id: int
    parent_uuid: bytes | str


@of("session_record")
class SessionRecord(NamedTuple):
    """A record, and where it stands."""

    id: int
    branch: int
    epoch: int
    response_id: int | None
    message: int | None


@of("session_removals")
class SessionRemoval(NamedTuple):
    """What a record says was taken out of the context."""

    record_id: int
    message: int | None
    kind: str
    saved_tokens: int | None
    branch: int
    response_id: int | None
    tool_use_row: int | None
    target_record_id: int | None


@of("session_reports")
class SessionReport(NamedTuple):
    """What /context said, in a record or, with an id below 0, pasted; `rows` is JSON."""

    id: int
    time_ms: int | None
    model: str | None
    version: str | None
    used_tokens: int | None
    window_tokens: int | None
    rows: str


@of("session_surroundings", "live_settings")
class SessionSurrounding(NamedTuple):
    """A file that was seen around the project; `detail` is a JSON object."""

    kind: str
    path: str
    name: str | None
    project_path: str | None
    tokens: int | None
    detail: str | None
    mtime_ns: int
    holds: int


@of("session_told")
class SessionTold(NamedTuple):
    """What was told of a model or its window's size; `source`: a call's request (asked), an attachment, Claude Code's
    own costs or a payload. `model` may end in [1m]; `answered` is the model that the calls logged.
    """

    source: str
    model: str
    answered: str | None
    first_id: int | None
    last_id: int | None
    tokens: int | None
    time_ms: int | None


@of("habits")
class Habit(NamedTuple):
    """Something that the user's own history says of windows, as in the table."""

    kind: str
    scope: str
    since_ms: int
    value: float
    support: int


@of("fixed_sent")
class SentParts(NamedTuple):
    """What was logged of the system prompt and tools of a first call, in tokens; `names` is a JSON array."""

    transcript: int
    is_shape: int
    system: int
    tools: int
    names: str | None


@of("sent_named")
class SentNamed(NamedTuple):
    """A tool or a file of instructions as it was sent: its name or path, and its tokens before a model's factor."""

    transcript: int
    record_id: int
    name: str | None
    tokens: float


@of("session_pasted")
class SessionPasted(NamedTuple):
    """The last /context that was pasted; `rows` is JSON."""

    version: str | None
    rows: str
