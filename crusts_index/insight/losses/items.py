"""What was in the window before a compaction, as things to miss: files, exchanges, results and instructions."""

from __future__ import annotations

from crusts_index.insight.losses.key_terms import weight_of
from crusts_index.tools import READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Attachment, Block, Compaction, Facts, ToolUse

FILE_READ, CONVERSATION, TOOL_RESULT, INSTRUCTION = "file_read", "conversation", "tool_result", "instruction"
KINDS = (FILE_READ, CONVERSATION, TOOL_RESULT, INSTRUCTION)

FILE_ATTACHMENTS = frozenset({"file", "edited_text_file", "compact_file_reference"})

_LEAST_TOKENS = {FILE_READ: 0, CONVERSATION: 50, TOOL_RESULT: 50, INSTRUCTION: 20}
_LEAST_CHARS = 10
_SHOWN = 80


class Item(NamedTuple):
    """One thing in the window. `tokens` are those of its blocks (D9); `text` is what is stored of it.

    `answer` is how the result of a tool begins, `attachment` that of an instruction which is one, and `weight` says
    that it holds a decision or a number.
    """

    kind: str
    description: str
    tokens: int
    blocks: tuple[Block, ...]
    text: str
    answer: str
    uses: tuple[ToolUse, ...]
    path: str | None
    attachment: Attachment | None
    weight: str | None

    @property
    def first_message(self) -> int:
        """The number of its first message."""
        return self.blocks[0].message

    @property
    def last_message(self) -> int:
        """The number of its last message."""
        return self.blocks[-1].message


class Order:
    """Log order over the parts of a session, whose record ids compare only within one."""

    def __init__(self, facts: Facts) -> None:
        self._place = {transcript: place for place, transcript in enumerate(facts.parts)}

    def key(self, record_id: int) -> tuple[int, int]:
        """Sorts records."""
        return self._place.get(record_id >> 40, len(self._place)), record_id


def window_before(facts: Facts, compaction: Compaction, order: Order) -> list[Block]:
    """The blocks that were in the window when a compaction of the live path came (D10)."""
    end = order.key(compaction.id)
    before = [block for block in facts.blocks if block.on_path and order.key(block.record_id) < end]
    earlier = [one for one in facts.all_compactions if one.on_path and order.key(one.id) < end]
    previous = max(earlier, key=lambda one: order.key(one.id)) if earlier else None
    if not before:
        return []
    epoch = before[-1].epoch
    if previous is not None and order.key(before[-1].record_id) < order.key(previous.id):
        epoch = previous.epoch  # two boundaries in a row
    kept = previous.preserved_records if previous is not None and previous.epoch == epoch else frozenset()
    removals = [one for one in facts.removals if one.on_path and order.key(one.record_id) < end]
    out = {one.target_record_id for one in removals}
    emptied = {one.tool_use_row for one in removals if one.tool_use_row is not None}
    return [
        block
        for block in before
        if (block.epoch == epoch or block.record_id in kept)
        and block.record_id not in out
        and not (block.kind == "tool_result" and block.tool_use_row in emptied)
    ]


class _Gathered:
    """Blocks that belong together, while they are gathered."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.blocks: list[Block] = []
        self.uses: dict[int, ToolUse] = {}
        self.path: str | None = None


def items_of(facts: Facts, window: list[Block]) -> tuple[list[Item], int]:
    """The items of a window, and the tokens that are in none of them: thinking, wrappers, what is very small."""
    uses = {use.id: use for use in facts.tool_uses}
    attached = {one.record_id: one for one in facts.attachments}
    gathered: dict[tuple[str, object], _Gathered] = {}
    exchange: object = None
    left = 0
    for block in window:
        use = uses.get(block.tool_use_row) if block.tool_use_row is not None else None
        if block.is_prompt:
            exchange = block.record_id
        key, path = _where(block, use, attached.get(block.record_id), exchange)
        if key is None:
            left += block.tokens
            continue
        group = gathered.setdefault(key, _Gathered(key[0]))
        group.blocks.append(block)
        group.path = path
        if use is not None:
            group.uses[use.id] = use
    items = []
    for group in gathered.values():
        item = _make(facts, group, attached)
        if _is_worth(item):
            items.append(item)
        else:
            left += item.tokens
    return items, left


def _where(
    block: Block, use: ToolUse | None, attachment: Attachment | None, exchange: object
) -> tuple[tuple[str, object] | None, str | None]:
    """Which item a block belongs to, and the file it is of; none for thinking and wrappers."""
    if block.kind in ("tool_use", "tool_result"):
        if use is None:
            return None, None
        if use.name in READS and use.path:
            return (FILE_READ, use.path), use.path
        return (TOOL_RESULT, use.id), use.path
    if block.is_prompt:
        return (CONVERSATION, exchange), None
    if attachment is not None and attachment.type in FILE_ATTACHMENTS and attachment.name:
        return (FILE_READ, attachment.name), attachment.name
    if block.category in ("conversation", "user"):
        said = block.record_type == "assistant" and block.kind == "text"
        return ((CONVERSATION, exchange) if said else None), None
    if block.is_meta and block.category != "state":
        return None, None
    return (INSTRUCTION, block.record_id), None


def _make(facts: Facts, group: _Gathered, attached: dict[int, Attachment]) -> Item:
    blocks = tuple(group.blocks)
    texts = [facts.text(block.id) or "" for block in blocks]
    attachment = attached.get(blocks[0].record_id)
    uses = tuple(group.uses.values())
    answer = ""
    if group.kind == FILE_READ:
        path = group.path or ""
        text, description = path, file_label(path)
    elif group.kind == TOOL_RESULT:
        use = uses[0]
        answer = next((text for block, text in zip(blocks, texts, strict=True) if block.kind == "tool_result"), "")
        text = "\n".join(part for part in (use.command, use.path, answer) if part)
        said = shorten(use.command) if use.command else use.path or shorten(answer)
        description = f"{use.name or 'unknown tool'}: {said}" if said else use.name or "unknown tool"
    else:
        text = "\n".join(texts).strip()
        description = shorten(text)
        if group.kind == INSTRUCTION:
            description = _instruction_label(blocks[0], attachment, text)
    return Item(
        group.kind,
        description or f"message {blocks[0].message}",
        sum(block.tokens for block in blocks),
        blocks,
        text,
        answer,
        uses,
        group.path,
        attachment,
        weight_of(text) if group.kind in (CONVERSATION, TOOL_RESULT) else None,
    )


def _is_worth(item: Item) -> bool:
    if item.kind == CONVERSATION and item.weight == "decision" and item.blocks[0].is_prompt:
        return True
    if item.tokens < _LEAST_TOKENS[item.kind]:
        return False
    has_text = item.kind in (CONVERSATION, INSTRUCTION) and bool(item.text)
    return not has_text or len(item.text) >= _LEAST_CHARS


def file_label(path: str) -> str:
    """The path; for a result that was moved to a file of its own, what that is."""
    stem = path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    if stem.startswith("toolu_") and stem[6:].isalnum():
        return "Agent sub-task result"
    return path


def _instruction_label(block: Block, attachment: Attachment | None, text: str) -> str:
    if block.is_summary:
        return "the summary of the compaction before"
    if attachment is not None:
        name = attachment.name or attachment.event
        return f"{attachment.type}: {name}" if name else attachment.type
    return shorten(f"{block.origin}: {text}" if block.origin else text)


def shorten(text: str) -> str:
    """Up to 80 characters of a text, in one line."""
    line = " ".join(text[: 4 * _SHOWN].split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"
