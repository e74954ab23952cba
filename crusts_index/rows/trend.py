"""Rows of the queries about many sessions at once: where each stands, and the sums that its window is judged by."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("trend")
class Standing(NamedTuple):
    """Where a session stands."""

    session_id: str
    project: str
    transcript: int
    parts: int
    started_ms: int | None
    last_ms: int | None
    active_ms: int | None
    version: str | None
    last_version: str | None
    messages: int
    compactions: int
    end_id: int
    branch: int
    epoch: int
    boundary: int | None
    post_tokens: int | None
    discovered_tools: str | None
    own_calls: int
    leaf: int | None
    summaries: int
    branches: int
    left_out: int


@of("trend_boundaries")
class TrendBoundary(NamedTuple):
    """A compaction boundary, and what the first call behind it carried."""

    transcript: int
    id: int
    trigger: str | None
    pre_tokens: int | None
    time_ms: int | None
    preserved: str | None
    model: str | None
    context: int | None
    carried: int


@of("trend_calls")
class TrendCall(NamedTuple):
    """The last call of a live window; `first` is the context of the window's first one, `calls` how many it has."""

    transcript: int
    id: int
    model: str
    context: int
    output: int
    asked: str | None
    answer: int | None
    first: int
    calls: int


@of("trend_contents")
class TrendContents(NamedTuple):
    """What a live window holds: tokens by category, and messages by the category of their largest block."""

    transcript: int
    conversation: int
    retrieved: int
    user: int
    system: int
    tools: int
    state: int
    led_conversation: int
    led_retrieved: int
    led_user: int
    led_system: int
    led_tools: int
    led_state: int
    loads: str | None


@of("trend_kept")
class TrendKept(NamedTuple):
    """Tokens of the messages that a boundary names as preserved."""

    boundary: int
    tokens: int


@of("trend_models")
class TrendModel(NamedTuple):
    """The calls of one model on a main thread. `largest` and `fall` are context tokens."""

    transcript: int
    model: str
    largest: int
    first_id: int
    last_id: int
    fall: int | None


@of("trend_removals")
class TrendRemoval(NamedTuple):
    """A block that was taken out of the context."""

    block_id: int


@of("trend_repeats")
class TrendRepeat(NamedTuple):
    """A session that goes on in a history written again."""

    transcript: int


@of("trend_reports")
class TrendReport(NamedTuple):
    """What /context said in a session; `rows` is JSON."""

    session_id: str
    id: int
    time_ms: int | None
    model: str | None
    version: str | None
    used_tokens: int | None
    window_tokens: int | None
    rows: str


@of("trend_segment")
class TrendRecord(NamedTuple):
    """A message between two records."""

    id: int


@of("trend_starts")
class TrendStart(NamedTuple):
    """The first call of a session, and what stood before it, in tokens."""

    transcript: int
    id: int
    ordinal: int
    branch: int
    time_ms: int | None
    context: int
    messages: int
    attachments: int
    listed: int
    nested: int
    amid: int


@of("trend_surroundings")
class TrendSurrounding(NamedTuple):
    """A file that was seen around some project, and when; `detail` is a JSON object."""

    kind: str
    path: str
    name: str | None
    project_path: str | None
    tokens: int | None
    detail: str | None
    mtime_ns: int
    first_seen_ms: int
    last_seen_ms: int


@of("trend_told")
class TrendTold(NamedTuple):
    """What was told of a model or its window's size, as in SessionTold."""

    transcript: int
    source: str
    model: str
    tokens: int | None
    time_ms: int | None


@of("trend_weeks")
class TrendWeek(NamedTuple):
    """How sessions went in a week. Shares are from 0 to 1."""

    week: str
    sessions: int
    calls: int
    peak_p50: int | None
    compactions: int
    reread_tokens: int
    result_tokens: int
    waste_share: float | None
    cache_read_share: float | None
    cost_usd: float | None
    priced_usd: float | None
    unpriced_calls: int
    placeholder_calls: int
    output_missing: int
    cost_missing_usd: float


@of("lost")
class LostCompaction(NamedTuple):
    """A compaction, and where a session's own view shows it."""

    session_id: str
    project: str | None
    timestamp: str | None
    week: str | None
    trigger: str | None
    focus: str | None
    before_tokens: int | None
    after_tokens: int | None
    view_session: str | None
    view_id: int | None
