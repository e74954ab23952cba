"""What was in the window before a compaction, as things to miss: files, exchanges, results and instructions."""

from __future__ import annotations

import re

from crusts_index.insight.losses.summary import names_in
from crusts_index.insight.window.contents import attachment_row
from crusts_index.tools import READS, RUNS_COMMANDS, STARTS_AGENTS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Attachment, Block, Compaction, Facts, ToolUse

FILE_READ, CONVERSATION, TOOL_RESULT, INSTRUCTION = "file_read", "conversation", "tool_result", "instruction"

FILE_ATTACHMENTS = frozenset({"file", "edited_text_file", "compact_file_reference"})

_LEAST_TOKENS = {FILE_READ: 0, CONVERSATION: 50, TOOL_RESULT: 50, INSTRUCTION: 20}
_LEAST_CHARS = 10
_LONGEST = 4_000  # characters of a text that are searched for a decision or a number
_PREFACE = 250  # characters with which every summary begins alike
_SHOWN = 80
_PREVIEW = 80  # characters that are kept of a tool's input and result (D16)

DECISION = re.compile(
    r"\b(?:decid|decision|agreed?\b|instead of|rather than|must\b|never\b|always\b|don't|do not|won't|"
    r"prefer|we(?:'ll| will)? use\b|let's use\b|chose\b|chosen\b|turned out|root cause|because\b)",
    re.IGNORECASE,
)
MEASUREMENT = re.compile(
    r"(?<![\d,.])[,.]*+\d[\d,.]*+\s?(?:%|ms\b|µs\b|s\b|sec\b|seconds\b|min\b|minutes\b|x\b|[KMGT]i?B\b|kB\b|bytes\b|tokens\b|req/s\b"
    r"|rows\b|USD\b|fps\b|errors?\b|failed\b|passed\b)"
)

_DESCRIPTION = re.compile(r'"(?:description|title|subject)":\s?"([^"\\]{3,})')
_BROKEN = re.compile(r"(?<=[^\w-])[\w-]++$")
_PROMPT = re.compile(r'"prompt":\s?"([^"\\]{3,})')
_HOW = re.compile(r'"(?:subagent_type|model)":\s?"[^"]*"?')
"""Of the beginning of an input what says nothing of what was asked for."""


class Item(NamedTuple):
    """One thing in the window. `tokens` are those of its blocks (D9); `text` is what is stored of it.

    `names` are what it is called, `sayings` the words that a summary may quote; `attachment` is that of an instruction
    which is one, and `weight` says that it holds a decision or a number.
    """

    kind: str
    description: str
    tokens: int
    blocks: list[Block]
    text: str
    names: list[str]
    sayings: list[str]
    uses: list[ToolUse]
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


def items_of(facts: Facts, window: list[Block]) -> tuple[list[Item], int]:
    """The items of a window, and the tokens that are in none of them: thinking, wrappers, what is very small."""
    uses = {use.id: use for use in facts.tool_uses}
    attached = {one.record_id: one for one in facts.attachments}
    gathered: dict[tuple[str, object], list[Block]] = {}
    skills: dict[int, str | None] = {}
    exchange: int | None = None
    skill: str | None = None
    left = 0
    for block in window:
        use = uses.get(block.tool_use_row) if block.tool_use_row is not None else None
        exchange = block.record_id if block.is_prompt else exchange
        skill = use.command if use is not None and use.name == "Skill" else skill
        if block.origin == "skill":
            skills[block.record_id] = skill
        key = _where(block, use, attached.get(block.record_id), exchange)
        if key is None:
            left += block.tokens
        else:
            gathered.setdefault(key, []).append(block)
    items = []
    for (kind, of), blocks in gathered.items():
        of_tools = dict.fromkeys(block.tool_use_row for block in blocks if block.tool_use_row is not None)
        first = blocks[0].record_id
        item = _make(facts, kind, of, blocks, [uses[row] for row in of_tools], attached.get(first), skills.get(first))
        if _is_worth(item):
            items.append(item)
        else:
            left += item.tokens
    return items, left


def _where(
    block: Block, use: ToolUse | None, attachment: Attachment | None, exchange: int | None
) -> tuple[str, object] | None:
    """Which item a block belongs to: its kind, and the file or what else it is of; none for thinking and wrappers."""
    if block.kind in ("tool_use", "tool_result"):
        if use is None:
            return None
        return (FILE_READ, use.path) if use.name in READS and use.path else (TOOL_RESULT, use.id)
    if block.is_prompt:
        return CONVERSATION, exchange
    if attachment is not None and attachment.type in FILE_ATTACHMENTS and attachment.name:
        return FILE_READ, attachment.name
    if block.category in ("conversation", "user"):
        is_said = block.record_type == "assistant" and block.kind == "text"
        return (CONVERSATION, exchange) if is_said else None
    return None if block.is_meta and block.category != "state" else (INSTRUCTION, block.record_id)


def _make(
    facts: Facts,
    kind: str,
    of: object,
    blocks: list[Block],
    uses: list[ToolUse],
    attachment: Attachment | None,
    skill: str | None,
) -> Item:
    texts = [facts.text(block.id) or "" for block in blocks]
    text, path, names = "\n".join(texts).strip(), None, []
    description = shorten(text)
    sayings = [words for block, words in zip(blocks, texts, strict=True) if block.is_prompt]
    if kind == FILE_READ:
        text = path = str(of)
        description = file_label(text)
    elif kind == TOOL_RESULT:
        use = uses[0]
        asked, answer = _words_of(blocks, texts, "tool_use"), _words_of(blocks, texts, "tool_result")
        if use.name in STARTS_AGENTS:
            answer = ""  # it begins with talk
            label = _DESCRIPTION.search(asked) or _PROMPT.search(asked)
        else:
            label = _DESCRIPTION.search(asked)
        call, path = use.command or _HOW.sub("", asked), use.path
        said = label[1] if label else shorten(use.command or "") or path or shorten(answer or asked)
        text = "\n".join(part for part in (call, path, answer) if part)
        description = f"{use.name or 'unknown tool'}: {said}" if said else use.name or "unknown tool"
        names = names_in(call, answer, is_command=use.name in RUNS_COMMANDS)
        sayings = [call, answer, label[1] if label else ""]
    elif kind == INSTRUCTION:
        path = attachment.name if attachment is not None and "/" in (attachment.name or "") else None
        description = _instruction_label(blocks[0], attachment, text)
        names = [skill, skill.rpartition(":")[2]] if skill else []
        sayings = [] if blocks[0].is_summary else [text]
        text = text[_PREFACE:] if blocks[0].is_summary else text
    return Item(
        kind,
        description or f"message {blocks[0].message}",
        sum(block.tokens for block in blocks),
        blocks,
        text,
        names,
        sayings,
        uses,
        path,
        attachment,
        weight_of(text) if kind in (CONVERSATION, TOOL_RESULT) else None,
    )


def _words_of(blocks: list[Block], texts: list[str], kind: str) -> str:
    """The beginning of a tool's input or result, without the word that it breaks off in."""
    text = next((text for block, text in zip(blocks, texts, strict=True) if block.kind == kind), "")
    return _BROKEN.sub("", text) if len(text) == _PREVIEW else text


def _is_worth(item: Item) -> bool:
    if item.kind == CONVERSATION and item.weight == "decision" and item.blocks[0].is_prompt:
        return True
    if item.tokens < _LEAST_TOKENS[item.kind]:
        return False
    has_text = item.kind in (CONVERSATION, INSTRUCTION) and bool(item.text)
    return not has_text or len(item.text) >= _LEAST_CHARS


def weight_of(text: str) -> str | None:
    """`decision` or `measurement` for a text that holds one, which is worth more than chatter; else None."""
    text = text[:_LONGEST]
    if DECISION.search(text):
        return "decision"
    return "measurement" if MEASUREMENT.search(text) else None


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
        what = attachment_row(attachment.type)[1]
        return f"{what}: {name}" if name else what
    return shorten(f"{block.origin}: {text}" if block.origin else text)


def shorten(text: str) -> str:
    """Up to 80 characters of a text, in one line."""
    line = " ".join(text[: 4 * _SHOWN].split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"
