"""What the rules of waste look at: one window, what speaks of it, and what of it is counted already (D13)."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from crusts_index.insight.session.carried import Carriage
from crusts_index.insight.waste.item import WasteItem
from crusts_index.insight.waste.mentions import Mentions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.insight.session.facts import Block, Facts
    from crusts_index.insight.session.rereads import Reread
    from crusts_index.insight.waste.thresholds import Thresholds
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listings import Recorded


class Ground:
    """A session's window, ready for the rules, each of which takes what those before it left."""

    def __init__(
        self,
        facts: Facts,
        window: Window,
        thresholds: Thresholds,
        rereads: Sequence[Reread],
        recorded: Recorded | None = None,
    ) -> None:
        self.facts, self.window, self.thresholds, self.rereads = facts, window, thresholds, rereads
        self.carriage = Carriage(facts)
        self.uses = {use.id: use for use in facts.tool_uses}
        self.messages: dict[int, list[Block]] = {}
        self.results: dict[int, list[Block]] = {}
        for block in facts.blocks:
            if block.in_window:
                self.messages.setdefault(block.message, []).append(block)
                if block.kind == "tool_result" and block.tool_use_row is not None:
                    self.results.setdefault(block.tool_use_row, []).append(block)
        self.numbers = sorted(self.messages)
        self._recorded = recorded
        self._counted: set[int] = set()

    @cached_property
    def mentions(self) -> Mentions:
        """What the window speaks of; its transcripts are read for it."""
        ids = dict.fromkeys(block.record_id for blocks in self.messages.values() for block in blocks)
        return Mentions(self.facts, self._recorded(ids) if self._recorded else {})

    def left(self, blocks: Iterable[Block]) -> list[Block]:
        """Those of the blocks that no finding counts yet."""
        return [block for block in blocks if block.id not in self._counted]

    def after(self, number: int, most: int | None = None) -> list[int]:
        """The numbers of the messages behind a message, the next `most` of them."""
        place = bisect_right(self.numbers, number)
        return self.numbers[place : None if most is None else place + most]

    def item(
        self,
        type: str,
        severity: str,
        description: str,
        recommendation: str,
        blocks: Sequence[Block],
        *,
        path: str | None = None,
        tool: str | None = None,
        counts: bool = True,
        excuse: str | None = None,
    ) -> WasteItem:
        """A finding of these blocks; those of one that `counts` are taken from the rules to come."""
        if counts:
            self._counted.update(block.id for block in blocks)
        numbers = sorted({block.message for block in blocks})
        carried, usd = self.carriage.of(blocks)
        tokens = sum(block.tokens for block in blocks)
        return WasteItem(
            type=type,
            severity=severity,
            description=description,
            estimated_tokens=tokens if counts else 0,
            recommendation=recommendation,
            message_range=(numbers[0], numbers[-1]) if numbers else None,
            messages=tuple(numbers),
            path=path,
            tool=tool,
            carried_tokens=carried,
            carried_usd=usd,
            excuse=excuse,
            excused_tokens=0 if counts else tokens,
            basis="exact" if blocks and all(block.is_exact for block in blocks) else "estimated",
        )
