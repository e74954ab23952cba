"""Sessions over time: how full their windows were at the end, and whether that gets better or worse."""

from __future__ import annotations

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.session.loading import load
from crusts_index.insight.window.buckets import buckets_of
from crusts_index.insight.window.habits import habits_of
from crusts_index.insight.window.judge import window_of
from crusts_index.insight.window.many import Judged, Many
from crusts_index.insight.window.settings import window_settings
from crusts_index.rows.trend import Standing
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from crusts_index.insight.window.judge import Window
    from crusts_index.rows import Fetch

_LEAST_RECORDS = 3
_NOTABLE_POINTS = 5
_LEAST_MESSAGES = 3
"""A session of one prompt and its answer says nothing of how full windows end."""


class Record(NamedTuple):
    """One session as it stands at its last activity. The window is exact or derived as `analyze` says, its categories
    are estimated and on the basis named, None without a call; compactions are the boundaries that the session owns
    (D2).
    """

    session_id: str
    project: str
    active_ms: int | None
    window: Window
    messages: int
    compactions: int
    top_category: str | None
    top_category_tokens: int | None
    basis: str | None

    @property
    def percent_used(self) -> float | None:
        """How full its window is, in per cent of the limit."""
        return self.window.usage_percentage


class Trend(NamedTuple):
    """The records, oldest first, and their averages, of windows over those that are known.

    `percent_delta` is the mean of the last third of those with more than a prompt and its answer less that of the
    first, in points of per cent. `left_out`: sessions with no message on a main thread, which are no record.
    """

    records: tuple[Record, ...]
    percent_used: float
    window_tokens: float
    compactions: float
    messages: float
    dominant_category: str
    direction: str
    percent_delta: float
    left_out: int = 0

    @property
    def without_call(self) -> int:
        """How many of the records are in no average of windows, as they have no call yet."""
        return sum(one.window.size is None for one in self.records)


def trend_of(
    fetch: Fetch,
    config: Mapping[str, Any],
    environ: Mapping[str, str],
    now_ms: int,
    *,
    project: str | None,
    limit: int | None,
) -> Trend:
    """The last sessions by their last activity (D14)."""
    standings = fetch(Standing, project=project, limit=limit)
    habits = habits_of(fetch)
    many = Many(fetch, standings, config, environ, habits, now_ms)

    def whole(one: Standing) -> tuple[Judged, int]:
        facts = load(fetch, one.session_id)
        window = window_of(facts, window_settings(fetch, facts, config, environ, now_ms), habits)
        return Judged(window, buckets_of(facts, window)), facts.session.messages

    records = []
    for one in reversed(standings):
        judged, messages = (many.judge(one), one.messages) if many.can_judge(one) else whole(one)
        records.append(_record(one, judged, messages))
    return _summed(records)._replace(left_out=standings[0].left_out if standings else 0)


def sparkline(values: Sequence[float]) -> str:
    """One block a value, from the least to the most."""
    if not values:
        return ""
    low, high = min(values), max(values)
    return "".join("▁▂▃▄▅▆▇█"[int((value - low) / ((high - low) or 1) * 7 + 0.5)] for value in values)


def _record(one: Standing, judged: Judged, messages: int) -> Record:
    buckets = judged.buckets
    top = max(buckets.buckets, key=lambda bucket: bucket.tokens) if buckets else None
    return Record(
        session_id=one.session_id,
        project=one.project,
        active_ms=one.active_ms,
        window=judged.window,
        messages=messages,
        compactions=one.compactions,
        top_category=top.category if top else None,
        top_category_tokens=top.tokens if top else None,
        basis=buckets.basis if buckets else None,
    )


def _summed(records: list[Record]) -> Trend:
    shares = [one.percent_used for one in records if one.percent_used is not None]
    grown = [one.percent_used for one in records if one.percent_used is not None and one.messages >= _LEAST_MESSAGES]
    tokens = [one.window.size for one in records if one.window.size is not None]
    names = [one.top_category for one in records if one.top_category is not None]
    delta = 0.0
    if len(grown) >= _LEAST_RECORDS:
        third = max(1, len(grown) // 3)
        delta = _mean(grown[-third:]) - _mean(grown[:third])
    return Trend(
        records=tuple(records),
        percent_used=_mean(shares),
        window_tokens=_mean(tokens),
        compactions=_mean([one.compactions for one in records]),
        messages=_mean([one.messages for one in records]),
        dominant_category=max(dict.fromkeys(names), key=names.count, default=CATEGORIES[0]),
        direction="worsening" if delta > _NOTABLE_POINTS else "improving" if delta < -_NOTABLE_POINTS else "flat",
        percent_delta=delta,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
