"""What a report says about the compactions of a session: how much each dropped, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.losses.back import GONE, KEPT, MENTIONED, READ_AGAIN, REINJECTED
from crusts_index.insight.losses.taken import Event
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.numbers import ESTIMATED, EXACT
from crusts_index.render import text
from crusts_index.render.losses import MEANINGS, again_usd, headline, how_of, scale_note, taken
from crusts_index.render.report_parts import Column, Table, count, segments, when

Json = dict[str, Any]

_ITEMS = 8
_EVENTS = 12
_KEYS = {
    KEPT: "kept",
    REINJECTED: "reinjected",
    READ_AGAIN: "readagain",
    MENTIONED: "mentioned",
    GONE: "gone",
    "the rest": "rest",
}


def losses(facts: Facts, events: Sequence[Event]) -> Json:
    """The compactions one by one, the last ones if there are many, and their sum."""
    shown = events[-_EVENTS:]
    lost = sum(event.classes.lost for event in events)
    again = sum(event.again_tokens for event in events)
    said = f"{lost:,} tokens lost in all; {again:,} fetched again, for {text.usd(again_usd(events))} at list price."
    return {
        "events": [_event(facts, event) for event in shown],
        "more": len(events) - len(shown),
        "said": said if events else "",
        "words": [f"{name}: {meaning}" for name, meaning in MEANINGS.items()],
    }


def _event(facts: Facts, event: Event) -> Json:
    one, sizes = event.compaction, event.sizes
    figures = [
        ("before", count(sizes.before), EXACT),
        ("after", count(sizes.after), sizes.after_basis if sizes.after_basis == "derived" else EXACT),
        ("dropped", count(sizes.dropped), EXACT),
        ("lost", count(event.classes.lost), ESTIMATED),
        ("fetched again", count(event.again_tokens), ESTIMATED),
    ]
    if event.calls_until_full is not None:
        figures.append(("full again after", text.plural(event.calls_until_full, "call"), EXACT))
    tokens = {**event.classes.by_verdict, "the rest": event.classes.rest}
    return {
        "number": event.number,
        "head": f"Compaction {event.number}, {how_of(event)}",
        "where": f"{when(one.time_ms)}" + (f", before message {one.message:,}" if one.message is not None else ""),
        "focus": one.focus or "",
        "figures": figures if event.is_known else figures[:3],
        "is_known": event.is_known,
        "said": headline(event),
        "bar": segments(
            ((_KEYS[name], name, amount, f"{amount:,}{_of_items(event, name)}") for name, amount in tokens.items()),
            least=0.0,
        ),
        "scale": scale_note(event),
        "taken": _items(facts, event),
    }


def _of_items(event: Event, name: str) -> str:
    items = sum(fate.verdict == name for fate in event.fates)
    return f" in {text.plural(items, 'item')}" if items else ""


def _items(facts: Facts, event: Event) -> Table:
    """What did not stay as it was, the largest first."""
    rows = taken(facts, event)
    columns = (Column("tokens", "number", ESTIMATED), Column("now"), Column("what", "path"), Column("why", "words"))
    found = []
    for one in rows[:_ITEMS]:
        first = one.evidence[0]
        at = f" (#{first.message})" if first.message is not None else ""
        found.append((count(one.tokens), one.verdict, one.what, first.detail + at))
    return Table(columns, found, more=max(0, len(rows) - _ITEMS))
