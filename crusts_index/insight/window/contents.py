"""What a window, or a whole session, is made of as counted, before it is measured against the bill: row by row, and
by category as the sums of the rows (D8, D17)."""

from __future__ import annotations

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.session.numbers import DERIVED, ESTIMATED, EXACT
from crusts_index.insight.window.catalogue import deferred_load_tokens
from crusts_index.insight.window.listings import INSTRUCTIONS, SKILLS, TOOLS, bodies_of, servers_in
from crusts_index.tools import READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crusts_index.insight.session.facts import Attachment, Block, Facts, ToolUse
    from crusts_index.insight.window.fixed import FixedContext
    from crusts_index.insight.window.listings import Recorded
    from crusts_index.rows.window import SentNamed

    Name = tuple[str, str, str]
    """Kind, what, category: what is in one row."""

FILE, MEMORY = "file", "memory"
_CLAUDE_MD = "CLAUDE.md files"
_ACCURACIES = (EXACT, DERIVED, ESTIMATED)

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
    "nested_memory": (MEMORY, "nested CLAUDE.md files"),
    "queued_command": ("attachment", "task notifications"),
    "task_reminder": ("attachment", "task reminders"),
    "todo_reminder": ("attachment", "task reminders"),
    "invoked_skills": ("skills", "skill bodies"),
    SKILLS: ("skills", "skill listing"),
    TOOLS: ("listing", "tools announced"),
    INSTRUCTIONS: ("listing", "MCP instructions"),
}
_FILES = ("file", "edited_text_file", "compact_file_reference")


class Heap:
    """What comes to one row. `parts` are (tokens, ordinal of the call after which they came), `count` is of blocks:
    results, messages, records."""

    __slots__ = ("accuracy", "count", "parts")

    def __init__(self) -> None:
        self.count = 0
        self.accuracy = EXACT
        self.parts: list[tuple[int, int]] = []

    @property
    def tokens(self) -> int:
        """All of it."""
        return sum(tokens for tokens, _ in self.parts)


class Contents(NamedTuple):
    """Tokens by category with their accuracy; `loaded_tokens` are included in them. `heaps` are the rows that they are
    the sums of, none where sums are all that is known."""

    tokens: Mapping[str, int]
    accuracy: Mapping[str, str]
    messages: int
    loaded_tokens: int
    heaps: Mapping[Name, Heap] = {}

    @property
    def total(self) -> int:
        """The sum over the categories."""
        return sum(self.tokens.values())


def contents_of(facts: Facts, fixed: FixedContext, *, current: bool, recorded: Recorded | None = None) -> Contents:
    """What the window holds (`current`), or what the whole session brought into it, on all branches.

    `recorded` reads how much a record says of each MCP server; without it their names must do.
    """
    blocks = [block for block in facts.blocks if block.in_window] if current else facts.blocks
    heaps = _Heaps(facts, blocks, recorded)
    heaps.add_fixed(fixed)
    heaps.add_blocks()
    loaded = heaps.add_loaded(loaded_tools(facts, current=current), fixed)
    tokens, accuracy = dict.fromkeys(CATEGORIES, 0), dict.fromkeys(CATEGORIES, EXACT)
    for (_, _, category), heap in heaps.by_name.items():
        tokens[category] += heap.tokens
        accuracy[category] = max(accuracy[category], heap.accuracy, key=_ACCURACIES.index)
    return Contents(tokens, accuracy, len({block.message for block in blocks}), loaded, heaps.by_name)


def loaded_tools(facts: Facts, *, current: bool) -> list[str]:
    """Deferred tools whose schemas are in the window, in the order they were loaded; once each.

    A compaction keeps those loaded before it.
    """
    live = facts.live_from
    names = list(live.discovered_tools) if live is not None and current else []
    inside = {block.record_id for block in facts.blocks if block.in_window} if current else set()
    names += [load.name for load in facts.loads if not current or load.record_id in inside]
    return list(dict.fromkeys(names))


def schema_sizes(facts: Facts, fixed: FixedContext) -> Mapping[str, int]:
    """Tokens of the tools whose schemas the session logged, as they were sent last (D11)."""
    is_any = facts.loads or any(one.discovered_tools for one in facts.compactions)
    return sizes_as_sent(facts.sent_named("tool"), fixed) if is_any else {}


def sizes_as_sent(sent: Iterable[SentNamed], fixed: FixedContext) -> Mapping[str, int]:
    """Tokens by name of tools as sent, on the scale of the bill."""
    return {row.name: round(row.tokens * fixed.sent_scale) for row in sent if row.name}


def load_tokens(name: str, sizes: Mapping[str, int]) -> int:
    """What a deferred tool costs from the ToolSearch result that loads it: as sent, else by the table (D11)."""
    return sizes.get(name) or deferred_load_tokens(name)


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


def attachment_row(subtype: str) -> tuple[str, str]:
    """The kind and the words of attachments of a type, which go on where there is one row for each of them."""
    if subtype.startswith("hook_"):
        return "attachment", "hook output"
    return _ATTACHED.get(subtype, ("attachment", subtype.replace("_", " ")))


class Names:
    """What blocks are called in the list."""

    def __init__(self, facts: Facts) -> None:
        self.uses = {use.id: use for use in facts.tool_uses}
        self.attached = {one.record_id: one for one in facts.attachments}

    def of(self, block: Block) -> tuple[str, str]:
        """Its row's kind and what it is of."""
        if block.kind in ("tool_use", "tool_result"):
            use = self.uses.get(block.tool_use_row) if block.tool_use_row is not None else None
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
        one, subtype = self.attached.get(block.record_id), block.subtype or "other"
        if subtype in _FILES:
            return FILE, (one.name if one else None) or "attached files"
        if subtype == "nested_memory" and one and one.name:
            return MEMORY, one.name
        kind, what = attachment_row(subtype)
        return kind, f"{what}: {one.event}" if one and one.event and subtype.startswith("hook_") else what


class _Heaps:
    """The heaps of a window in the making."""

    def __init__(self, facts: Facts, blocks: Sequence[Block], recorded: Recorded | None) -> None:
        self._facts, self._blocks, self._names = facts, blocks, Names(facts)
        self._start = next((call.ordinal for call in facts.calls if call.live_epoch), 0) - 1
        inside = {block.record_id for block in blocks}
        listed = [one for one in facts.attachments if one.type in (TOOLS, INSTRUCTIONS) and one.record_id in inside]
        self._bodies = bodies_of(listed, recorded)
        self._sent_files: list[SentNamed] | None = None
        self.by_name: dict[Name, Heap] = {}

    def add_fixed(self, fixed: FixedContext) -> None:
        """The parts of the fixed context."""
        for kind, what, category, tokens, accuracy in fixed.parts:
            self._add((kind, what, category), [(tokens, self._start)], accuracy)

    def add_blocks(self) -> None:
        """The blocks."""
        attached = self._names.attached
        for block in self._blocks:
            accuracy = EXACT if block.is_exact else ESTIMATED
            one = attached.get(block.record_id) if block.kind == "attachment" else None
            if one is not None and one.type in (TOOLS, INSTRUCTIONS):
                self._add_shared(block, "listing", self._servers(one), accuracy)
            elif block.subtype == "instructions":
                self._add_shared(block, MEMORY, self._files(block.record_id), accuracy)
            else:
                self._add((*self._names.of(block), block.category), [(block.tokens, block.call_ordinal)], accuracy)

    def add_loaded(self, names: Sequence[str], fixed: FixedContext) -> int:
        """The schemas of deferred tools that were loaded since; their tokens."""
        sizes = schema_sizes(self._facts, fixed) if names else {}
        tokens = sum(load_tokens(name, sizes) for name in names)
        if tokens:
            came = {load.record_id for load in self._facts.loads if load.name in names}
            ordinals = [block.call_ordinal for block in self._blocks if block.record_id in came]
            name = "schemas", "schemas loaded on demand", "tools"
            self._add(name, [(tokens, min(ordinals, default=self._start))], ESTIMATED, count=len(names))
        return tokens

    def _add(self, name: Name, parts: Iterable[tuple[int, int]], accuracy: str, count: int = 1) -> None:
        heap = self.by_name.get(name)
        if heap is None:
            heap = self.by_name[name] = Heap()
        heap.count += count
        heap.parts += parts
        if accuracy != EXACT and heap.accuracy != ESTIMATED:
            heap.accuracy = accuracy

    def _add_shared(self, block: Block, kind: str, rows: Sequence[tuple[str, float]], accuracy: str) -> None:
        """A block that is of several rows, each with its share of it."""
        sizes = apportioned([round(share * 1_000_000) for _, share in rows], block.tokens)
        for (what, _), tokens in zip(rows, sizes, strict=True):
            self._add((kind, what, block.category), [(tokens, block.call_ordinal)], accuracy)

    def _servers(self, one: Attachment) -> list[tuple[str, float]]:
        """What a record announces, by server."""
        servers = servers_in(one, self._bodies.get(one.record_id, {})) or [(None, 1.0)]
        if one.type == TOOLS:
            return [(f"tools announced: {server or 'built-in'}", share) for server, share in servers]
        return [(f"MCP instructions: {server}" if server else "MCP instructions", share) for server, share in servers]

    def _files(self, record_id: int) -> list[tuple[str, float]]:
        """The files of an `instructions` record, as far as they are known."""
        if self._sent_files is None:
            self._sent_files = self._facts.sent_named("file")
        files = [(row.name, row.tokens) for row in self._sent_files if row.record_id == record_id and row.name]
        return [(path, max(tokens, 1.0)) for path, tokens in files] or [(_CLAUDE_MD, 1.0)]


def _used(block: Block, use: ToolUse | None) -> tuple[str, str]:
    tool = (use.name if use else None) or "unknown tool"
    if block.kind == "tool_use":
        return "input", f"{tool} inputs"
    if use is not None and use.path and tool in READS:
        return FILE, use.path
    return "result", f"{tool} results"
