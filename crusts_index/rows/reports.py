"""Rows of the queries that are reports of their own; their fields are the columns that tables, CSV and JSON show."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("usage")
class Usage(NamedTuple):
    """The billed calls of a model, day, project …"""

    key: str | None
    calls: int
    input: int
    cache_read: int
    cache_write: int
    cache_write_5m: int
    cache_write_1h: int
    output: int
    cost_usd: float | None
    priced_usd: float | None
    unpriced_calls: int
    retained_calls: int
    nonstandard_calls: int
    placeholder_calls: int
    output_missing: int | None
    cost_missing_usd: float | None
    is_total: int

    @property
    def cache_read_share(self) -> float | None:
        """Cache reads of all context tokens; None without any."""
        context = self.input + self.cache_read + self.cache_write
        return self.cache_read / context if context else None


@of("usage_tools")
class ToolUsage(NamedTuple):
    """What a tool or an MCP server put into the context."""

    key: str | None
    uses: int
    result_tokens: int
    carried_tokens: int
    errors: int
    is_total: int


@of("usage_windows")
class WindowUsage(NamedTuple):
    """What a category or a file filled of the windows."""

    key: str | None
    blocks: int
    tokens: int
    carried_tokens: int
    carried_usd: float | None
    priced_usd: float | None
    is_total: int


@of("waste")
class HistoryWaste(NamedTuple):
    """What a habit, file, tool … put into contexts for nothing."""

    kind: str
    key: str | None
    uses: int
    tokens: int
    wasted_uses: int
    wasted_tokens: int
    carried_tokens: int
    carried_usd: float | None
    priced_usd: float | None
    sessions: int


@of("models")
class ModelRun(NamedTuple):
    """A run of calls of one model."""

    model: str
    first_message: int
    last_message: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    priced_usd: float | None
    unpriced_calls: int
    placeholder_calls: int
    output_missing: int
    cost_missing_usd: float
    first_seen: str | None
    last_seen: str | None


@of("list")
class ListedSession(NamedTuple):
    """A session, as the view sessions_overview tells of it."""

    session: str
    project: str | None
    title: str | None
    started: str | None
    last_active: str | None
    messages: int
    calls: int
    model: str | None
    version: str | None
    peak_ctx: int | None
    compactions: int
    size_bytes: int | None
    gone: int | None
    last_active_ms: int | None
    in_all: int


@of("search")
class Hit(NamedTuple):
    """A prompt, answer, summary or tool use."""

    id: int
    session: str | None
    project: str | None
    message: int | None
    agent: str | None
    time: str | None
    local_time: str | None
    role: str
    tool: str | None
    copies: int
    gone: int
    in_all: int


@of("accuracy")
class EstimatePair(NamedTuple):
    """Content between two calls as estimated, how much of it is of its kind, and what the second call carried more, in
    tokens."""

    version: str
    model: str
    kind: str
    estimate: int
    most: int
    growth: int


@of("accuracy_pairs")
class PairBlock(NamedTuple):
    """A block between two calls, and what tells how far the context grew."""

    pair: int
    model: str
    growth: int
    kind: str
    soft: int
    marks: int
    extra: int
    share: int | None
    tool: str | None
    is_answer: int


@of("calibrations")
class Calibration(NamedTuple):
    """A /context output, recorded or pasted; `rows` is JSON."""

    id: int
    session_id: str | None
    time_ms: int | None
    model: str | None
    version: str | None
    used_tokens: int | None
    window_tokens: int | None
    rows: str


@of("bench")
class CompactedSession(NamedTuple):
    """A session that has a compaction."""

    session_id: str


@of("completion")
class CompletedId(NamedTuple):
    """The id of a session, for a shell to complete."""

    session: str


@of("forget")
class Forgettable(NamedTuple):
    """A session that a request to forget means, and what would go with it."""

    session: str
    project: str | None
    title: str | None
    last_active: str | None
    transcripts: int
    records: int
    calls: int
    gone: int | None


@of("problems")
class Problem(NamedTuple):
    """A damaged or odd place of a transcript, in bytes."""

    path: str
    offset: int
    length: int
    reason: str


@of("doctor")
class StoreCounts(NamedTuple):
    """What the checks ask of the store as a whole."""

    sessions: int
    gone_transcripts: int
    problems: int
    problem_transcripts: int
    last_run_ms: int | None
    calls: int
    placeholder_calls: int
    reports: int
    last_report: str | None


@of("doctor_unpriced")
class UnpricedModel(NamedTuple):
    """A model whose calls have no list price."""

    model: str
    calls: int


@of("doctor_nonstandard")
class NonstandardMode(NamedTuple):
    """A speed, tier or place that the price list has no price for."""

    mode: str
    calls: int


@of("verify")
class ToldCost(NamedTuple):
    """What Claude Code says that a session cost, and of what that is made up, in USD; None where a call is unpriced."""

    session_id: str
    told_usd: float
    calls_usd: float | None
    copied_usd: float
    rest_usd: float | None
