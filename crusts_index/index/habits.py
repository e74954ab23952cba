"""Learns what the user's own history says of windows: limits seen, buffers, growth until a compaction (D10).

It follows from the rows of the store alone, whatever the order in which they came. It is made again as a whole, where
there is an automatic compaction, a large call or a setting more or less than when it was made last.
"""

from __future__ import annotations

from itertools import groupby

from crusts_index.store.driver import sqlite3
from crusts_index.store.open import explained, transaction
from crusts_index.tuples import NamedTuple
from crusts_index.windows import (
    DEFAULT_CONTEXT_LIMIT,
    FIRST_POINT,
    HIGH,
    HORIZONS,
    LOW,
    PRIOR,
    RANGES,
    buffer_scope,
    growth_of,
    horizon_of,
    lift_window,
    quantile,
    usual_buffer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Row = tuple[str, str, int, float, int]

LAST_COMPACTIONS, LEAST_COMPACTIONS = 5, 2
"""Automatic compactions whose median is the buffer, and from how many on it counts."""
LEAST_BUFFER, MOST_BUFFER = 20_000, 60_000
MOST_EPOCHS = 100
"""Of what compactions ended the latest, so that the work is bounded."""
LEAST_EPOCHS = 5
"""Epochs of a project from which on they tell its growth."""
LEAST_EPOCHS_OF_RANGES = 10
EPOCHS_OF_PRIOR = EPOCHS_OF_RANGES = 5
"""As many epochs what is usual counts for."""
LEAST_POINTS = 30
"""Forecasts of a horizon below which they tell no range."""

_LEARNED = "habits"
# What is learned follows from these.
_STATE = """
select (select count(*) || ',' || ifnull(sum(pre_tokens + id % 1000003), 0) from compactions where trigger = 'auto')
  || ',' || (select count(*) || ',' || ifnull(sum(peak_tokens), 0) from stored_curve_models where peak_tokens > 200000)
  || ',' || (select count(*) from surroundings where kind = 'settings')
"""
_STATED = "select value from store_facts where name = ?"
_STATE_IT = "insert or replace into store_facts (name, value) values (?, ?)"
_KEEP = "insert into habits (kind, scope, since_ms, value, support) values (?, ?, ?, ?, ?)"
_COMPACTED = """
select c.id, c.thread_id, c.pre_tokens, b.time_ms, b.epoch - 1 as epoch, p.path as project, t.last_version as version,
       r.id as call, r.branch, w.word as model, a.word as asked
from compactions as c
join compaction_owners as o on o.compaction_key = c.id and o.place = 1
join stored_records as b on b.id = c.id
join transcripts as t on t.id = c.transcript_id
join stored_responses as r on r.id = (
  select x.id from stored_responses as x
  where x.thread_id = c.thread_id and x.id > 0 and x.id < c.id and x.flags & 12 = 8
    and x.input_tokens + x.cache_read_tokens + x.cache_write_tokens > 0
  order by x.id desc limit 1)
join words as w on w.id = r.model
left join stored_response_facts as f on f.response_id = r.id
left join words as a on a.id = f.requested_model
left join sessions as s on s.id = t.session_id
left join projects as p on p.id = s.project_id
where c.trigger = 'auto' and c.pre_tokens > 0
order by b.time_ms, t.path, c.id
"""
_LARGE = """
select m.peak_tokens, max(ifnull(v.last_ms, 0)) as time_ms, w.word as model,
       (select a.word from stored_response_facts as f join words as a on a.id = f.requested_model
        where f.response_id = m.last_id) as asked
from stored_curve_models as m
join stored_curves as v on v.thread_id = m.thread_id and v.part = m.part
join words as w on w.id = m.model
where m.peak_tokens > 200000
group by m.thread_id, m.part, m.model
"""
_CALLS = """
select r.input_tokens + r.cache_read_tokens + r.cache_write_tokens as context, r.output_tokens
from stored_responses as r
where r.thread_id = ? and r.epoch = ? and r.branch = ? and r.id > 0 and r.id <= ? and r.flags & 12 = 8
  and r.input_tokens + r.cache_read_tokens + r.cache_write_tokens > 0
order by r.id
"""
# Where a smaller window is set for it, a compaction tells nothing of the model's own.
_SMALLER = """
select project_path, first_seen_ms, mtime_ns / 1000000, last_seen_ms from surroundings
where kind = 'settings' and (instr(detail, 'autoCompactWindow') or instr(detail, 'modelWindows')
  or instr(detail, 'AUTO_COMPACT_WINDOW') or instr(detail, 'AUTOCOMPACT_PCT'))
"""


class Compacted(NamedTuple):
    """An automatic compaction, and the last call before it."""

    id: int
    thread_id: int
    pre_tokens: int
    time_ms: int | None
    epoch: int
    project: str | None
    version: str | None
    call: int
    branch: int
    model: str
    asked: str | None


class Epoch(NamedTuple):
    """What an automatic compaction ended: tokens from each call on to the trigger, its growth so far, calls left."""

    project: str
    points: tuple[tuple[float, int, int, int], ...]


def learn_habits(store: sqlite3.Connection) -> None:
    """Bring what the history says up to date, if there is anything new to learn from."""
    with explained(store):
        if _is_new(store):
            with transaction(store):
                settle_habits(store)


def settle_habits(store: sqlite3.Connection) -> None:
    """Likewise, within the caller's transaction."""
    if _is_new(store):
        store.execute("delete from habits")
        store.executemany(_KEEP, _all(store))
        store.execute(_STATE_IT, (_LEARNED, *store.execute(_STATE).fetchone()))


def _is_new(store: sqlite3.Connection) -> bool:
    return bool(store.execute(_STATED, (_LEARNED,)).fetchone() != store.execute(_STATE).fetchone())


def compacted_of(store: sqlite3.Connection) -> list[Compacted]:
    """The automatic compactions that tell of a model's window, in the order of time."""
    smaller = store.execute(_SMALLER).fetchall()
    return [
        one
        for one in map(Compacted._make, store.execute(_COMPACTED))
        if not any(_holds(setting, one) for setting in smaller)
    ]


def calls_before(store: sqlite3.Connection, one: Compacted) -> list[tuple[int, int]]:
    """Context and output of each call of the window that a compaction ended, in tokens."""
    return store.execute(_CALLS, (one.thread_id, one.epoch, one.branch, one.call)).fetchall()


def _all(store: sqlite3.Connection) -> list[Row]:
    compacted = compacted_of(store)
    limits = list(limits_of(store, compacted))
    buffers = {scope: (value, count) for _, scope, _, value, count in buffers_of(compacted)}
    latest = compacted[-MOST_EPOCHS:]
    epochs = [epoch for one in latest if (epoch := epoch_of(store, one, buffers)) is not None]
    return [*limits, *buffers_of(compacted), *priors_of(epochs), *ranges_of(epochs)]


def _holds(setting: tuple[str | None, int, int, int], one: Compacted) -> bool:
    """Whether a setting may have held when a session was compacted."""
    project, first_seen_ms, changed_ms, last_seen_ms = setting
    if project is not None and project != one.project:
        return False
    return min(first_seen_ms, changed_ms) <= (one.time_ms or 0) <= last_seen_ms


def limits_of(store: sqlite3.Connection, compacted: list[Compacted]) -> Iterator[Row]:
    """What each model's window showed itself to be, from when on, as long as nothing else showed."""
    shown: dict[str, list[tuple[int, int, int]]] = {}
    for tokens, time_ms, model, asked in store.execute(_LARGE):
        shown.setdefault(asked or model, []).append((time_ms, lift_window(DEFAULT_CONTEXT_LIMIT, tokens), tokens))
    for one in compacted:
        if one.pre_tokens <= DEFAULT_CONTEXT_LIMIT:
            seen = (one.time_ms or 0, DEFAULT_CONTEXT_LIMIT, one.pre_tokens)
            shown.setdefault(one.asked or one.model, []).append(seen)
    for model in sorted(shown):
        for limit, run in groupby(sorted(shown[model]), key=lambda one: one[1]):
            since_ms, _, context = next(run)
            yield "limit", model, since_ms, limit, context


def _limit(one: Compacted) -> int:
    return lift_window(DEFAULT_CONTEXT_LIMIT, one.pre_tokens)


def buffers_of(compacted: list[Compacted]) -> Iterator[Row]:
    """The median of what the last compactions of a limit and version line left free."""
    left: dict[str, list[int]] = {}
    for one in compacted:
        free = _limit(one) - one.pre_tokens
        if LEAST_BUFFER <= free <= MOST_BUFFER:
            left.setdefault(buffer_scope(_limit(one), one.model, one.version), []).append(free)
    for scope in sorted(left):
        last = sorted(left[scope][-LAST_COMPACTIONS:])
        if len(last) >= LEAST_COMPACTIONS:
            yield "buffer", scope, 0, int(quantile(last, 0.5)), len(last)


def epoch_of(store: sqlite3.Connection, one: Compacted, buffers: dict[str, tuple[float, int]]) -> Epoch | None:
    """The calls that led to a compaction; None where they are few, or it came far from where it is expected."""
    limit = _limit(one)
    seen = buffers.get(buffer_scope(limit, one.model, one.version))
    trigger = limit - (int(seen[0]) if seen else usual_buffer(one.model, one.version))
    if not limit - MOST_BUFFER <= one.pre_tokens:
        return None
    calls = calls_before(store, one)
    if not calls:
        return None
    first = calls[0][0]
    points = tuple(
        (trigger - context - output, context - first, place, len(calls) - 1 - place)
        for place, (context, output) in enumerate(calls[:-1])
        if place >= FIRST_POINT and context + output < trigger
    )
    return Epoch(one.project or "", points) if points else None


def priors_of(epochs: list[Epoch]) -> Iterator[Row]:
    """By how much windows grew a call until they were compacted: the median over their calls, of all and by project.

    Few epochs tell little, so that of all is drawn to what is usual, and a project's to that of all.
    """
    if not epochs:
        return
    by_project: dict[str, list[Epoch]] = {}
    for epoch in epochs:
        by_project.setdefault(epoch.project, []).append(epoch)
    of_all = _drawn(_prior(epochs), PRIOR, len(epochs), EPOCHS_OF_PRIOR)
    yield "prior", "", 0, round(of_all, 1), len(epochs)
    for project in sorted(by_project):
        count = len(by_project[project])
        if project and count >= LEAST_EPOCHS:
            value = _drawn(_prior(by_project[project]), of_all, count, EPOCHS_OF_PRIOR)
            yield "prior", project, 0, round(value, 1), count


def _drawn(value: float, usual: float, count: int, weight: int) -> float:
    """A value of so many, drawn to what is usual as if that were of `weight`."""
    return (count * value + weight * usual) / (count + weight)


def _prior(epochs: Iterable[Epoch]) -> float:
    return quantile(sorted(left / calls for epoch in epochs for left, _, _, calls in epoch.points), 0.5)


def ranges_of(epochs: list[Epoch]) -> Iterator[Row]:
    """What held 80 % of the truth, as shares of what would have been forecast, by horizon."""
    if len(epochs) < LEAST_EPOCHS_OF_RANGES:
        return
    priors = {scope: value for _, scope, _, value, _ in priors_of(epochs)}
    shares: list[list[float]] = [[] for _ in range(len(HORIZONS) + 1)]
    for epoch in epochs:
        prior = priors.get(epoch.project) or priors.get("") or PRIOR
        for left, grown, calls, truth in epoch.points:
            predicted = left / growth_of(grown, calls, prior)
            shares[horizon_of(predicted)].append(truth / predicted)
    for horizon, found in enumerate(shares):
        if len(found) >= LEAST_POINTS:
            found.sort()
            for kind, quantity, usual in zip((LOW, HIGH), (0.1, 0.9), RANGES[horizon], strict=True):
                value = _drawn(quantile(found, quantity), usual, len(epochs), EPOCHS_OF_RANGES)
                yield kind, str(horizon), 0, round(value, 3), len(found)
