"""Where the money of a session or a period went: parts that sum to its cost (D21), and the sentence that says it."""

from __future__ import annotations

from crusts_index.insight.money.breaks import reason_of, summed
from crusts_index.insight.money.readout import tokens as amount
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.insight.money.breaks import Sum
    from crusts_index.rows.money import CacheBreak, Moment, ThreadCost

SUBAGENTS = "subagents"
LABELS = {
    "new": "sent for the first time",
    "carried": "read from the cache",
    "rebuilt": "sent again",
    "compaction": "sent for compactions",
    "output": "answers",
    "thinking": "thinking",
    "searches": "web searches",
}
"""The parts, and what they are called in text."""


class Part(NamedTuple):
    """A part of a cost: USD summing what is priced, tokens (of searches: how many); its share of the whole cost."""

    part: str
    usd: float
    tokens: int
    share: float | None


class Bill(NamedTuple):
    """What calls cost. `usd` sums what is priced; `parts` sum to it, the subagents as one of them."""

    usd: float
    calls: int
    unpriced_calls: int
    placeholder_calls: int
    parts: list[Part]
    threads: list[ThreadCost]
    """Those of the subagents."""

    @property
    def is_whole(self) -> bool:
        """Whether every call has a price."""
        return self.unpriced_calls == 0


def bill_of(rows: Sequence[ThreadCost]) -> Bill:
    """The bill of a session or a period."""
    main = [row for row in rows if row.is_main]
    others = [row for row in rows if not row.is_main]
    usd = sum(row.priced_usd for row in rows)
    parts = parts_of(main, usd)
    if others:
        within = parts_of(others, usd)
        parts.append(
            Part(
                SUBAGENTS,
                sum(part.usd for part in within),
                sum(part.tokens for part in within if part.part != "searches"),
                _share(sum(part.usd for part in within), usd),
            )
        )
    return Bill(
        usd,
        sum(row.calls for row in rows),
        sum(row.unpriced_calls for row in rows),
        sum(row.placeholder_calls for row in rows),
        parts,
        others,
    )


def parts_of(rows: Sequence[ThreadCost], whole: float) -> list[Part]:
    """The parts of threads, and their shares of a whole cost."""
    parts = []
    for part in LABELS:
        usd = sum(getattr(row, f"{part}_usd") for row in rows)
        tokens = sum(getattr(row, part if part == "searches" else f"{part}_tokens") for row in rows)
        parts.append(Part(part, usd, tokens, _share(usd, whole)))
    return parts


def _share(usd: float, whole: float) -> float | None:
    return usd / whole if whole else None


_PAUSE, _LONG = "pause", "long_pause"


class Avoidable(NamedTuple):
    """The reason whose breaks were avoidable at the highest cost: what they come to, and the dearest of them."""

    sum: Sum
    largest: CacheBreak


def largest_avoidable(breaks: Sequence[CacheBreak]) -> Avoidable | None:
    """The reason whose breaks were avoidable at the highest cost; None where there are no breaks.

    Pauses of any length are one: those over an hour are over five minutes too.
    """
    sums = [
        summed(key, None, same)
        for key in dict.fromkeys(map(_family, breaks))
        if (same := [row for row in breaks if _family(row) == key])
    ]
    if not sums:
        return None
    most = max(sums, key=lambda group: (group.priced_avoidable_usd, group.tokens))
    mine = [row for row in breaks if _family(row) == most.key]
    if all(row.reason == _LONG for row in mine):
        most = most._replace(key=_LONG)
    return Avoidable(most, max(mine, key=_weight))


def _family(row: CacheBreak) -> str:
    return _PAUSE if row.reason == _LONG else row.reason


def _weight(row: CacheBreak) -> tuple[float, int]:
    return (row.avoidable_usd or 0.0, row.tokens)


def sentence(bill: Bill, avoidable: Avoidable | None, *, is_session: bool) -> str:
    """In one sentence where it went: the largest part that was avoidable, or that none was."""
    cost = dollars(bill.usd, is_bound=not bill.is_whole or bill.placeholder_calls > 0)
    if 0 < bill.calls == bill.unpriced_calls:
        cost = "cost not known, since no call has a price"
    if avoidable is not None:
        return f"{cost}, {_largest_words(avoidable, is_session=is_session)}"
    rebuilt = sum(part.tokens for part in bill.parts if part.part == "rebuilt")
    rebuilt += sum(row.rebuilt_tokens for row in bill.threads)
    nothing = "next to nothing" if rebuilt else "nothing"
    said = f"{cost}, none of it avoidable: {nothing} that had been cached was sent again"
    most = max(bill.parts, key=lambda part: part.usd, default=None)
    if most is None or not most.usd:
        return f"{said}."
    return f"{said}; the largest part, {LABELS.get(most.part, most.part)}, is {dollars(most.usd)}."


def _largest_words(avoidable: Avoidable, *, is_session: bool) -> str:
    total, dearest = avoidable
    count, reason = total.breaks, reason_of(total.key or "")
    spent = f"of which {dollars(total.priced_usd, is_bound=total.usd is None)} went into sending"
    if not total.priced_usd:  # no price of any of these calls
        spent = "with"
    why = reason.once if count == 1 else reason.often.replace("{}", f"{count:,}", 1)
    place = f"at #{dearest.message}" if dearest.message is not None else "at a call"
    if not is_session:
        place += f" of {(dearest.session or '')[:8]}"
    if dearest.agent not in (None, "main"):
        place += f" in {dearest.agent}"
    when = (
        f"when you came back after {span(dearest.gap_s)} "
        if dearest.reason in (_PAUSE, _LONG) and dearest.gap_s
        else ""
    )
    price = "" if dearest.usd is None else f", {dollars(dearest.usd)}"
    largest = "," if count == 1 else f"; the largest{price},"
    sent = "tokens again" if total.priced_usd else "tokens sent again"
    return (
        f"{spent} {amount(total.tokens)} {sent} {why}{largest} {place}"
        f" {when}with {amount(dearest.context_tokens)} in the window."
    )


class Way(NamedTuple):
    """What would have avoided the largest part: what to do, and why; USD that it would have saved, None = not known."""

    do: str
    why: str
    saves_usd: float | None


def ways(avoidable: Avoidable | None, breaks: Iterable[CacheBreak], freed_share: float) -> list[Way]:
    """What to do instead; `freed_share` is what a compaction frees of a window."""
    if avoidable is None:
        return []
    total, dearest = avoidable
    instead = reason_of(total.key or "").instead
    if not instead:
        return []
    if total.key in (_PAUSE, _LONG, "resumed_agent"):
        left = dearest.context_tokens * (1 - freed_share)
        saved = sum(
            (each.usd or 0.0) * max(0.0, 1 - each.context_tokens * (1 - freed_share) / each.tokens)
            for each in breaks
            if _family(each) == _family(dearest)
        )
        why = (
            f"of {amount(dearest.context_tokens)} a compaction leaves about {amount(left)}, so that much is sent again"
            f" and no more: {_less(saved, total.breaks)}"
        )
        return [Way(instead, why, saved)]
    saved = total.priced_avoidable_usd
    return [Way(instead, _less(saved, total.breaks), saved)]


def _less(usd: float, breaks: int) -> str:
    return f"{dollars(usd)} less for {'this one' if breaks == 1 else f'these {breaks:,}'}"


def mostly(moment: Moment) -> str:
    """The largest part of a call."""
    return max(LABELS, key=lambda part: float(getattr(moment, f"{part}_usd")))


def dollars(usd: float, *, is_bound: bool = False) -> str:
    """Dollars to two decimals in a sentence."""
    if is_bound:
        return f"at least ${usd:,.2f}"
    return "less than a cent" if 0 < usd < 0.005 else f"${usd:,.2f}"


def span(seconds: float) -> str:
    """A pause in words: 41 minutes, 3 hours, 2 days."""
    minutes = round(seconds / 60)
    for count, unit, limit in ((minutes, "minute", 120), (round(seconds / 3600), "hour", 48)):
        if count < limit:
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return f"{round(seconds / 86_400):,} days"
