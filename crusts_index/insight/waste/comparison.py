"""Two sessions side by side: their windows by category on one basis, waste, compactions, cost and cache."""

from __future__ import annotations

from crusts_index.insight.window.buckets import buckets_of
from crusts_index.insight.window.diff import difference, percent_of_change
from crusts_index.rows.session import Billed
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.item import WasteItem
    from crusts_index.insight.window.buckets import Buckets
    from crusts_index.insight.window.diff import Difference
    from crusts_index.insight.window.judge import Window
    from crusts_index.rows import Fetch

_TOOLS_PERCENT = 15
_CONVERSATION_PERCENT = 10
_TOTAL_PERCENT = 20


class Side(NamedTuple):
    """One session: its window now, the waste in it, its own compactions, and what it was billed for."""

    session_id: str
    project: str
    title: str | None
    messages: int
    window: Window
    buckets: Buckets | None
    waste_items: int
    waste_tokens: int
    compactions: int
    billed: Billed


class Comparison(NamedTuple):
    """Two sides; `change` is from a to b, on the basis that it names. `insights` says in words what stands out."""

    a: Side
    b: Side
    change: Difference
    insights: tuple[str, ...]

    @property
    def total_percent(self) -> float | None:
        """The change of the total in per cent of a's; 0 if that is nothing, None where a side is not known."""
        total = self.change.total
        return total.percent if total.before != 0 else 0.0


def side_of(fetch: Fetch, facts: Facts, window: Window, items: Sequence[WasteItem]) -> Side:
    """What is compared of a session; `items` as `find_waste` gave them."""
    session = facts.session
    waste = [item for item in items if item.estimated_tokens]
    return Side(
        session_id=session.session_id,
        project=session.project,
        title=session.title,
        messages=session.messages,
        window=window,
        buckets=buckets_of(facts, window),
        waste_items=len(waste),
        waste_tokens=sum(item.estimated_tokens for item in waste),
        compactions=len(facts.all_compactions),
        billed=fetch(Billed, session=session.session_id)[0],
    )


def compare(a: Side, b: Side) -> Comparison:
    """Compare two sides; the windows by category only if both could be scaled, else the tokens as counted."""
    change = difference(a.buckets, b.buckets)
    return Comparison(a, b, change, tuple(_insights(a, b, change)))


def _insights(a: Side, b: Side, change: Difference) -> list[str]:
    found = []
    for category, least in (("tools", _TOOLS_PERCENT), ("conversation", _CONVERSATION_PERCENT)):
        one = next(each for each in change.categories if each.category == category)
        if one.before is None or one.after is None:
            continue
        percent = percent_of_change(one.before, one.after)
        if abs(percent) > least:
            more, much = ("B", percent) if percent > 0 else ("A", percent_of_change(one.after, one.before))
            sizes = f"(A {one.before:,}, B {one.after:,})"
            if not one.before or not one.after:
                found.append(f"Only {more} has tokens of {category} {sizes}")
            else:
                found.append(f"{more} has {much:,.0f}% more tokens of {category} {sizes}")
    first, second = a.waste_items, b.waste_items
    if first != second and (not first or not second or max(first, second) >= 2 * min(first, second)):
        more = "B" if second > first else "A"
        found.append(
            f"{more} wastes more: {first} in A ({a.waste_tokens:,} tokens), {second} in B ({b.waste_tokens:,} tokens)"
        )
    if a.compactions != b.compactions:
        more = "B" if b.compactions > a.compactions else "A"
        only = "Only " if not a.compactions or not b.compactions else ""
        found.append(
            f"{only}{more} was compacted{'' if only else ' more often'} (A {a.compactions}, B {b.compactions})"
        )
    total = change.total
    if total.before and total.delta is not None and abs(total.delta) > total.before * _TOTAL_PERCENT / 100:
        more = "larger" if total.delta > 0 else "smaller"
        found.append(f"B is {more} by {abs(total.delta):,} tokens ({total.delta / total.before * 100:+,.0f}%)")
    return found
