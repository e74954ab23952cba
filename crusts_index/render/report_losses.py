"""What a report says about the compactions of a session: how much each dropped, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.losses.survival import GONE, KEPT, NAMED, REACQUIRED, REINJECTED, VERDICTS
from crusts_index.insight.losses.taken import Event, Fate
from crusts_index.insight.session.facts import Facts
from crusts_index.render import text
from crusts_index.render.report_parts import ESTIMATED, EXACT, Column, Table, count, plural, segments, when

Json = dict[str, Any]

_ITEMS = 8
_EVENTS = 12
_KEYS = {KEPT: "kept", REINJECTED: "reinjected", REACQUIRED: "reacquired", NAMED: "named", GONE: "gone"}


def losses(facts: Facts, events: Sequence[Event]) -> Json:
    """The compactions one by one, the last ones if there are many, and their sum."""
    shown = events[-_EVENTS:]
    lost = sum(event.lost_tokens for event in events)
    again = sum(event.again_tokens for event in events)
    usd = [event.again_usd for event in events]
    cost = text.usd(None if None in usd else sum(one for one in usd if one is not None))
    said = f"{lost:,} tokens lost in all; {again:,} fetched again, for {cost} at list price."
    return {
        "events": [_event(facts, event) for event in shown],
        "more": len(events) - len(shown),
        "said": said if events else "",
    }


def _event(facts: Facts, event: Event) -> Json:
    one = event.compaction
    how = one.trigger or (f"inferred by {one.detection}" if one.detection != "marker" else "trigger not logged")
    unit = ", messages only" if event.after_basis == "logged" else ""
    figures = [
        ("before", count(event.tokens_before), EXACT),
        (f"after{unit}", count(event.tokens_after), EXACT),
        ("first call after", count(event.window_after), EXACT),
        ("lost", count(event.lost_tokens), ESTIMATED),
        ("fetched again", count(event.again_tokens), ESTIMATED),
    ]
    if event.calls_until_full is not None:
        figures.append(("full again after", plural(event.calls_until_full, "call"), EXACT))
    return {
        "number": event.number,
        "head": f"Compaction {event.number}, {how}{'' if one.on_path else ', rewound since'}",
        "where": f"{when(one.time_ms)}" + (f", before message {one.message:,}" if one.message is not None else ""),
        "focus": one.focus or "",
        "figures": figures if event.is_known else figures[:2],
        "is_known": event.is_known,
        "bar": segments(
            (
                (
                    _KEYS[verdict],
                    verdict,
                    event.tokens_of(verdict),
                    f"{event.tokens_of(verdict):,} in {plural(sum(f.verdict == verdict for f in event.fates), 'item')}",
                )
                for verdict in VERDICTS
            ),
            least=0.0,
        ),
        "taken": _items(facts, event),
    }


def _items(facts: Facts, event: Event) -> Table:
    """What did not survive as it was; equal things in one row."""
    rows: dict[tuple[str, str], list[Fate]] = {}
    for fate in event.fates:
        if fate.verdict in (REACQUIRED, GONE):
            rows.setdefault((_what(facts, fate), fate.verdict), []).append(fate)
    columns = (Column("tokens", "number", ESTIMATED), Column("verdict"), Column("what", "path"), Column("why", "words"))
    found = []
    for (what, verdict), same in list(rows.items())[:_ITEMS]:
        first = same[0].evidence[0]
        at = f" (#{first.message})" if first.message is not None else ""
        times = f"{len(same)} × " if len(same) > 1 else ""
        found.append((count(sum(fate.item.tokens for fate in same)), verdict, times + what, first.detail + at))
    return Table(columns, found, more=max(0, len(rows) - _ITEMS))


def _what(facts: Facts, fate: Fate) -> str:
    """The item in words, a file by its path in the project."""
    project = facts.session.project.rstrip("/")
    said = fate.item.description.replace(project + "/", "") if project else fate.item.description
    return f"{fate.item.weight}: {said}" if fate.item.weight else said
