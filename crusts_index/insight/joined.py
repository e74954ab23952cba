"""Tool uses joined to their results, as far as a cut holds them."""

from __future__ import annotations

from crusts_index.insight.facts import ToolUse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.facts import Block


def join_tool_uses(uses: dict[int, tuple[Any, ...]], blocks: list[Block]) -> list[ToolUse]:
    """The tool uses of which the use or the result is within the cut."""
    asked: dict[int, Block] = {}
    answered: dict[int, Block] = {}
    for block in blocks:
        if block.tool_use_row is not None:
            if block.kind == "tool_use":
                asked.setdefault(block.tool_use_row, block)
            elif block.kind == "tool_result":
                answered.setdefault(block.tool_use_row, block)
    made = []
    for row_id, row in uses.items():
        use, result = asked.get(row_id), answered.get(row_id)
        last = result or use
        if last is None:
            continue
        where = use or last
        made.append(
            ToolUse._make(
                (
                    *(row_id, row[1], *row[2:11]),
                    *((row[11], use.message, row[12]) if use else (None, None, None)),
                    *((row[13], result.message, *row[14:18]) if result else (None, None, None, None, 0, 0)),
                    *(use.tokens if use else 0, result.tokens if result else 0),
                    *((row[18] == 1, row[19] == 1, row[20] == 1) if result else (False, False, False)),
                    *(row[21] == 1, row[22], row[23], where.branch, last.epoch, last.in_window, last.on_path),
                )
            )
        )
    return made
