"""What each compaction of a session took out of the window, what became of it, and what that cost (D19)."""

from __future__ import annotations

from collections import Counter

from crusts_index.insight.losses.back import GONE, MENTIONED, VERDICTS, After, Again, Evidence
from crusts_index.insight.losses.items import CONVERSATION, FILE_READ, Item, Order, items_of, window_before
from crusts_index.insight.losses.summary import Rarity, Summary, key_terms
from crusts_index.insight.session.mentions import base_name
from crusts_index.insight.session.sizes import Sizes, sizes_of
from crusts_index.insight.window.fixed import fixed_context
from crusts_index.rows.session import CallPrice
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crusts_index.insight.session.facts import Compaction, Facts
    from crusts_index.rows import Fetch

    Reload = Callable[[int], Facts]

_ASKED = 300  # characters of a prompt that say what is asked
_SMALL = 0.25
"""Less than this share of an item that is missing is not what is read again."""


class Fate(NamedTuple):
    """What became of one item. `evidence` has a part for each verdict, the largest first; they sum to its tokens.
    `again` is what was fetched again for it.
    """

    item: Item
    evidence: tuple[Evidence, ...]
    again: tuple[Again, ...]

    @property
    def verdict(self) -> str:
        """What became of most of it."""
        return self.evidence[0].verdict

    @property
    def lost_tokens(self) -> int:
        """Tokens of it that are no longer there, whether the summary mentions it or not."""
        return sum(part.tokens for part in self.evidence if part.verdict in (MENTIONED, GONE))


class Classes(NamedTuple):
    """What became of what was dropped, in tokens; the parts sum to it.

    `rest` is what no item covers: thinking, small answers and inputs, and what the transcript does not show. `scale`
    below 1: the window shrank by less than its items are estimated at, since the summary and what was put back stand
    in it again, and each part is that share of its items.
    """

    kept: int
    reinjected: int
    read_again: int
    mentioned: int
    gone: int
    rest: int
    scale: float

    @property
    def back(self) -> int:
        """Kept, put back or read again."""
        return self.kept + self.reinjected + self.read_again

    @property
    def lost(self) -> int:
        """Content that is no longer there: mentioned or gone."""
        return self.mentioned + self.gone

    @property
    def by_verdict(self) -> dict[str, int]:
        """The five of items by their names."""
        return dict(zip(VERDICTS, self[:5], strict=True))


class Event(NamedTuple):
    """One compaction. `fates` are in descending tokens, estimated; where it is not known how much was dropped,
    `classes` are as estimated. `thinking_tokens` are of the rest, and as estimated.

    `calls_until_full`: API calls until the window was as large as before or compacted by itself again, None if it
    never was. `is_known` False: it lies on a branch of which nothing is left to judge it by.
    """

    compaction: Compaction
    number: int
    sizes: Sizes
    summary: Summary
    fates: tuple[Fate, ...]
    classes: Classes
    thinking_tokens: int
    again: tuple[Again, ...]
    calls_until_full: int | None
    is_known: bool

    @property
    def again_tokens(self) -> int:
        """Tokens that were fetched again, each once; estimated."""
        return sum(one.tokens for one in self.again)

    @property
    def again_usd(self) -> float | None:
        """What that cost at list price; None if some of it is unpriced."""
        costs = [one.cost_usd for one in self.again]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def priced_usd(self) -> float | None:
        """The same of what has a price; None if nothing has."""
        costs = [one.cost_usd for one in self.again if one.cost_usd is not None]
        return sum(costs) if costs or not self.again else None


def losses_of(facts: Facts, prices: Mapping[int, CallPrice], reload: Reload) -> list[Event]:
    """The compactions of a session in log order, the inferred ones where it has no marker.

    `reload(n)` gives the facts up to message n: a compaction on a branch that was rewound since is judged as the
    session stood when that branch ended.
    """
    events = []
    fixed = fixed_context(facts).tokens
    for number, compaction in enumerate(facts.all_compactions, 1):
        seen, here = facts, compaction
        if not compaction.on_path:
            end = max((block.message for block in facts.blocks if block.epoch == compaction.epoch), default=None)
            if end is not None:
                seen = reload(end)
                here = next((one for one in seen.compactions if one.id == compaction.id), compaction)
        sizes = sizes_of(seen, here, fixed)
        if here.on_path:
            event = _event(seen, here, number, prices, sizes)
        else:
            nothing = classes_of((), 0, None)
            event = Event(here, number, sizes, Summary(None), (), nothing, 0, (), None, is_known=False)
        events.append(event._replace(compaction=compaction))
    return events


def prices_of(fetch: Fetch, facts: Facts) -> dict[int, CallPrice]:
    """The list prices of a session's calls."""
    return {row.response_id: row for part in facts.parts for row in fetch(CallPrice, transcript=part)}


def classes_of(fates: Iterable[Fate], rest: int, dropped: int | None) -> Classes:
    """What became of items, and `rest` tokens that are in none, brought to what was dropped: what that has more goes
    to the rest, what it has less is spread (floor, remainder to the largest).
    """
    of_items = Counter[str]()
    for part in (part for fate in fates for part in fate.evidence):
        of_items[part.verdict] += part.tokens
    tokens = [*(of_items[verdict] for verdict in VERDICTS), rest]
    total, scale = sum(tokens), 1.0
    if dropped is not None and total > dropped:
        parts = [part * dropped // total for part in tokens]
        parts[tokens.index(max(tokens))] += dropped - sum(parts)
        tokens, scale = parts, dropped / total
    elif dropped is not None:
        tokens[-1] += dropped - total
    kept, reinjected, read_again, mentioned, gone, rest = tokens
    return Classes(kept, reinjected, read_again, mentioned, gone, rest, scale)


def _event(facts: Facts, compaction: Compaction, number: int, prices: Mapping[int, CallPrice], sizes: Sizes) -> Event:
    order = Order(facts)
    start = order.key(compaction.id)
    later = (one for one in facts.all_compactions if one.on_path and order.key(one.id) > start)
    following = min(later, key=lambda one: order.key(one.id), default=None)
    window = window_before(facts, compaction, order)
    items, rest = items_of(facts, window)
    summary = Summary(_summary_text(facts, compaction))
    rarity = Rarity(facts.text(block.id) or "" for block in window)
    fates = _fates(items, After(facts, compaction, following, order, prices), summary, rarity)
    again: dict[int, Again] = {}
    for one in sorted((one for fate in fates for one in fate.again), key=lambda one: one.tokens):
        again[one.id] = one
    return Event(
        compaction=compaction,
        number=number,
        sizes=sizes,
        summary=summary,
        fates=tuple(sorted(fates, key=lambda fate: -fate.item.tokens)),
        classes=classes_of(fates, rest, sizes.dropped),
        thinking_tokens=sum(block.tokens for block in window if block.kind == "thinking"),
        again=tuple(again.values()),
        calls_until_full=_calls_until_full(facts, compaction, following, order, sizes.before),
        is_known=True,
    )


def _summary_text(facts: Facts, compaction: Compaction) -> str | None:
    blocks = (block for block in facts.blocks if block.record_id == compaction.summary_record_id)
    texts = [text for block in blocks if (text := facts.text(block.id)) is not None]
    return "\n".join(texts) if texts else None


def _fates(items: list[Item], after: After, summary: Summary, rarity: Rarity) -> list[Fate]:
    """What became of each item. Files come first and the latest before the earlier: what was put back is the last."""
    names = Counter(base_name(path) for path in {item.path for item in items if item.path is not None})
    fates = []
    for item in sorted(items, key=lambda item: (item.kind != FILE_READ, -item.last_message)):
        parts, again = _back(item, after)
        left = item.tokens - sum(part.tokens for part in parts)
        if left or not parts:
            is_shared = item.path is not None and names[base_name(item.path)] > 1
            parts.append(_lost(item, left, after, summary, rarity, is_shared=is_shared))
        parts.sort(key=lambda part: -part.tokens)
        fates.append(Fate(item, tuple(parts), tuple(again)))
    return fates


def _back(item: Item, after: After) -> tuple[list[Evidence], list[Again]]:
    """The parts of an item that came back, and what was fetched for them."""
    kept = after.kept(item)
    left = item.tokens - (kept.tokens if kept else 0)
    put_back = after.put_back(item, left) if left else None
    left -= put_back.tokens if put_back else 0
    is_there = left <= item.tokens * _SMALL  # what is read of it again is no cost of the compaction
    read, again = after.read_again(item, left) if left and not is_there else (None, [])
    return [part for part in (kept, put_back, read) if part is not None], again


def _lost(item: Item, left: int, after: After, summary: Summary, rarity: Rarity, *, is_shared: bool) -> Evidence:
    """What did not come back of an item: a pointer to it is left, or nothing."""
    if item.path is not None and after.refers_to(item.path):
        return Evidence(MENTIONED, left, "a reference to the file was put back, without its content", None)
    if summary.text is None:
        return Evidence(GONE, left, "there is no summary to name it", None)
    how = None if item.path is None else summary.names(item.path, is_shared=is_shared)
    if how is None and item.kind != FILE_READ:
        how = next(filter(None, map(summary.names, item.names)), None)
        how = how or ("by its own words" if any(map(summary.quotes, item.sayings)) else None)
        asked = [said for text in item.sayings for said in _ends(text)] if item.kind == CONVERSATION else []
        spoken = (summary.speaks(key_terms(text), rarity) for text in (*asked, item.text))
        how = how or next(filter(None, spoken), None)
    if how is not None:
        return Evidence(MENTIONED, left, how, None)
    return Evidence(GONE, left, "the summary does not name it", None)


def _ends(prompt: str) -> list[str]:
    """The first and the last line of a prompt: one of them says what is asked, the others may be pasted."""
    lines = prompt.strip().splitlines() or [""]
    return [line[:_ASKED] for line in dict.fromkeys((lines[0], lines[-1]))]


def _calls_until_full(
    facts: Facts, compaction: Compaction, following: Compaction | None, order: Order, before: int | None
) -> int | None:
    calls = [call for call in facts.calls if call.on_path and order.key(call.id) >= order.key(compaction.id)]
    if following is not None:
        calls = [call for call in calls if order.key(call.id) < order.key(following.id)]
    if before is None:
        return None
    full = (place for place, call in enumerate(calls, 1) if call.context_tokens + call.output_tokens >= before)
    return next(full, len(calls) if following is not None and following.trigger == "auto" else None)
