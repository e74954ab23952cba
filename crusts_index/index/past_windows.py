"""Tells past windows that were compacted by themselves, each with what had been learned before it (D10)."""

from __future__ import annotations

from crusts_index.index.habits import (
    MOST_EPOCHS,
    buffers_of,
    calls_before,
    compacted_of,
    epoch_of,
    limits_of,
    priors_of,
    ranges_of,
)
from crusts_index.store.driver import sqlite3
from crusts_index.windows import PRIOR, PastWindow, ranges_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from crusts_index.index.habits import Compacted, Epoch

_BEGAN = "select min(last_ms) from stored_responses where thread_id = ? and epoch = ? and branch = ? and id > 0"


def past_windows(store: sqlite3.Connection) -> Iterator[PastWindow]:
    """The last windows that ended in an automatic compaction, in the order of time. Where the user had set a smaller
    window they say nothing, and are left out."""
    compacted = compacted_of(store)[-2 * MOST_EPOCHS :]
    epochs: list[Epoch] = []
    for place, one in enumerate(compacted):
        before = compacted[max(0, place - MOST_EPOCHS) : place]
        buffers = {scope: (value, support) for _, scope, _, value, support in buffers_of(before)}
        if place >= len(compacted) - MOST_EPOCHS:
            known = epochs[-MOST_EPOCHS:]
            priors = {scope: value for _, scope, _, value, _ in priors_of(known)}
            yield PastWindow(
                model=one.model,
                asked=one.asked or one.model,
                version=one.version,
                calls=calls_before(store, one),
                seen_limit=_seen_limit(store, one, before),
                buffers={scope: int(value) for scope, (value, _) in buffers.items()},
                prior=priors.get(one.project or "") or priors.get("") or PRIOR,
                ranges=ranges_by({(kind, scope): value for kind, scope, _, value, _ in ranges_of(known)}),
            )
        epoch = epoch_of(store, one, buffers)
        if epoch is not None:
            epochs.append(epoch)


def _seen_limit(store: sqlite3.Connection, one: Compacted, before: list[Compacted]) -> int | None:
    """What had been seen of the model's window when this one began."""
    (began_ms,) = store.execute(_BEGAN, (one.thread_id, one.epoch, one.branch)).fetchone()
    name = one.asked or one.model
    seen = [
        int(value)
        for _, model, since_ms, value, _ in limits_of(store, before)
        if model == name and since_ms < (began_ms or 0)
    ]
    return seen[-1] if seen else None
