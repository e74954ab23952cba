"""Leaves a trailing call of crusts itself out of what it analyses, with the turn that asked for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Block, Facts


def trimmed_end(facts: Facts) -> int | None:
    """The number of the last message before a trailing call of crusts; None if there is no such call.

    Going back from the end: calls of crusts and their results, then what the model said before them, then the
    prompt. Nothing is left out if no call of the model would remain.
    """
    own = {use.id for use in facts.tool_uses if use.is_own}
    if not own:
        return None
    messages: dict[int, list[Block]] = {}
    for block in facts.blocks:
        messages.setdefault(block.message, []).append(block)
    end = facts.session.messages
    while end and _is_own(messages.get(end, []), own):
        end -= 1
    if end == facts.session.messages:
        return None
    while end and _is_said(messages.get(end, [])):
        end -= 1
    asked = end
    while asked and _is_said_around(messages.get(asked, [])):
        asked -= 1
    if asked and all(block.is_prompt for block in messages.get(asked, [])) and messages.get(asked):
        end = asked - 1
    return end if any(call.message <= end for call in facts.calls) else None


def _is_own(blocks: list[Block], own: set[int]) -> bool:
    """Whether a message has uses or results of crusts, and of nothing else."""
    used = [block for block in blocks if block.kind in ("tool_use", "tool_result")]
    return bool(used) and all(block.tool_use_row in own and block.on_path for block in used)


def _is_said(blocks: list[Block]) -> bool:
    """Whether a message is text or thinking of the model alone."""
    return bool(blocks) and all(
        block.record_type == "assistant" and block.kind in ("text", "thinking") for block in blocks
    )


def _is_said_around(blocks: list[Block]) -> bool:
    """Whether a message is what hooks and reminders put beside a prompt."""
    return bool(blocks) and all(
        (block.kind == "attachment" and not block.is_prompt) or block.is_meta for block in blocks
    )
