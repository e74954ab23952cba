"""What a window, or a whole session, is made of by category, before it is measured against the bill (D8, D12)."""

from __future__ import annotations

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.window.catalogue import deferred_load_tokens
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.fixed import FixedContext

EXACT, DERIVED, ESTIMATED = "exact", "derived", "estimated"


class Contents(NamedTuple):
    """Tokens by category with their accuracy; `loaded_tokens` are included in them."""

    tokens: Mapping[str, int]
    accuracy: Mapping[str, str]
    messages: int
    loaded_tokens: int

    @property
    def total(self) -> int:
        """The sum over the categories."""
        return sum(self.tokens.values())


def contents_of(facts: Facts, fixed: FixedContext, *, current: bool) -> Contents:
    """What the window holds (`current`), or what the whole session brought into it, on all branches."""
    tokens = dict.fromkeys(CATEGORIES, 0)
    accuracy = dict.fromkeys(CATEGORIES, EXACT)
    messages: set[int] = set()
    for block in facts.blocks:
        if block.in_window or not current:
            tokens[block.category] += block.tokens
            if not block.is_exact:
                accuracy[block.category] = ESTIMATED
            messages.add(block.message)
    for category, amount in fixed.by_category.items():
        tokens[category] += amount
        if amount and accuracy[category] == EXACT:
            accuracy[category] = DERIVED if category == "system" else ESTIMATED
    loaded = sum(map(deferred_load_tokens, loaded_tools(facts, current=current)))
    if loaded:
        tokens["tools"] += loaded
        accuracy["tools"] = ESTIMATED
    return Contents(tokens, accuracy, len(messages), loaded)


def loaded_tools(facts: Facts, *, current: bool) -> list[str]:
    """Deferred tools whose schemas are in the window, in the order they were loaded; once each.

    A compaction keeps those loaded before it.
    """
    live = facts.live_from
    names = list(live.discovered_tools) if live is not None and current else []
    inside = {block.record_id for block in facts.blocks if block.in_window} if current else set()
    names += [load.name for load in facts.loads if not current or load.record_id in inside]
    return list(dict.fromkeys(names))
