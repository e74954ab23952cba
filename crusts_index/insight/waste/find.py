"""Waste in the window: six rules, each token counted once, excuses listed beside what they excuse (D13)."""

from __future__ import annotations

from crusts_index.insight.session.rereads import find_rereads
from crusts_index.insight.waste.item import SEVERITIES, WasteItem
from crusts_index.insight.waste.rules import Rules
from crusts_index.insight.waste.thresholds import Thresholds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.judge import Window
    from crusts_index.rows.session import SessionOtherRead

__all__ = ["SEVERITIES", "WasteItem", "find_waste"]


def find_waste(
    facts: Facts,
    window: Window,
    thresholds: Thresholds | None = None,
    elsewhere: Iterable[SessionOtherRead] = (),
) -> list[WasteItem]:
    """The waste in the window since the last compaction: the worst first, within a severity most tokens first.

    `elsewhere`: the reads of other threads, for the excuse that one of them read a file before.
    """
    rules = Rules(facts, window, thresholds or Thresholds())
    rereads = find_rereads(facts, elsewhere)
    items = [  # in this order, as each rule takes what those before it left
        *rules.stale_reads(),
        *rules.resolved_exchanges(),
        *rules.duplicate_reads([one for one in rereads if one.excuse is None]),
        *rules.oversized_system(),
        *rules.unused_results(),
        *rules.cache_overhead(),
        *rules.excused_reads([one for one in rereads if one.excuse is not None]),
    ]
    return sorted(items, key=_rank)


def _rank(item: WasteItem) -> tuple[int, bool, int, int]:
    first = item.messages[0] if item.messages else 0
    return SEVERITIES.index(item.severity), item.excuse is not None, -item.estimated_tokens, first
