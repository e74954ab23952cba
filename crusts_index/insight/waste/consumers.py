"""What takes most of the window, file by file and tool by tool; sizes are estimated unless said otherwise (D9)."""

from __future__ import annotations

from crusts_index.insight.session.mentions import short_names
from crusts_index.insight.window.catalogue import deferred_load_tokens
from crusts_index.insight.window.contents import loaded_tools
from crusts_index.tools import EDITS, READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Block, Facts
    from crusts_index.insight.waste.find import WasteItem
    from crusts_index.insight.window.judge import Window

CONSUMERS = 5
"""How many are told."""


class Consumer(NamedTuple):
    """One part of the window. `kind`: file, tool, schemas, system, summary, memory or skills; `uses` in the window."""

    kind: str
    name: str
    path: str | None
    tokens: int
    uses: int
    note: str
    basis: str


class FileUse(NamedTuple):
    """One file of the window: how often read and edited, what its reads take, and how much of that is waste."""

    path: str
    reads: int
    edits: int
    tokens: int
    wasted_tokens: int
    messages: tuple[int, ...]


def files_of(facts: Facts, waste: Sequence[WasteItem]) -> list[FileUse]:
    """The files read in the window, most tokens first."""
    results: dict[int, list[Block]] = {}
    for block in facts.blocks:
        if block.in_window and block.kind == "tool_result" and block.tool_use_row is not None:
            results.setdefault(block.tool_use_row, []).append(block)
    wasted: dict[str, int] = {}
    for item in waste:
        if item.path and item.type in ("stale_read", "duplicate_read"):
            wasted[item.path] = wasted.get(item.path, 0) + item.estimated_tokens
    found: dict[str, list[int]] = {}
    numbers: dict[str, list[int]] = {}
    for use in facts.tool_uses:
        if not use.in_window or not use.path or (use.name not in READS and use.name not in EDITS):
            continue
        counts = found.setdefault(use.path, [0, 0, 0])
        if use.name in EDITS:
            counts[1] += not use.is_error
            continue
        counts[0] += 1
        counts[2] += sum(block.tokens for block in results.get(use.id, ()))
        numbers.setdefault(use.path, []).extend({block.message for block in results.get(use.id, ())})
    files = [
        FileUse(path, reads, edits, tokens, wasted.get(path, 0), tuple(sorted(numbers.get(path, ()))))
        for path, (reads, edits, tokens) in found.items()
        if reads
    ]
    return sorted(files, key=lambda one: (-one.tokens, one.path))


def consumers_of(facts: Facts, window: Window, waste: Sequence[WasteItem]) -> list[Consumer]:
    """Everything that takes a part of the window, the largest first."""
    files = files_of(facts, waste)
    names = short_names(one.path for one in files)
    found = [
        Consumer("file", names[one.path], one.path, one.tokens, one.reads, _file_note(one), "estimated")
        for one in files
    ]
    found += _tools(facts)
    found += _fixed(facts, window)
    summary = facts.live_from.summary_record_id if facts.live_from else None
    if summary is not None:
        tokens = sum(block.tokens for block in facts.blocks if block.in_window and block.record_id == summary)
        found.append(Consumer("summary", "compaction summary", None, tokens, 1, "the latest", "estimated"))
    return sorted((one for one in found if one.tokens > 0), key=lambda one: (-one.tokens, one.kind, one.name))


def _file_note(one: FileUse) -> str:
    reads = "read once" if one.reads == 1 else f"read {one.reads:,} times"
    return f"{reads}, {one.wasted_tokens:,} of it waste" if one.wasted_tokens else reads


def _tools(facts: Facts) -> list[Consumer]:
    """Results of all other tools, those of an MCP server together."""
    uses = {use.id: use for use in facts.tool_uses}
    tokens: dict[str, int] = {}
    counts: dict[str, int] = {}
    for block in facts.blocks:
        use = uses.get(block.tool_use_row) if block.tool_use_row is not None else None
        if use is None or not block.in_window or block.kind != "tool_result":
            continue
        if use.name in READS and use.path:
            continue
        name = f"MCP server {use.server}" if use.server else f"{use.name or 'unknown tool'} results"
        tokens[name] = tokens.get(name, 0) + block.tokens
        counts[name] = counts.get(name, 0) + 1
    return [
        Consumer("tool", name, None, amount, counts[name], _results(counts[name]), "estimated")
        for name, amount in tokens.items()
    ]


def _results(count: int) -> str:
    return "1 result" if count == 1 else f"{count:,} results"


def _fixed(facts: Facts, window: Window) -> list[Consumer]:
    fixed = window.fixed_context
    if fixed.tokens is None:
        return []
    loaded = loaded_tools(facts, current=True)
    schemas = fixed.schema_tokens + sum(map(deferred_load_tokens, loaded))
    used = {use.name for use in facts.tool_uses if use.name}
    note = f"{len(used)} tools used" + (f", {len(loaded)} loaded on demand" if loaded else "")
    if fixed.internal_tokens is None:
        return [Consumer("system", "fixed context", None, fixed.tokens, 0, "undivided", "derived")]
    prompt = fixed.internal_tokens + fixed.claude_md_tokens
    claude_md = f"CLAUDE.md {fixed.claude_md_tokens:,} of it" if fixed.claude_md_tokens else ""
    return [
        Consumer("schemas", "tool schemas", None, schemas, len(used), note, "estimated"),
        Consumer("system", "system prompt", None, prompt, 0, claude_md, "derived"),
        Consumer("memory", "memory files", None, fixed.memory_tokens, 0, "", "estimated"),
        Consumer("skills", "skill listing", None, fixed.skill_tokens, 0, "", "estimated"),
    ]
