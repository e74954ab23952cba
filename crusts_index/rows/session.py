"""Rows of the other queries about one session. Flags are 1 or 0, times UTC milliseconds; None is SQL's null."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("session_first")
class SessionFirst(NamedTuple):
    """The first message, and the uuid of the parent it names."""

    id: int
    parent_uuid: bytes | str | None


@of("session_peers")
class SessionPeer(NamedTuple):
    """The first call of another session."""

    transcript: int
    first_id: int


@of("session_tool_uses")
class SessionToolUse(NamedTuple):
    """A tool use with its result; offset and limit as logged."""

    id: int
    tool_use_id: str | None
    name: str | None
    server: str | None
    path: str | None
    read_offset: int | str | None
    read_limit: int | str | None
    command: str | None
    agent_type: str | None
    agent_id: str | None
    input_hash: int | None
    use_record_id: int | None
    use_ms: int | None
    result_record_id: int | None
    result_ms: int | None
    result_hash: int | None
    result_chars: int
    result_tokens: int
    is_error: int
    is_stub: int
    is_cut: int
    is_own: int
    prior_read_id: int | None
    prior_edit_id: int | None


@of("session_loads")
class SessionLoad(NamedTuple):
    """A deferred tool that a ToolSearch result loaded."""

    record_id: int
    message: int | None
    name: str


@of("session_attachments")
class SessionAttachment(NamedTuple):
    """An attachment; `added` and `removed` are JSON arrays."""

    record_id: int
    message: int | None
    type: str
    name: str | None
    event: str | None
    added: str | None
    removed: str | None


@of("session_threads")
class SessionThread(NamedTuple):
    """A thread of the session, whichever transcript it stands in, and what its calls were billed. Tokens, USD."""

    id: int
    kind: str
    agent_id: str | None
    agent_type: str | None
    agent_description: str | None
    parent_tool_use_id: str | None
    calls: int
    context_tokens: int
    output_tokens: int
    cost_usd: float | None
    priced_usd: float | None
    unpriced_calls: int
    placeholder_calls: int


@of("session_texts")
class SessionText(NamedTuple):
    """The text kept of a block."""

    block_id: int
    text: str


@of("session_other_reads")
class SessionOtherRead(NamedTuple):
    """A read that another thread of the session made."""

    path: str
    read_offset: int | str | None
    read_limit: int | str | None
    use_ms: int | None
    result_hash: int | None


@of("session_named")
class SessionNamed(NamedTuple):
    """A session whose id begins as asked."""

    session_id: str
    project: str | None
    last_active_ms: int | None
    has_messages: int


@of("watch")
class BlockText(NamedTuple):
    """The text kept of the block asked for."""

    text: str


@of("lost_used")
class UsedFile(NamedTuple):
    """A file that was used after a compaction, and when."""

    path: str
    use_ms: int


@of("lost_prices")
class CallPrice(NamedTuple):
    """List prices of a call, USD a million tokens: of its output, and of what it took in for the first time."""

    response_id: int
    output_usd: float | None
    intake_usd: float | None


@of("compare")
class Billed(NamedTuple):
    """The API calls that a session owns (D2): tokens as billed, exact; the cost at list price, None if unpriced.

    `priced_usd` sums what is priced. `placeholder_calls`: of output and cost only a lower bound is known;
    `output_missing` and `cost_missing_usd` estimate what it lacks (D9, D15). `main_usd` and `subagents_usd`: what the
    main thread and all others cost, None where one of their calls is unpriced.
    """

    calls: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    cost_usd: float | None
    priced_usd: float | None
    unpriced_calls: int
    placeholder_calls: int
    output_missing: int
    cost_missing_usd: float
    main_calls: int = 0
    main_usd: float | None = None
    subagents_usd: float | None = None

    @property
    def cache_read_share(self) -> float | None:
        """Cache reads of all context tokens; None without any."""
        context = self.input + self.cache_read + self.cache_write
        return self.cache_read / context if context else None
