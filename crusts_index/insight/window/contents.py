"""What a window, or a whole session, is made of by category, before it is measured against the bill (D8, D12)."""

from __future__ import annotations

from itertools import pairwise

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.window.catalogue import deferred_load_tokens
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.fixed import FixedContext

EXACT, DERIVED, ESTIMATED = "exact", "derived", "estimated"

_PAIRS = 20
_LEAST_SAMPLES = 3
_MOST_FRAMING = 50


class Framing(NamedTuple):
    """Tokens a message costs beyond its content: the median of what the calls show; None if they show too little."""

    tokens_per_message: int | None
    samples: tuple[float, ...]


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


def framing_of(facts: Facts) -> Framing:
    """The framing by the growth between the window's last calls: 0 to 50 tokens a message, the median."""
    calls = [call for call in facts.calls if call.live_epoch][-_PAIRS - 1 :]
    if len(calls) <= _LEAST_SAMPLES:
        return Framing(None, ())
    tokens: dict[int, int] = {}
    messages: dict[int, set[int]] = {}
    for block in facts.blocks:
        if block.on_path and block.call_ordinal >= calls[0].ordinal:
            tokens[block.call_ordinal] = tokens.get(block.call_ordinal, 0) + block.tokens
            messages.setdefault(block.call_ordinal, set()).add(block.message)
    spans = []
    for before, after in pairwise(calls):
        growth = after.context_tokens - before.context_tokens
        span = range(before.ordinal, after.ordinal)
        count = sum(len(messages.get(ordinal, ())) for ordinal in span)
        if growth > 0 and count:
            spans.append((growth - sum(tokens.get(ordinal, 0) for ordinal in span), count))
    samples = sorted(round(more / count, 1) for more, count in spans if 0 <= more <= _MOST_FRAMING * count)
    if len(samples) < _LEAST_SAMPLES:
        return Framing(None, tuple(samples))
    return Framing(int(samples[len(samples) // 2] + 0.5), tuple(samples))


def framing_words(framing: Framing) -> str:
    """The framing in words. It is told only: the estimates have it in them (D9)."""
    if framing.tokens_per_message is None:
        return f"not derived: {len(framing.samples)} usable samples, 3 are needed"
    return (
        f"{framing.tokens_per_message} tokens a message beyond the estimates, the median of {len(framing.samples)} "
        "samples; not added"
    )
