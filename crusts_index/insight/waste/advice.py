"""What to do about a window: recommendations in order of urgency, from the same prediction as everywhere (D10)."""

from __future__ import annotations

from crusts_index.insight.session.mentions import short_names
from crusts_index.insight.waste.consumers import CONSUMERS, consumers_of
from crusts_index.insight.waste.focus import PLAIN, compact_focus
from crusts_index.insight.waste.thresholds import Thresholds
from crusts_index.insight.window.buckets import lifetime_of
from crusts_index.insight.window.toolset import toolset_of
from crusts_index.insight.window.words import left_words, limit_words
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.find import WasteItem
    from crusts_index.insight.window.judge import Window

COMPACT_FROM = 50.0
"""Per cent of the limit from which on compacting is worth a thought."""
SOON, LATER = 20, 100
"""Calls until the trigger below which it is soon, or not far off."""
PLAIN_SHARE = 0.25
"""What a `/compact` without a focus is expected to free at least, of the window."""
MANY = 5
"""Duplicate files that are told one by one, and the count that makes a habit."""
_MANY_COMPACTIONS = 3


class Recommendation(NamedTuple):
    """Something to do. Priority 1 is the most urgent of 5; `impact` is tokens saved, estimated, 0 = none claimed."""

    priority: int
    action: str
    impact: int
    reason: str


class Advice(NamedTuple):
    """All recommendations, the calls left until the trigger (None: cannot be told), and the window's health."""

    recommendations: tuple[Recommendation, ...]
    calls_until_compaction: int | None
    context_health: str


def advise(facts: Facts, window: Window, waste: Sequence[WasteItem], thresholds: Thresholds | None = None) -> Advice:
    """What to do now, the most urgent first. `waste` as `find_waste` gave it."""
    duplicates = [item for item in waste if item.type == "duplicate_read" and item.is_counted]
    found = [
        *_compact(window, waste),
        *_prediction(window),
        *_duplicates(duplicates),
        *_consumers(facts, window, waste),
        *_servers(facts),
        *_claude_md(window, thresholds or Thresholds()),
        *_habit(facts, window, duplicates),
    ]
    found.sort(key=lambda one: one.priority)
    return Advice(tuple(found), window.calls_left, window.health)


def _compact(window: Window, waste: Sequence[WasteItem]) -> list[Recommendation]:
    if window.usage_percentage < COMPACT_FROM:
        return []
    used = f"the window is at {window.usage_percentage:.0f}% of {limit_words(window)} tokens"
    focus = compact_focus(waste)
    if focus is None:
        return [Recommendation(1, PLAIN, int(window.size * PLAIN_SHARE), f"{used}; no single thing to blame was found")]
    items = "1 finding" if focus.items == 1 else f"{focus.items} findings"
    return [Recommendation(1, focus.command, focus.tokens, f"{used}; it names {items} worth {focus.tokens:,} tokens")]


def _prediction(window: Window) -> list[Recommendation]:
    left = window.calls_left
    if left is None or left > LATER or window.trigger is None:
        return []
    at = f"auto-compaction comes at {window.trigger:,} tokens"
    if left <= 0:
        reason = f"{at}, the window is at {window.size:,}: compact now with a focus, /clear, or let it happen"
        return [Recommendation(1, "past the compaction trigger", 0, reason)]
    calls = left_words(window)
    grows = f"{at}; the window of {window.size:,} grows by {window.growth:,.0f} a call"
    if left < SOON:
        return [Recommendation(2, f"{calls} until auto-compaction: act soon", 0, grows)]
    return [Recommendation(5, f"{calls} until auto-compaction", 0, grows)]


def _duplicates(duplicates: list[WasteItem]) -> list[Recommendation]:
    names = short_names(item.path or "" for item in duplicates)
    found = []
    for item in sorted(duplicates, key=lambda one: -one.estimated_tokens)[:MANY]:
        where = ", ".join(f"#{number}" for number in item.messages)
        name = names[item.path or ""]
        action = f"refer to {name} instead of reading it again"
        found.append(
            Recommendation(2, action, item.estimated_tokens, f"read again without a change at {where}: {item.path}")
        )
    return found


def _consumers(facts: Facts, window: Window, waste: Sequence[WasteItem]) -> list[Recommendation]:
    largest = consumers_of(facts, window, waste)[:CONSUMERS]
    if not largest:
        return []
    lines = [
        f"     {place}. {one.name}: {one.tokens:,} tokens" + (f" ({one.note})" if one.note else "")
        for place, one in enumerate(largest, 1)
    ]
    action = "\n".join(["what takes most of the window:", *lines])
    return [Recommendation(3, action, 0, "estimated by characters; the parts of the fixed context are derived")]


def _servers(facts: Facts) -> list[Recommendation]:
    configured = [one for one in toolset_of(facts).servers if one.source != "transcript"]
    unused = [one.name for one in configured if one.unused]
    if not unused:
        return []
    called = ", ".join(one.name for one in configured if not one.unused) or "none"
    action = f"consider switching off MCP servers not used here: {', '.join(unused)}"
    return [Recommendation(5, action, 0, f"used in this session: {called}; listings and loaded schemas cost tokens")]


def _claude_md(window: Window, thresholds: Thresholds) -> list[Recommendation]:
    tokens = window.fixed_context.claude_md_tokens
    excess = int(tokens - thresholds.claude_md_oversized)
    if excess <= 0:
        return []
    reason = f"its files take {tokens:,} tokens (estimated) of every call, {thresholds.claude_md_oversized:,.0f} do"
    return [Recommendation(4, "split CLAUDE.md: what few tasks need belongs in files read on demand", excess, reason)]


def _habit(facts: Facts, window: Window, duplicates: list[WasteItem]) -> list[Recommendation]:
    """At most one."""
    compactions = sum(one.on_path for one in facts.all_compactions)
    if compactions >= _MANY_COMPACTIONS:
        reason = f"{compactions} compactions so far; each one drops what came before it"
        return [Recommendation(5, "use /clear between tasks", 0, reason)]
    if len(duplicates) >= MANY:
        reason = f"{len(duplicates)} files were read again without a change"
        return [Recommendation(5, "point to what was read before instead of asking to read it", 0, reason)]
    life = lifetime_of(facts, window)
    if (life.tokens("tools") - window.fixed_context.schema_tokens) * 2 > life.total > 0:
        reason = "tool use and results are over half of all that came into this session's windows"
        return [Recommendation(5, "start a fresh session for each task", 0, reason)]
    return []
