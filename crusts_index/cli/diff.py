"""`crusts diff`: what changed in a session's window between two of its messages."""

from __future__ import annotations

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError
from crusts_index.insight.window.buckets import buckets_of
from crusts_index.insight.window.diff import difference
from crusts_index.insight.window.words import size_words
from crusts_index.render import console
from crusts_index.render.contents import category_name
from crusts_index.render.jsonout import rounded
from crusts_index.store.settings import Settings

From = Annotated[int, Option("--from", reads=options.whole(), metavar="N", help="The earlier message.")]
To = Annotated[int, Option("--to", reads=options.whole(), metavar="N", help="The later message.")]


def diff(
    settings: Settings,
    start: From,
    end: To,
    session: options.Session = None,
    last: options.Last = None,
) -> None:
    """What changed, by category, between the window as it was at one message and at a later one.

    Both sides are on the same basis, which is named: the exact windows, or, where the estimates of one side
    are too far from it, the tokens as counted.
    """
    if start >= end:
        raise CrustsError(f"--from must be below --to: {start} is not below {end}")
    with opened(settings) as store:
        session_id = store.choose(session, last)
        sides = []
        for number in (start, end):
            facts, window = store.look(session_id, number)
            sides.append((window, buckets_of(facts, window)))
    (window_before, before), (window_after, after) = sides
    found = difference(before, after)
    if settings.json:
        show.document(
            {
                "sessionId": session_id,
                "fromIndex": start,
                "toIndex": end,
                "basis": found.basis,
                "totalFrom": found.total.before,
                "totalTo": found.total.after,
                "totalDelta": found.total.delta,
                "windowFrom": window_before.size,
                "windowTo": window_after.size,
                "categoryDeltas": [
                    {
                        "category": change.category,
                        "tokensFrom": change.before,
                        "tokensTo": change.after,
                        "delta": change.delta,
                        "deltaPercent": rounded(change.percent, 2),
                    }
                    for change in found.categories
                ],
                "messageCountFrom": start,
                "messageCountTo": end,
            }
        )
        return
    page = show.page(settings)
    page.head(f"{session_id}: messages {start:,} to {end:,}")
    page.rows(
        ("category", f"at {start}", f"at {end}", "change", "%"),
        [
            (category_name(one.category), one.before, one.after, one.delta, one.relative)
            for one in (*found.categories, found.total)
        ],
        {"change": "{:+,}".format, "%": "{:+.1f}%".format},
    )
    is_exact = window_before.basis == window_after.basis == "exact"
    page.say(
        f"On the basis of the {'exact' if is_exact else 'derived'} windows, categories estimated."
        if found.basis == "window"
        else f"As counted, estimated; the windows: {size_words(window_before)} and {size_words(window_after)}."
    )
    console.put(page.text())
