"""The messages of a session one by one, with what the window had grown to (D7)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from crusts_index.insight.session.facts import Block, Call, Facts, ToolUse

_PREVIEW = 200
_HEAD = _TAIL = 10
_MIDDLE = 40


class Message(NamedTuple):
    """One message. `category` is that of most of its tokens, `tokens` are D9.

    `cumulative_tokens` sums the contents of the live path since the compaction before; `window_tokens` is the
    window right after a call, None for other messages: exact, as billed, but where the call logged a placeholder as
    its output. `compaction` is the place, among the session's compactions, of the one that it is the first behind.
    """

    number: int
    time_ms: int | None
    type: str
    category: str
    tokens: int
    is_exact: bool
    cumulative_tokens: int
    window_tokens: int | None
    is_window_exact: bool
    tool: str | None
    preview: str
    on_path: bool
    in_window: bool
    compaction: int | None


def messages_of(facts: Facts) -> list[Message]:
    """All messages up to the cut, in the order of their numbers."""
    grouped: dict[int, list[Block]] = {}
    for block in facts.blocks:
        grouped.setdefault(block.message, []).append(block)
    windows = {call.message: call.context_tokens + output for call, output in _outputs(facts)}
    placeholders = {call.message for call in facts.calls if call.is_placeholder}
    uses = {use.id: use for use in facts.tool_uses}
    starts = {one.message: place for place, one in enumerate(facts.all_compactions) if one.message}
    found, running, epoch = [], 0, None
    for number in sorted(grouped):
        blocks = grouped[number]
        first, largest = blocks[0], max(blocks, key=lambda block: block.tokens)
        tokens = sum(block.tokens for block in blocks)
        if first.on_path:
            running = running + tokens if first.epoch == epoch else tokens
            epoch = first.epoch
        found.append(
            Message(
                number=number,
                time_ms=first.time_ms,
                type=first.record_type,
                category=largest.category,
                tokens=tokens,
                is_exact=all(block.is_exact for block in blocks),
                cumulative_tokens=running,
                window_tokens=windows.get(number),
                is_window_exact=number not in placeholders,
                tool=next((block.tool for block in blocks if block.tool), None),
                preview=_preview(facts, blocks, uses),
                on_path=first.on_path,
                in_window=any(block.in_window for block in blocks),
                compaction=starts.get(number),
            )
        )
    return found


def _outputs(facts: Facts) -> Iterator[tuple[Call, int]]:
    """Each call's output as billed, of a placeholder at least what its answer is estimated at."""
    answers: dict[int | None, int] = {call.id: 0 for call in facts.calls if call.is_placeholder}
    for block in facts.blocks if answers else ():
        if block.call_id in answers:
            answers[block.call_id] += block.tokens
    for call in facts.calls:
        yield call, max(call.output_tokens, answers.get(call.id, 0))


def fair_sample(messages: list[Message]) -> list[Message]:
    """At most 60 of the messages: the first and last ten, and forty evenly spread between; also each first
    message behind a compaction."""
    inner = messages[_HEAD : len(messages) - _TAIL]
    if len(inner) <= _MIDDLE:
        return messages
    chosen = {inner[place * len(inner) // _MIDDLE].number for place in range(_MIDDLE)}
    chosen |= {message.number for message in inner if message.compaction is not None}
    return [
        *messages[:_HEAD],
        *(message for message in inner if message.number in chosen),
        *messages[-_TAIL:],
    ]


def _preview(facts: Facts, blocks: list[Block], uses: dict[int, ToolUse]) -> str:
    """What the message begins with: its first text, else what its tool is asked, else what kind it is."""
    for block in blocks:
        text = facts.text(block.id)
        if text and block.kind != "tool_use" and text.strip():
            return text[:_PREVIEW]
        use = uses.get(block.tool_use_row) if block.tool_use_row is not None else None
        if use is not None and block.kind == "tool_use":
            return (use.path or use.command or text or "")[:_PREVIEW]
    first = blocks[0]
    return f"[{first.subtype or first.kind}]"
