"""What fills the window: one list of everything in it, which sums to the window to the token (D17)."""

from __future__ import annotations

from crusts_index.insight.session.carried import Carriage
from crusts_index.insight.window.buckets import WINDOW, reconciled
from crusts_index.insight.window.contents import DERIVED, ESTIMATED, EXACT, contents_of, loaded_tools
from crusts_index.insight.window.listings import INSTRUCTIONS, SKILLS, TOOLS, bodies_of, servers_in
from crusts_index.tools import READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.insight.session.facts import Attachment, Block, Facts, ToolUse
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listings import Recorded

    Name = tuple[str, str, str]
    """Kind, what, category: what is in one row."""

FILE, REST = "file", "rest"
NO_ROW = "in the window and in no row"

_SAID = {
    "bash": "commands run with !",
    "caveat": "caveats",
    "command": "slash commands",
    "ide": "what the editor told",
    "interruption": "interruptions",
    "notification": "task notifications",
    "reminder": "system reminders",
    "skill": "skill bodies",
    "task-notification": "task notifications",
    "teammate": "messages of teammates",
}
"""Texts that stand where a prompt stands, by their origin."""
_ATTACHED = {
    "agent_listing_delta": ("agents", "agent listing"),
    "nested_memory": ("memory", "nested CLAUDE.md files"),
    "queued_command": ("attachment", "task notifications"),
    "task_reminder": ("attachment", "task reminders"),
    "todo_reminder": ("attachment", "task reminders"),
    "invoked_skills": ("skills", "skill bodies"),
    "instructions": ("memory", "CLAUDE.md files"),
    SKILLS: ("skills", "skill listing"),
}
_FILES = ("file", "edited_text_file", "compact_file_reference")


class Content(NamedTuple):
    """One row. `what` is of a file its path; `times` counts blocks: results, messages, records.

    `tokens` are on the window's scale, `share` is of the window, from 0 to 1. `carried_usd`: what carrying it has cost
    so far, its tokens as counted in each later call at the price of a cache read; None where a call has no price.
    `category` is None for what is in no row.
    """

    what: str
    kind: str
    category: str | None
    times: int
    tokens: int
    share: float
    accuracy: str
    carried_usd: float | None


class _Heap:
    """What comes to one row: its parts as (tokens, ordinal of the call after which they came)."""

    __slots__ = ("accuracy", "count", "parts")

    def __init__(self) -> None:
        self.count = 0
        self.accuracy = EXACT
        self.parts: list[tuple[int, int]] = []

    @property
    def tokens(self) -> int:
        return sum(tokens for tokens, _ in self.parts)


def list_contents(facts: Facts, window: Window, recorded: Recorded | None = None) -> list[Content]:
    """Everything in the window, largest first, last what is in no row; empty while the window is not known.

    `recorded` reads how much a record says of each MCP server; without it their names must do.
    """
    size = window.size
    if size is None:
        return []
    first = next((call.ordinal for call in facts.calls if call.live_epoch), 0)
    heaps = _Heaps(facts, recorded, first - 1)
    heaps.add_fixed(window)
    heaps.add_blocks()
    contents = contents_of(facts, window.fixed_context, current=True)
    heaps.add_loaded(contents.loaded_tokens)
    sizes = {name: heap.tokens for name, heap in heaps.by_name.items()}
    buckets = reconciled(contents, size, may_scale=True)
    rest = 0
    if buckets.basis == WINDOW:
        for bucket in buckets.buckets:
            names = [name for name in sizes if name[2] == bucket.category]
            sizes |= zip(names, apportioned([sizes[name] for name in names], bucket.tokens), strict=True)
    elif contents.total > size:
        sizes = dict(zip(sizes, apportioned(list(sizes.values()), size), strict=True))
    else:
        rest = size - contents.total
    carriage = Carriage(facts)
    rows = []
    for name, heap in heaps.by_name.items():
        tokens = sizes[name]
        if tokens:
            _, usd = carriage.amount((part, max(ordinal, first - 1)) for part, ordinal in heap.parts)
            accuracy = heap.accuracy if tokens == heap.tokens else ESTIMATED
            kind, what, category = name
            rows.append(Content(what, kind, category, heap.count, tokens, tokens / size, accuracy, usd))
    rows.sort(key=lambda row: (-row.tokens, row.kind, row.what))
    if rest:
        rows.append(Content(NO_ROW, REST, None, 0, rest, rest / size, DERIVED, None))
    return rows


def apportioned(sizes: Sequence[int], total: int) -> list[int]:
    """Sizes scaled to sum to `total`, by largest remainder; all 0 where they sum to nothing."""
    whole = sum(sizes)
    if not whole:
        return [0] * len(sizes)
    scaled = [size * total // whole for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda place: -(sizes[place] * total % whole))
    for place in by_remainder[: total - sum(scaled)]:
        scaled[place] += 1
    return scaled


class _Heaps:
    """The heaps of a window in the making."""

    def __init__(self, facts: Facts, recorded: Recorded | None, start: int) -> None:
        self._facts, self._start = facts, start
        self._uses = {use.id: use for use in facts.tool_uses}
        self._attached = {one.record_id: one for one in facts.attachments}
        inside = {block.record_id for block in facts.blocks if block.in_window}
        listed = [one for one in facts.attachments if one.type in (TOOLS, INSTRUCTIONS) and one.record_id in inside]
        self._bodies = bodies_of(listed, recorded)
        self.by_name: dict[Name, _Heap] = {}

    def add_fixed(self, window: Window) -> None:
        """The parts of the fixed context."""
        for kind, what, category, tokens, accuracy in window.fixed_context.parts:
            self._add((kind, what, category), [(tokens, self._start)], accuracy)

    def add_blocks(self) -> None:
        """The blocks of the window."""
        for block in self._facts.blocks:
            if block.in_window:
                accuracy = EXACT if block.is_exact else ESTIMATED
                one = self._attached.get(block.record_id)
                if block.kind == "attachment" and one is not None and one.type in (TOOLS, INSTRUCTIONS):
                    self._add_listing(block, one, accuracy)
                else:
                    kind, what = self._named(block)
                    self._add((kind, what, block.category), [(block.tokens, block.call_ordinal)], accuracy)

    def add_loaded(self, tokens: int) -> None:
        """The schemas of deferred tools that were loaded since."""
        names = loaded_tools(self._facts, current=True)
        came = {load.record_id for load in self._facts.loads if load.name in names}
        ordinals = [block.call_ordinal for block in self._facts.blocks if block.in_window and block.record_id in came]
        name = "schemas", "schemas of tools loaded on demand", "tools"
        if tokens:
            self._add(name, [(tokens, min(ordinals, default=self._start))], ESTIMATED, count=len(names))

    def _add(self, name: Name, parts: Iterable[tuple[int, int]], accuracy: str, count: int = 1) -> None:
        heap = self.by_name.setdefault(name, _Heap())
        heap.count += count
        heap.parts += parts
        if accuracy != EXACT and heap.accuracy != ESTIMATED:
            heap.accuracy = accuracy

    def _add_listing(self, block: Block, one: Attachment, accuracy: str) -> None:
        servers = servers_in(one, self._bodies.get(one.record_id, {})) or [(None, 1.0)]
        sizes = apportioned([round(share * 1_000_000) for _, share in servers], block.tokens)
        for (server, _), tokens in zip(servers, sizes, strict=True):
            if one.type == INSTRUCTIONS:
                what = f"MCP instructions: {server}" if server else "MCP instructions"
            else:
                what = f"tools announced: {server}" if server else "tools announced: built-in"
            self._add(("listing", what, block.category), [(tokens, block.call_ordinal)], accuracy)

    def _named(self, block: Block) -> tuple[str, str]:
        if block.kind in ("tool_use", "tool_result"):
            use = self._uses.get(block.tool_use_row) if block.tool_use_row is not None else None
            return _used(block, use)
        if block.kind == "attachment" and not block.is_prompt:
            return self._attachment(block)
        if block.kind == "thinking":
            return "thinking", "thinking"
        if block.record_type == "assistant":
            return "answer", "answers"
        if block.is_summary:
            return "summary", "compaction summary"
        if block.kind in ("image", "document"):
            return "paste", f"pasted {block.kind}s"
        if block.is_prompt and block.category in ("user", "conversation"):
            return "prompt", "last prompt" if block.category == "user" else "earlier prompts"
        if block.is_prompt:
            return "message", "system reminders"
        return "message", _SAID.get(block.origin or "", "other messages")

    def _attachment(self, block: Block) -> tuple[str, str]:
        one, subtype = self._attached.get(block.record_id), block.subtype or "other"
        if subtype in _FILES:
            return FILE, (one.name if one else None) or "attached files"
        if subtype.startswith("hook_"):
            event = one.event if one else None
            return "attachment", f"hook output: {event}" if event else "hook output"
        return _ATTACHED.get(subtype, ("attachment", subtype.replace("_", " ")))


def _used(block: Block, use: ToolUse | None) -> tuple[str, str]:
    tool = (use.name if use else None) or "unknown tool"
    if block.kind == "tool_use":
        return "input", f"{tool} inputs"
    if use is not None and use.path and tool in READS:
        return FILE, use.path
    return "result", f"{tool} results"
