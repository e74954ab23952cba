"""Tool uses joined to their results, as far as a cut holds them."""

from __future__ import annotations

from crusts_index.insight.session.facts import ToolUse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Block
    from crusts_index.rows.session import SessionToolUse


def join_tool_uses(uses: dict[int, SessionToolUse], blocks: list[Block]) -> list[ToolUse]:
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
            ToolUse(  # by place, since by name takes five times as long
                row_id,
                row.tool_use_id,
                row.name,
                row.server,
                row.path,
                row.read_offset,
                row.read_limit,
                row.command,
                row.agent_type,
                row.agent_id,
                row.input_hash,
                row.use_record_id if use else None,
                use.message if use else None,
                row.use_ms if use else None,
                row.result_record_id if result else None,
                result.message if result else None,
                row.result_ms if result else None,
                row.result_hash if result else None,
                row.result_chars if result else 0,
                row.result_tokens if result else 0,
                use.tokens if use else 0,
                result.tokens if result else 0,
                result is not None and row.is_error == 1,
                result is not None and row.is_stub == 1,
                result is not None and row.is_cut == 1,
                row.is_own == 1,
                row.prior_read_id,
                row.prior_edit_id,
                where.branch,
                last.epoch,
                last.in_window,
                last.on_path,
            )
        )
    return made
