"""The files that a window holds: how often read and edited, and how much is waste; tokens are estimated (D9)."""

from __future__ import annotations

from crusts_index.tools import EDITS, READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Block, Facts
    from crusts_index.insight.waste.find import WasteItem


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
