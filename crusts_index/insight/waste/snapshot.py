"""A session at one moment, as `watch` shows it: the window, what fills it, how it grows, who works, what was said."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from crusts_index.insight.session.sizes import sizes_of
from crusts_index.rows.session import BlockText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Block, Compaction, Facts, ToolUse
    from crusts_index.insight.waste.find import WasteItem
    from crusts_index.insight.window.buckets import Buckets
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listed import Content
    from crusts_index.rows import Fetch
    from crusts_index.rows.session import SessionThread

RUNNING_MS = 60_000
"""A subagent that wrote within this time is running, unless its result is in."""
MOST_DELTAS = 60
PREVIEW_CHARS = 400
_LOOKED_BACK = 40


class Category(NamedTuple):
    """One of the six; percentage of the sum of all."""

    name: str
    tokens: int
    percentage: float


class Contents(NamedTuple):
    """What fills the window (D12, D17), and what of it serves nothing (D13); estimated."""

    categories: tuple[Category, ...]
    basis: str
    waste_count: int
    waste_tokens: int
    rows: tuple[Content, ...]


class Cut(NamedTuple):
    """A compaction: windows before and after, tokens (D19); `pre_tokens` and `post_tokens` as logged."""

    id: int
    time_ms: int | None = None
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    before: int | None = None
    after: int | None = None


class Worker(NamedTuple):
    """A subagent at work. `tokens`: context and output of all its calls, as billed; None where it is not known."""

    agent_id: str
    agent_type: str | None
    calls: int | None
    tokens: int | None


class Said(NamedTuple):
    """The last message: who, and the beginning of it."""

    who: str
    text: str


class Snapshot(NamedTuple):
    """All of it. Sizes are tokens; `deltas` is the growth of each call since the compaction, the last ones."""

    session_id: str
    project: str
    title: str | None
    messages: int
    window: Window
    deltas: tuple[int, ...]
    contents: Contents | None
    compactions: int
    last_compaction: Cut | None
    workers: tuple[Worker, ...]
    said: Said | None
    is_behind: bool
    """Not all that is new could be read: this is how it was before."""


def snapshot_of(facts: Facts, window: Window) -> Snapshot:
    """The window of a session; without contents, workers and the last message, which are others' to add."""
    session, cuts = facts.session, facts.all_compactions
    live = [call for call in facts.calls if call.live_epoch]
    return Snapshot(
        session_id=session.session_id,
        project=session.project,
        title=session.title,
        messages=session.messages,
        window=window,
        deltas=tuple(b.context_tokens - a.context_tokens for a, b in pairwise(live))[-MOST_DELTAS:],
        contents=None,
        compactions=len(cuts),
        last_compaction=_cut(facts, cuts[-1], window) if cuts else None,
        workers=(),
        said=None,
        is_behind=False,
    )


def contents_now(buckets: Buckets, rows: Sequence[Content], waste: Sequence[WasteItem]) -> Contents:
    """What fills the window, and how much of it is waste (what is excused is none)."""
    wasted = [item for item in waste if item.is_counted]
    return Contents(
        tuple(Category(one.category, one.tokens, one.percentage) for one in buckets.buckets),
        buckets.basis,
        len(wasted),
        sum(item.estimated_tokens for item in wasted),
        tuple(rows),
    )


def workers_of(
    uses: Sequence[ToolUse],
    threads: Sequence[SessionThread],
    written: Sequence[tuple[str, int]],
    now_ms: int,
) -> tuple[Worker, ...]:
    """The subagents at work, of those whose transcripts were `written`: (agent id, when).

    Those whose result came after that are done.
    """
    ended: dict[str | None, int] = {}
    for use in uses:
        if use.agent_id is not None and use.result_ms is not None:
            ended[use.agent_id] = max(use.result_ms, ended.get(use.agent_id, 0))
    known = {thread.agent_id: thread for thread in threads if thread.agent_id}
    found = []
    for agent_id, time_ms in written:
        if now_ms - time_ms > RUNNING_MS or ended.get(agent_id, 0) >= time_ms:
            continue
        thread = known.get(agent_id)
        if thread is None:
            found.append(Worker(agent_id, None, None, None))
        else:
            tokens = thread.context_tokens + thread.output_tokens
            found.append(Worker(agent_id, thread.agent_type, thread.calls, tokens))
    return tuple(found)


def last_said(fetch: Fetch, facts: Facts) -> Said | None:
    """The last message that says something: a text, a tool's use or its result."""
    uses = {use.id: use for use in facts.tool_uses}
    for block in reversed(facts.blocks[-_LOOKED_BACK:]):
        if block.kind not in ("text", "tool_use", "tool_result") or block.is_meta or not block.on_path:
            continue
        use = uses.get(block.tool_use_row) if block.tool_use_row is not None else None
        who = _who(block, use)
        text = _about(use) if block.kind == "tool_use" and use else _text(fetch, block)
        if text:
            return Said(who, text[:PREVIEW_CHARS])
        if block.kind != "text":
            return Said(who, "")
    return None


def _who(block: Block, use: ToolUse | None) -> str:
    tool = (use.name if use else None) or "a tool"
    if block.kind == "tool_use":
        return f"Claude uses {tool}"
    if block.kind == "tool_result":
        return f"{tool} failed" if use and use.is_error else f"{tool} gave"
    if block.record_type == "assistant":
        return "Claude"
    return "Summary" if block.is_summary else "You" if block.is_prompt else "Claude Code"


def _about(use: ToolUse) -> str:
    return use.path or use.command or ""


def _text(fetch: Fetch, block: Block) -> str:
    rows = fetch(BlockText, block=block.id)
    return rows[0].text if rows else ""


def _cut(facts: Facts, one: Compaction, window: Window) -> Cut:
    sizes = sizes_of(facts, one, window.fixed_context.tokens)
    return Cut(one.id, one.time_ms, one.trigger, one.pre_tokens, one.post_tokens, sizes.before, sizes.after)
