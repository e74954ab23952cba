"""What each compaction of a session took out of the window, what became of it, and what that cost."""

from __future__ import annotations

from crusts_index.insight.losses.items import Item, Order, items_of, window_before
from crusts_index.insight.losses.survival import (
    GONE,
    KEPT,
    NAMED,
    REACQUIRED,
    REINJECTED,
    After,
    Again,
    Evidence,
    decisive,
)
from crusts_index.rows.session import CallPrice
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crusts_index.insight.session.facts import Call, Compaction, Facts
    from crusts_index.rows import Fetch

    Reload = Callable[[int], Facts]


class Fate(NamedTuple):
    """What became of one item. `evidence` has the decisive finding first; `again` is what was fetched again for it."""

    item: Item
    verdict: str
    evidence: tuple[Evidence, ...]
    again: tuple[Again, ...]

    @property
    def is_lost(self) -> bool:
        """Whether neither the boundary kept it nor anything brought it back by itself nor the summary names it."""
        return not any(one.verdict in (KEPT, REINJECTED, NAMED) for one in self.evidence)


class Event(NamedTuple):
    """One compaction. `tokens_before` and `tokens_after` are as logged (after: messages only), else by the calls
    around it; `window_after` is the context of the first call after it, exact. `fates` have what matters most
    first; `other_tokens` of the window are in none of them. `calls_until_full`: API calls until the window was as
    large as before or compacted by itself again, None if it never was.
    """

    compaction: Compaction
    number: int
    tokens_before: int | None
    before_basis: str | None
    tokens_after: int | None
    after_basis: str | None
    window_after: int | None
    summary_excerpt: str | None
    has_fields: bool
    fates: tuple[Fate, ...]
    other_tokens: int
    again: tuple[Again, ...]
    calls_until_full: int | None
    is_known: bool

    @property
    def tokens_dropped(self) -> int | None:
        """Before less after, at least 0."""
        if self.tokens_before is None or self.tokens_after is None:
            return None
        return max(0, self.tokens_before - self.tokens_after)

    @property
    def lost(self) -> list[Fate]:
        """The items that are lost."""
        return [fate for fate in self.fates if fate.is_lost]

    @property
    def lost_tokens(self) -> int:
        """Their tokens, estimated."""
        return sum(fate.item.tokens for fate in self.lost)

    @property
    def again_tokens(self) -> int:
        """Tokens that were fetched again, each once; estimated."""
        return sum(one.tokens for one in self.again)

    @property
    def again_usd(self) -> float | None:
        """What that cost at list price; None if some of it is unpriced."""
        costs = [one.cost_usd for one in self.again]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def tokens_of(self, verdict: str) -> int:
        """Tokens of the items with a verdict, estimated."""
        return sum(fate.item.tokens for fate in self.fates if fate.verdict == verdict)


def losses_of(facts: Facts, prices: Mapping[int, CallPrice], reload: Reload) -> list[Event]:
    """The compactions of a session in log order, the inferred ones where it has no marker.

    `reload(n)` gives the facts up to message n: a compaction on a branch that was rewound since is judged as the
    session stood when that branch ended.
    """
    events = []
    for number, compaction in enumerate(facts.all_compactions, 1):
        seen, here = facts, compaction
        if not compaction.on_path:
            end = max((block.message for block in facts.blocks if block.epoch == compaction.epoch), default=None)
            if end is not None:
                seen = reload(end)
                here = next((one for one in seen.compactions if one.id == compaction.id), compaction)
        events.append(_event(seen, here, number, prices)._replace(compaction=compaction))
    return events


def prices_of(fetch: Fetch, facts: Facts) -> dict[int, CallPrice]:
    """The list prices of a session's calls."""
    return {row.response_id: row for part in facts.parts for row in fetch(CallPrice, transcript=part)}


def _event(facts: Facts, compaction: Compaction, number: int, prices: Mapping[int, CallPrice]) -> Event:
    order = Order(facts)
    start = order.key(compaction.id)
    if not compaction.on_path:
        return _unknown(compaction, number)
    following = min(
        (one for one in facts.all_compactions if one.on_path and order.key(one.id) > start),
        key=lambda one: order.key(one.id),
        default=None,
    )
    path = [call for call in facts.calls if call.on_path]
    before = next((call for call in reversed(path) if order.key(call.id) < start), None)
    until = order.key(following.id) if following is not None else None
    inside = [call for call in path if order.key(call.id) > start and (until is None or order.key(call.id) < until)]
    after = After(facts, compaction, following, order, prices)
    items, other = items_of(facts, window_before(facts, compaction, order))
    fates = [_fate(item, after) for item in items]
    fates.sort(key=lambda fate: (not fate.is_lost, fate.item.weight is None, -fate.item.tokens))
    tokens_before, before_basis = _before(compaction, before)
    tokens_after, after_basis = _after(compaction, inside)
    again = {one.id: one for fate in fates for one in fate.again}
    return Event(
        compaction=compaction,
        number=number,
        tokens_before=tokens_before,
        before_basis=before_basis,
        tokens_after=tokens_after,
        after_basis=after_basis,
        window_after=inside[0].context_tokens if inside else None,
        summary_excerpt=after.summary.excerpt,
        has_fields=after.has_fields,
        fates=tuple(fates),
        other_tokens=other,
        again=tuple(again.values()),
        calls_until_full=_calls_until_full(inside, tokens_before, following),
        is_known=True,
    )


def _unknown(compaction: Compaction, number: int) -> Event:
    """A boundary on a branch of which nothing is left to judge it by."""
    before, before_basis = _before(compaction, None)
    after, after_basis = _after(compaction, [])
    return Event(
        compaction=compaction,
        number=number,
        tokens_before=before,
        before_basis=before_basis,
        tokens_after=after,
        after_basis=after_basis,
        window_after=None,
        summary_excerpt=None,
        has_fields=bool(compaction.preserved),
        fates=(),
        other_tokens=0,
        again=(),
        calls_until_full=None,
        is_known=False,
    )


def _fate(item: Item, after: After) -> Fate:
    kept, back = after.kept(item), after.reinjected(item)
    again: list[Again] = []
    whole = kept is not None or (back is not None and not after.is_reference(item))
    found = [one for one in (kept, back) if one is not None]
    if not whole:
        again = after.again(item)
        if again:
            tokens = sum(one.tokens for one in again)
            times = "" if len(again) == 1 else f" in {len(again)} pieces"
            found.append(Evidence(REACQUIRED, f"fetched again{times}: {tokens:,} tokens", again[0].message))
    named = after.named(item)
    if named is not None:
        found.append(named)
    if not found:
        found.append(Evidence(GONE, after.why_gone, None))
    found = decisive(found)
    return Fate(item, found[0].verdict, tuple(found), tuple(again))


def _before(compaction: Compaction, call: Call | None) -> tuple[int | None, str | None]:
    if compaction.pre_tokens and compaction.detection == "marker":
        return compaction.pre_tokens, "logged"
    if call is not None:
        return call.context_tokens + call.output_tokens, "call"
    return None, None


def _after(compaction: Compaction, inside: list[Call]) -> tuple[int | None, str | None]:
    if compaction.post_tokens is not None:
        return compaction.post_tokens, "logged"
    return (inside[0].context_tokens, "call") if inside else (None, None)


def _calls_until_full(inside: list[Call], before: int | None, following: Compaction | None) -> int | None:
    if before is None:
        return None
    for count, call in enumerate(inside, 1):
        if call.context_tokens + call.output_tokens >= before:
            return count
    return len(inside) if following is not None and following.trigger == "auto" else None
