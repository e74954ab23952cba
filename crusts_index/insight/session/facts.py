"""The facts of one session's own view, as rows: what the judgements in this package are made from.

Ids compare in log order within a transcript. Tokens are exact where a call was billed them and estimated
(D9) otherwise; `is_exact` says which.
"""

from __future__ import annotations

from crusts_index.jsontext import dumps
from crusts_index.rows.session import SessionPeer, SessionText
from crusts_index.rows.trend import TrendStart
from crusts_index.rows.window import SentNamed
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from crusts_index.rows import Fetch
    from crusts_index.rows.session import SessionLoad, SessionThread
    from crusts_index.rows.window import SentParts, SessionTold

CATEGORIES = ("conversation", "retrieved", "user", "system", "tools", "state")
"""The six, in the order in which they are shown and in which ties are broken (D12)."""


class Session(NamedTuple):
    """The session as a whole. `version` is the last one logged, `first_version` the first."""

    session_id: str
    project: str
    project_folder: str | None
    title: str | None
    version: str | None
    first_version: str | None
    started_ms: int | None
    last_ms: int | None
    gone: bool
    transcript_path: str | None
    messages: int
    entrypoint: str | None = None
    git_branch: str | None = None


class Call(NamedTuple):
    """One response of the main thread that is a point of its curve. `ordinal` counts over its whole part."""

    id: int
    record_id: int
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
    is_placeholder: bool
    on_path: bool
    live_epoch: bool
    effort: str | None = None


class Block(NamedTuple):
    """One block of one numbered message. `category` is `user` for the last human prompt of the cut (D8)."""

    id: int
    record_id: int
    message: int
    time_ms: int | None
    kind: str
    category: str
    tokens: int
    estimate: int
    chars: int
    is_exact: bool
    branch: int
    epoch: int
    call_ordinal: int
    record_type: str
    subtype: str | None
    is_prompt: bool
    is_summary: bool
    is_meta: bool
    origin: str | None
    tool: str | None
    tool_use_row: int | None
    call_id: int | None
    in_window: bool
    on_path: bool


class ToolUse(NamedTuple):
    """One tool use of the main thread and its result, as far as the cut holds it.

    `result_tokens` is X-size, `use_tokens` and `result_block_tokens` are D9. `in_window` is of its result,
    without one of its use. Where the use is not in the transcript, `name` and `use_*` are None.
    """

    id: int
    tool_use_id: str | None
    name: str | None
    server: str | None
    path: str | None
    read_offset: object
    read_limit: object
    command: str | None
    agent_type: str | None
    agent_id: str | None
    input_hash: int | None
    use_record_id: int | None
    use_message: int | None
    use_ms: int | None
    result_record_id: int | None
    result_message: int | None
    result_ms: int | None
    result_hash: int | None
    result_chars: int
    result_tokens: int
    use_tokens: int
    result_block_tokens: int
    is_error: bool
    is_stub: bool
    is_cut: bool
    is_own: bool
    prior_read_id: int | None
    prior_edit_id: int | None
    branch: int
    epoch: int
    in_window: bool
    on_path: bool


class Compaction(NamedTuple):
    """One boundary. `detection` is marker, or for an inferred one heuristic or summary.

    `id` is the boundary's record, of an inferred one the record its window begins with; `message` numbers
    the first message after it. `preserved_records` are the records that `preserved` names.
    """

    id: int
    message: int | None
    time_ms: int | None
    trigger: str | None
    pre_tokens: int | None
    post_tokens: int | None
    dropped_tokens: int | None
    duration_ms: int | None
    focus: str | None
    preserved: tuple[str, ...]
    discovered_tools: tuple[str, ...]
    epoch: int
    branch: int
    summary_record_id: int | None
    summary_message: int | None
    is_owner: bool
    on_path: bool = True
    detection: str = "marker"
    preserved_records: frozenset[int] = frozenset()


class Removal(NamedTuple):
    """What a record says was taken out of the context: a tool use's result, or a record (D10)."""

    record_id: int
    kind: str
    tool_use_row: int | None
    target_record_id: int | None
    saved_tokens: int | None
    on_path: bool


class Attachment(NamedTuple):
    """An attachment, whether it reached the model (`message`) or not."""

    record_id: int
    message: int | None
    type: str
    name: str | None
    event: str | None
    added: tuple[str, ...]
    removed: tuple[str, ...]


class ContextReport(NamedTuple):
    """What `/context` said; `id` below 0 = pasted. `rows`: (label, tokens, deferred)."""

    id: int
    time_ms: int | None
    model: str | None
    version: str | None
    used_tokens: int | None
    window_tokens: int | None
    rows: tuple[tuple[str, int, bool], ...]


class Surrounding(NamedTuple):
    """One file around the project, of which the stored size was right while the session ran (D11)."""

    kind: str
    path: str
    name: str | None
    project_path: str | None
    tokens: int
    detail: Mapping[str, Any]


class Facts:
    """Everything known of one session up to the cut; the parts of a session run on (D3)."""

    __slots__ = (
        "_fetch",
        "_texts",
        "attachments",
        "begins_amid",
        "blocks",
        "calls",
        "compactions",
        "context_reports",
        "inferred",
        "is_partial",
        "leaf_record_id",
        "live_from",
        "loads",
        "parts",
        "removals",
        "sent",
        "session",
        "settings",
        "surroundings",
        "surroundings_complete",
        "threads",
        "told",
        "tool_uses",
        "trimmed",
        "until",
    )

    session: Session
    calls: list[Call]
    blocks: list[Block]
    tool_uses: list[ToolUse]
    compactions: list[Compaction]  # boundaries as logged, log order
    inferred: list[Compaction]  # where the transcript has no marker at all (D10)
    removals: list[Removal]
    loads: list[SessionLoad]  # messages numbered over the parts
    attachments: list[Attachment]
    context_reports: list[ContextReport]
    surroundings: list[Surrounding]
    surroundings_complete: bool  # False: some file changed since, so the fixed context is not divided (D11)
    settings: list[Surrounding]  # settings files, as they were or, unknown, as they were seen first
    threads: list[SessionThread]
    told: list[SessionTold]  # of models and their windows, whatever the cut
    sent: SentParts | None  # what is logged of the system prompt and tools of the first call (D11)
    leaf_record_id: int | None
    live_from: Compaction | None  # the compaction that the live window stands behind
    parts: list[int]  # transcripts, in the order in which their messages are numbered
    until: int | None  # the cut, None = all
    trimmed: int  # messages left out at the end because they are a call of crusts itself
    is_partial: bool  # True: cut by `until` as given
    begins_amid: bool  # True: its first message follows one that stands nowhere

    def __init__(self, **values: object) -> None:
        for name, value in values.items():
            setattr(self, name, value)
        self._texts: dict[int, str] | None = None

    _fetch: Fetch

    def whole(self) -> Facts:
        """The facts of the whole session, where these are cut."""
        from crusts_index.insight.session.loading import load

        return load(self._fetch, self.session.session_id)

    def peers(self, *, project: str | None, version: str | None) -> list[TrendStart]:
        """How other sessions began, of a project and version or of all."""
        found = self._fetch(SessionPeer, session=self.session.session_id, project=project, version=version)
        firsts = dumps([[row.transcript, row.first_id] for row in found])
        return self._fetch(TrendStart, firsts=firsts) if found else []

    def sent_named(self, kind: str) -> list[SentNamed]:
        """The tools, or the files of instructions, that the session's transcripts say were sent (D11)."""
        return self._fetch(SentNamed, transcripts=dumps(self.parts), kind=kind)

    def text(self, block_id: int) -> str | None:
        """The stored text of a block: whole for prompts, answers and summaries, else its beginning (D16)."""
        return self.texts().get(block_id)

    def texts(self) -> dict[int, str]:
        """All stored texts of the session by block id, read at the first use."""
        if self._texts is None:
            self._texts = {
                row.block_id: row.text for part in self.parts for row in self._fetch(SessionText, transcript=part)
            }
        return self._texts

    @property
    def all_compactions(self) -> list[Compaction]:
        """Those logged, or without any, those inferred."""
        return self.compactions or self.inferred
