"""What fills the window: one list of everything in it, which sums to the window to the token (D17)."""

from __future__ import annotations

from crusts_index.insight.session.carried import Carriage
from crusts_index.insight.session.numbers import DERIVED, ESTIMATED
from crusts_index.insight.window.buckets import WINDOW
from crusts_index.insight.window.contents import apportioned
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.buckets import Buckets
    from crusts_index.insight.window.judge import Window

REST = "rest"
NO_ROW = "in the window and in no row"


class Content(NamedTuple):
    """One row. `what` is of a file its path; `times` counts blocks: results, messages, records.

    `tokens` are on the window's scale, `share` is of the window, from 0 to 1. `carried_usd`: what carrying it has cost
    so far, its tokens as counted in each later call at the price of a cache read; None where a call has no price.
    `category` is None for what is in no row.
    """

    what: str
    kind: str
    category: str | None
    times: int
    tokens: int
    share: float
    accuracy: str
    carried_usd: float | None


def list_contents(facts: Facts, window: Window, buckets: Buckets | None) -> list[Content]:
    """Everything in the window, largest first, last what is in no row; empty while the window is not known.

    The rows are those that the categories were summed from, on their scale.
    """
    size = window.size
    if size is None or buckets is None:
        return []
    first = next((call.ordinal for call in facts.calls if call.live_epoch), 0)
    heaps = buckets.contents.heaps
    sizes = {name: heap.tokens for name, heap in heaps.items()}
    rest = 0
    if buckets.basis == WINDOW:
        for bucket in buckets.buckets:
            names = [name for name in sizes if name[2] == bucket.category]
            sizes |= zip(names, apportioned([sizes[name] for name in names], bucket.tokens), strict=True)
    elif buckets.content_sum > size:
        sizes = dict(zip(sizes, apportioned(list(sizes.values()), size), strict=True))
    else:
        rest = size - buckets.content_sum
    carriage = Carriage(facts)
    rows = []
    for name, heap in heaps.items():
        tokens = sizes[name]
        if tokens:
            _, usd = carriage.amount((part, max(ordinal, first - 1)) for part, ordinal in heap.parts)
            accuracy = heap.accuracy if tokens == heap.tokens else ESTIMATED
            kind, what, category = name
            rows.append(Content(what, kind, category, heap.count, tokens, tokens / size, accuracy, usd))
    rows.sort(key=lambda row: (-row.tokens, row.kind, row.what))
    if rest:
        rows.append(Content(NO_ROW, REST, None, 0, rest, rest / size, DERIVED, None))
    return rows
