"""What compaction costs over many sessions: tokens dropped and fetched again, by trigger and by week."""

from __future__ import annotations

from crusts_index.insight.losses.taken import losses_of, prices_of
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
    """One compaction and what it cost. Tokens before and after as logged or of the calls around it, exact; those
    fetched again and lost are estimated, their cost at list price; None = not known.
    """

    session_id: str
    project: str | None
    timestamp: str | None
    week: str | None
    trigger: str | None
    focus: str | None
    tokens_before: int | None
    tokens_after: int | None
    lost_tokens: int | None
    again_tokens: int | None
    again_usd: float | None
    calls_until_full: int | None

    @property
    def tokens_dropped(self) -> int | None:
        """Before less after, at least 0."""
        if self.tokens_before is None or self.tokens_after is None:
            return None
        return max(0, self.tokens_before - self.tokens_after)


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
    found = []
    for row in fetch(LostCompaction, since=since, until=until, project=project):
        event = None
        if row.view_session is not None and row.view_id is not None:
            if row.view_session not in events:
                events[row.view_session] = _events(fetch, load, row.view_session)
            event = events[row.view_session].get(row.view_id)
        found.append(_cost(row, event if event is not None and event.is_known else None))
    return found


def totals_by_trigger(costs: Iterable[Cost]) -> list[Total]:
    """One total a trigger, the most frequent first."""
    totals = _totals(costs, lambda cost: cost.trigger or "not logged")
    return sorted(totals, key=lambda total: (-total.compactions, total.key))


def totals_by_week(costs: Iterable[Cost]) -> list[Total]:
    """One total a week, in order; a week is named by its Monday."""
    return sorted(_totals(costs, lambda cost: cost.week or "no time"))


def total_of(costs: Iterable[Cost]) -> Total:
    """All of them."""
    return _total("total", list(costs))


def _events(fetch: Fetch, load: Load, session: str) -> dict[int, Event]:
    facts = load(session, None)
    found = losses_of(facts, prices_of(fetch, facts), lambda end: load(session, end))
    return {event.compaction.id: event for event in found if event.compaction.detection == "marker"}


def _cost(row: LostCompaction, event: Event | None) -> Cost:
    return Cost(
        session_id=row.session_id,
        project=row.project,
        timestamp=row.timestamp,
        week=row.week,
        trigger=row.trigger,
        focus=row.focus,
        tokens_before=event.tokens_before if event else row.before_tokens,
        tokens_after=event.tokens_after if event else row.after_tokens,
        lost_tokens=event.lost_tokens if event else None,
        again_tokens=event.again_tokens if event else None,
        again_usd=event.again_usd if event else None,
        calls_until_full=event.calls_until_full if event else None,
    )


def _totals(costs: Iterable[Cost], key: Callable[[Cost], str]) -> list[Total]:
    groups: dict[str, list[Cost]] = {}
    for cost in costs:
        groups.setdefault(key(cost), []).append(cost)
    return [_total(name, group) for name, group in groups.items()]


def _total(key: str, costs: list[Cost]) -> Total:
    full = sorted(cost.calls_until_full for cost in costs if cost.calls_until_full is not None)
    middle = len(full) // 2
    median = None if not full else float(full[middle]) if len(full) % 2 else (full[middle - 1] + full[middle]) / 2
    return Total(
        key=key,
        compactions=len(costs),
        with_focus=sum(bool(cost.focus) for cost in costs),
        tokens_before=sum(cost.tokens_before or 0 for cost in costs),
        tokens_dropped=sum(cost.tokens_dropped or 0 for cost in costs),
        lost_tokens=sum(cost.lost_tokens or 0 for cost in costs),
        again_tokens=sum(cost.again_tokens or 0 for cost in costs),
        again_usd=sum(cost.again_usd or 0.0 for cost in costs),
        unpriced=sum(bool(cost.again_tokens) and cost.again_usd is None for cost in costs),
        calls_until_full=median,
        full=len(full),
    )
