"""The text of `lost`: the compactions of a session, or what they cost over many."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from crusts_index.insight.losses.back import GONE, KEPT, MENTIONED, READ_AGAIN, REINJECTED, VERDICTS, Evidence
from crusts_index.insight.losses.cost import Cost, Total
from crusts_index.insight.losses.taken import Event, Fate
from crusts_index.insight.session.facts import Facts
from crusts_index.render import text
from crusts_index.render.page import Page

MEANINGS = {
    KEPT: "stayed as it was",
    REINJECTED: "put back by Claude Code itself",
    READ_AGAIN: "fetched again later",
    MENTIONED: "content gone, a pointer is in the summary",
    GONE: "neither content nor pointer is left",
    "the rest": "thinking, small things, what is not logged",
}
_WHOLE = 0.995
_NOUNS = {"conversation": "exchange: ", "instruction": "instruction: "}
IN_PART = "in part"
"""In place of a count of items: only parts of some, which are counted under what became of most of them."""
_FORMS = dict.fromkeys(("before", "dropped", "lost", "again", "tokens"), text.tokens)
_NOTE = (
    "Before: as logged, or the context of the call before; after: the context of the first call after it; both exact. "
    "Tokens of items are estimated, cost at list price is derived."
)


def losses_text(
    page: Page, facts: Facts, events: Sequence[Event], pastes: Mapping[int, str], shown: int, *, verbose: bool
) -> None:
    """What each compaction of a session took, its `shown` largest items; `verbose` shows what came back, too, and why.

    `pastes` are the blocks to paste by the number of the event.
    """
    session = facts.session
    page.head_session(session.session_id, session.title)
    if not events:
        page.say("No compaction in this session: nothing was lost.")
        return
    for event in events:
        _event_text(page, facts, event, shown, verbose=verbose)
        if event.number in pastes and (verbose or event is events[-1]):
            page.head("To paste, if it is still wanted")
            page.say_as_is(pastes[event.number], 2)
    if len(events) > 1:
        lost, dropped = sum(one.classes.lost for one in events), sum(one.sizes.dropped or 0 for one in events)
        page.head("All compactions")
        page.say(
            f"Lost: {lost:,} of {dropped:,} tokens dropped{_share(lost, dropped)}; "
            f"{sum(one.again_tokens for one in events):,} fetched again for {text.usd(again_usd(events))}."
        )
    page.say()
    page.say(_NOTE)


def costs_text(
    page: Page,
    costs: Sequence[Cost],
    total: Total,
    triggers: Sequence[Total],
    weeks: Sequence[Total],
    shown: int,
) -> None:
    """What compaction cost over many sessions."""
    if not costs:
        page.say("No compaction in this period.")
        return
    heads = ("count", "focus", "dropped", "lost", "again", "again_usd", "refill")

    def row(one: Total) -> tuple[object, ...]:
        usd = None if one.unpriced and not one.again_usd else text.at_least(one.again_usd, one.unpriced)
        return (
            *(one.key, one.compactions, one.with_focus, one.tokens_dropped, one.lost_tokens),
            *(one.again_tokens, usd, one.calls_until_full),
        )

    page.head("What compaction cost, by trigger")
    page.rows(("trigger", *heads), [row(one) for one in (*triggers, total)], _FORMS)
    if len(weeks) > 1:
        page.head("By week")
        page.rows(("week", *heads), [row(one) for one in weeks], _FORMS)
    page.head("The last of them" if len(costs) > shown else "One by one")
    page.rows(
        ("session", "day", "trigger", "dropped", "lost", "again", "focus"),
        [
            (
                *(cost.row.session_id[:8], (cost.row.timestamp or "")[:10], cost.row.trigger, cost.sizes.dropped),
                *(cost.event and cost.event.classes.lost, cost.event and cost.event.again_tokens),
                cost.row.focus or "",
            )
            for cost in costs[-shown:]
        ],
        _FORMS,
    )
    page.say(
        "dropped: tokens by which the window shrank. lost: of them content that is no longer there, whether the "
        "summary mentions it or not. again: tokens fetched again afterwards, and what that cost at list price."
    )
    page.say("focus: how many were told what to keep. refill: calls until the window was full again, the median.")
    page.say(_NOTE)
    if total.unpriced:
        count = text.plural(total.unpriced, "compaction")
        page.say(f"A part of {count} has no price: try `crusts index --prices --fetch`.")


def how_of(event: Event) -> str:
    """What began a compaction, in words."""
    one = event.compaction
    how = one.trigger or (f"inferred by {one.detection}" if one.detection != "marker" else "no trigger logged")
    return how if one.on_path else f"{how}, rewound since"


def again_usd(events: Collection[Event]) -> float | None:
    """What was fetched again cost, in USD: at least what is priced of it, None where nothing is."""
    priced = [one for one in events if one.priced_usd is not None]
    is_bound = any(one.again_usd is None for one in events)
    return text.at_least(sum(one.priced_usd or 0.0 for one in priced), is_bound) if priced else None


def headline(event: Event) -> str:
    """How much is lost, and how much is not, in one sentence."""
    classes, dropped = event.classes, event.sizes.dropped
    of = f" of {dropped:,} tokens dropped{_share(classes.lost, dropped)}" if dropped is not None else " tokens"
    return (
        f"Lost: {classes.lost:,}{of}; back: {classes.back:,}; the rest, in no item: {classes.rest:,}. "
        f"Fetched again: {event.again_tokens:,} tokens for {text.usd(again_usd([event]))}."
    )


def scale_note(event: Event) -> str:
    """Why the classes are smaller than their items; empty where they are not."""
    if event.classes.scale > _WHOLE:
        return ""
    return (
        f"Each is its items times {event.classes.scale:.2f}: the window shrank by less than they take, "
        "since the summary and what was put back stand in it again."
    )


def what(facts: Facts, fate: Fate) -> str:
    """The item in words, a file by its path in the project."""
    project = facts.session.project.rstrip("/")
    said = fate.item.description.replace(project + "/", "") if project else fate.item.description
    if fate.item.weight and fate.item.kind == "conversation":
        return f"exchange with a {fate.item.weight}: {said}"
    return _NOUNS.get(fate.item.kind, "") + said


class Taken(NamedTuple):
    """Equal items together: their tokens, what became of them, and what they are."""

    tokens: int
    verdict: str
    what: str
    evidence: Sequence[Evidence]


def taken(facts: Facts, event: Event, *, everything: bool = False) -> list[Taken]:
    """The items that are not where they were, or all of them; the largest first."""
    rows: dict[tuple[str, str], list[Fate]] = {}
    for fate in event.fates:
        if everything or fate.verdict not in (KEPT, REINJECTED):
            rows.setdefault((fate.verdict, what(facts, fate)), []).append(fate)
    found = [
        Taken(
            sum(fate.item.tokens for fate in same),
            verdict,
            f"{len(same)} × {said}" if len(same) > 1 else said,
            same[0].evidence,
        )
        for (verdict, said), same in rows.items()
    ]
    return sorted(found, key=lambda one: -one.tokens)


def _event_text(page: Page, facts: Facts, event: Event, shown: int, *, verbose: bool) -> None:
    one, sizes = event.compaction, event.sizes
    where = f" at message {one.message:,}" if one.message is not None else ""
    page.head(f"Compaction {event.number}{where} ({how_of(event)})")
    derived = ", derived" if sizes.after_basis == "derived" else ""
    page.say(
        f"Window {text.number(sizes.before)} → {text.number(sizes.after)} tokens{derived}, "
        f"{text.number(sizes.dropped)} dropped"
    )
    if one.focus:
        page.say(f"Focus asked for: {one.focus}")
    if not event.is_known:
        page.say("Nothing follows it on its branch, so nothing can be said of what it lost.")
        return
    page.say(headline(event))
    if event.calls_until_full is not None:
        page.say(f"Full again after {text.plural(event.calls_until_full, 'call')}.")
    if event.summary.text is None:
        page.say("There is no summary, or its text was not kept: what it mentions is not known.")
    _classes(page, event)
    _items(page, facts, event, shown, verbose=verbose)


def _classes(page: Page, event: Event) -> None:
    counts = {verdict: sum(fate.verdict == verdict for fate in event.fates) for verdict in VERDICTS}
    tokens = {**event.classes.by_verdict, "the rest": event.classes.rest}
    rows = [
        (name, counts.get(name) or (IN_PART if name in counts else None), tokens[name], MEANINGS[name])
        for name in MEANINGS
        if tokens[name] or counts.get(name)
    ]
    page.rows(("what became of it", "items", "tokens", ""), rows, _FORMS)
    note = scale_note(event)
    if note:
        page.say(note)


def _items(page: Page, facts: Facts, event: Event, shown: int, *, verbose: bool) -> None:
    """The items that are not where they were, or all of them with the evidence."""
    rows = taken(facts, event, everything=verbose)
    if not rows:
        return
    page.head("The largest items" if len(rows) > shown else "Items")
    values: list[list[object]] = []
    for one in rows[:shown]:
        partly = " (in part)" if len(one.evidence) > 1 else ""
        values.append([one.tokens, one.verdict + partly, one.what])
        if verbose:
            values[-1].append("; ".join(_why(part) for part in one.evidence))
    page.rows(("tokens", "now", "what", "why") if verbose else ("tokens", "now", "what"), values, _FORMS)
    if len(rows) > shown:
        page.say(f"+ {len(rows) - shown:,} more: --limit N shows N")


def _why(part: Evidence) -> str:
    return part.detail + (f" (message {part.message})" if part.message is not None else "")


def _share(part: int, whole: int) -> str:
    return f" ({text.percent(part / whole)})" if whole else ""
