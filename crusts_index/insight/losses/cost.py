"""What compaction costs over many sessions: tokens dropped, lost and fetched again, by trigger and by week."""

from __future__ import annotations

from crusts_index.insight.losses.taken import losses_of, prices_of
from crusts_index.insight.session.sizes import Sizes
from crusts_index.rows.trend import LostCompaction
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crusts_index.insight.losses.taken import Event
    from crusts_index.insight.session.facts import Facts
    from crusts_index.rows import Fetch

    Load = Callable[[str, int | None], Facts]


class Cost(NamedTuple):
    """One compaction, and what became of it; `event` None: no session's own view shows it well enough to judge."""

    row: LostCompaction
    sizes: Sizes
    event: Event | None


class Total(NamedTuple):
    """Compactions added up. `again_usd` sums what is priced, `unpriced` counts the compactions with a part that is
    not; `calls_until_full` is the median over the `full` windows that filled up again.
    """

    key: str
    compactions: int
    with_focus: int
    tokens_before: int
    tokens_dropped: int
    lost_tokens: int
    again_tokens: int
    again_usd: float
    unpriced: int
    calls_until_full: float | None
    full: int


def costs_of(fetch: Fetch, load: Load, *, since: int | None, until: int | None, project: str | None) -> list[Cost]:
    """Every compaction of a period, each once (D2), oldest first."""
    events: dict[str, dict[int, Event]] = {}
    costs = []
    for row in fetch(LostCompaction, since=since, until=until, project=project):
        event = None
        if row.view_session is not None and row.view_id is not None:
            if row.view_session not in events:
                events[row.view_session] = _events(fetch, load, row.view_session)
            event = events[row.view_session].get(row.view_id)
        sizes = event.sizes if event else Sizes(row.before_tokens, None, row.after_tokens, None)
        costs.append(Cost(row, sizes, event if event is not None and event.is_known else None))
    return costs


def totals_by_trigger(costs: Iterable[Cost]) -> list[Total]:
    """One total a trigger, the most frequent first."""
    totals = _totals(costs, lambda cost: cost.row.trigger or "not logged")
    return sorted(totals, key=lambda total: (-total.compactions, total.key))


def totals_by_week(costs: Iterable[Cost]) -> list[Total]:
    """One total a week, in order; a week is named by its Monday."""
    return sorted(_totals(costs, lambda cost: cost.row.week or "no time"))


def total_of(costs: Iterable[Cost]) -> Total:
    """All of them."""
    return _total("total", list(costs))


def _events(fetch: Fetch, load: Load, session: str) -> dict[int, Event]:
    facts = load(session, None)
    events = losses_of(facts, prices_of(fetch, facts), lambda end: load(session, end))
    return {event.compaction.id: event for event in events if event.compaction.detection == "marker"}


def _totals(costs: Iterable[Cost], key: Callable[[Cost], str]) -> list[Total]:
    groups: dict[str, list[Cost]] = {}
    for cost in costs:
        groups.setdefault(key(cost), []).append(cost)
    return [_total(name, group) for name, group in groups.items()]


def _total(key: str, costs: list[Cost]) -> Total:
    events = [cost.event for cost in costs if cost.event is not None]
    full = sorted(event.calls_until_full for event in events if event.calls_until_full is not None)
    middle = len(full) // 2
    return Total(
        key=key,
        compactions=len(costs),
        with_focus=sum(bool(cost.row.focus) for cost in costs),
        tokens_before=sum(cost.sizes.before or 0 for cost in costs),
        tokens_dropped=sum(cost.sizes.dropped or 0 for cost in costs),
        lost_tokens=sum(event.classes.lost for event in events if event.sizes.dropped is not None),
        again_tokens=sum(event.again_tokens for event in events),
        again_usd=sum(event.priced_usd or 0.0 for event in events),
        unpriced=sum(bool(event.again_tokens) and event.again_usd is None for event in events),
        calls_until_full=(full[middle] + full[~middle]) / 2 if full else None,
        full=len(full),
    )
