"""The text of `lost`: the compactions of a session, or what they cost over many."""

from __future__ import annotations

from collections.abc import Sequence

from crusts_index.insight.losses.cost import Cost, Total
from crusts_index.insight.losses.items import KINDS
from crusts_index.insight.losses.survival import GONE, REACQUIRED, VERDICTS
from crusts_index.insight.losses.taken import Event, Fate
from crusts_index.insight.session.facts import Facts
from crusts_index.render import text
from crusts_index.render.losses_json import sum_usd
from crusts_index.render.page import Page

_TITLES = {
    "file_read": "Files read",
    "conversation": "Exchanges",
    "tool_result": "Tool results",
    "instruction": "Instructions",
}
_FORMS = dict.fromkeys(("before", "dropped", "lost", "again", "tokens"), text.tokens)
_NOTE = (
    "Before and after are as logged or of the calls around, exact; tokens of items are estimated; "
    "cost at list price, derived."
)


def losses_text(page: Page, facts: Facts, events: Sequence[Event], shown: int, *, verbose: bool) -> None:
    """What each compaction of a session lost, `shown` items a kind; `verbose` shows what survived, too, and why."""
    session = facts.session
    page.head_session(session.session_id, session.title)
    if not events:
        page.say("No compaction in this session: nothing was lost.")
        return
    for event in events:
        _event_text(page, facts, event, shown, verbose=verbose)
    if len(events) > 1:
        lost, before = sum(one.lost_tokens for one in events), sum(one.tokens_before or 0 for one in events)
        page.head("All compactions")
        page.say(
            f"{lost:,} tokens lost{_of(lost, before)}, {sum(one.again_tokens for one in events):,} fetched again "
            f"for {text.usd(sum_usd(one.again_usd for one in events))}."
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
        usd = None if one.unpriced and not one.again_usd else one.again_usd
        return (
            *(one.key, one.compactions, one.with_focus, one.tokens_dropped, one.lost_tokens),
            *(one.again_tokens, usd, one.calls_until_full),
        )

    page.head("What compaction cost, by trigger")
    _rows(page, ("trigger", *heads), [row(one) for one in (*triggers, total)])
    if len(weeks) > 1:
        page.head("By week")
        _rows(page, ("week", *heads), [row(one) for one in weeks])
    page.head("The last of them" if len(costs) > shown else "One by one")
    _rows(
        page,
        ("session", "day", "trigger", "dropped", "lost", "again", "focus"),
        [
            (
                *(cost.session_id[:8], (cost.timestamp or "")[:10], cost.trigger, cost.tokens_dropped),
                *(cost.lost_tokens, cost.again_tokens, cost.focus or ""),
            )
            for cost in costs[-shown:]
        ],
    )
    page.say("again: tokens fetched again after they had been dropped, and what that cost at list price.")
    page.say("focus: how many were told what to keep. refill: calls until the window was full again, the median.")
    page.say(_NOTE)
    if total.unpriced:
        page.say(f"{total.unpriced} compactions have a part without a price: try `crusts index --prices --fetch`.")


def _event_text(page: Page, facts: Facts, event: Event, shown: int, *, verbose: bool) -> None:
    one = event.compaction
    how = one.trigger or (f"inferred by {one.detection}" if one.detection != "marker" else "no trigger logged")
    where = f" at message {one.message:,}" if one.message is not None else ""
    page.head(f"Compaction {event.number}{where} ({how}){'' if one.on_path else ', rewound since'}")
    unit = " of messages" if event.after_basis == "logged" else ""
    page.say(
        f"{text.number(event.tokens_before)} → {text.number(event.tokens_after)} tokens{unit}, "
        f"{text.number(event.tokens_dropped)} dropped; first call after it: {text.number(event.window_after)}"
    )
    if one.focus:
        page.say(f"Focus asked for: {one.focus}")
    if not event.is_known:
        page.say("Nothing follows it on its branch, so nothing can be said of what it lost.")
        return
    if event.calls_until_full is not None:
        page.say(f"Full again after {event.calls_until_full:,} calls.")
    if event.summary_excerpt is None:
        page.say("There is no summary, or its text was not kept: names in it are not known.")
    counted = [
        (verdict, sum(fate.verdict == verdict for fate in event.fates), event.tokens_of(verdict))
        for verdict in VERDICTS
    ]
    _rows(page, ("verdict", "items", "tokens"), [row for row in counted if row[1]])
    for kind in KINDS:
        fates = [fate for fate in event.fates if fate.item.kind == kind]
        _kind_text(page, facts, kind, fates, shown, verbose=verbose)
    page.say(
        f"Lost: {event.lost_tokens:,} tokens{_of(event.lost_tokens, event.tokens_before)}; fetched again: "
        f"{event.again_tokens:,} tokens for {text.usd(event.again_usd)}."
    )


def _kind_text(page: Page, facts: Facts, kind: str, fates: list[Fate], shown: int, *, verbose: bool) -> None:
    """The items of a kind that are not where they were, or all of them with the evidence; equal ones in one row."""
    rows: dict[tuple[str, str], tuple[list[Fate], str]] = {}
    for fate in fates:
        if verbose or fate.verdict in (REACQUIRED, GONE):
            where = _what(facts, fate)
            rows.setdefault((where, fate.verdict), ([], where))[0].append(fate)
    if not rows:
        return
    page.head(_TITLES[kind])
    values: list[list[object]] = []
    for same, what in list(rows.values())[:shown]:
        first = same[0].evidence[0]
        tokens = sum(fate.item.tokens for fate in same)
        times = f"{len(same)} × " if len(same) > 1 else ""
        values.append([tokens, same[0].verdict, times + what])
        if verbose:
            at = f" (message {first.message})" if first.message is not None else ""
            values[-1].append(first.detail + at)
    _rows(page, ("tokens", "verdict", "what", "evidence") if verbose else ("tokens", "verdict", "what"), values)
    if len(rows) > shown:
        page.say(f"+ {len(rows) - shown:,} more: --limit N shows N")


def _what(facts: Facts, fate: Fate) -> str:
    """The item in words, a file by its path in the project."""
    item = fate.item
    said = item.description.replace(facts.session.project.rstrip("/") + "/", "")
    return f"{item.weight}: {said}" if item.weight else said


def _rows(page: Page, columns: Sequence[str], values: Sequence[Sequence[object]]) -> None:
    """A table with token counts in short."""
    page.rows(columns, values, _FORMS)


def _of(part: int, whole: int | None) -> str:
    return f" ({text.percent(part / whole)} of {whole:,})" if whole else ""
