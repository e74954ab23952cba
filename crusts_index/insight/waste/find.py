"""Waste in the window: five rules, each token counted once, excuses listed beside what they excuse (D13)."""

from __future__ import annotations

from crusts_index.insight.session.rereads import find_rereads
from crusts_index.insight.waste.ground import Ground
from crusts_index.insight.waste.item import SEVERITIES, WasteItem
from crusts_index.insight.waste.rules import RULES
from crusts_index.insight.waste.thresholds import Thresholds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listings import Recorded
    from crusts_index.rows.session import SessionOtherRead

__all__ = ["SEVERITIES", "WasteItem", "find_waste"]


def find_waste(
    facts: Facts,
    window: Window,
    thresholds: Thresholds | None = None,
    elsewhere: Iterable[SessionOtherRead] = (),
    recorded: Recorded | None = None,
) -> list[WasteItem]:
    """The waste in the window since the last compaction: the worst first, within a severity most tokens first.

    `elsewhere`: the reads of other threads, for the excuse that one of them read a file before. `recorded` gives the
    records of the transcripts: without them it cannot be told that nothing speaks of what was read.
    """
    ground = Ground(facts, window, thresholds or Thresholds(), find_rereads(facts, elsewhere), recorded)
    return sorted((item for rule in RULES for item in rule.find(ground)), key=_rank)


def _rank(item: WasteItem) -> tuple[int, bool, int, int, int]:
    first = item.messages[0] if item.messages else 0
    is_excused = item.excuse is not None
    return SEVERITIES.index(item.severity), is_excused, -item.estimated_tokens, -item.excused_tokens, first
