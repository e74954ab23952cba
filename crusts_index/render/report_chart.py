"""The curve of a window call by call, as geometry: bands by category, compactions, and what each call shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from crusts_index.insight.session.facts import CATEGORIES, Compaction
from crusts_index.insight.session.numbers import ESTIMATED, EXACT
from crusts_index.insight.window.curve import Point
from crusts_index.render import text
from crusts_index.render.contents import category_name
from crusts_index.render.report_parts import count, signed, when

STACKED = ("system", "state", "tools", "retrieved", "conversation", "user")
"""From the bottom: what hardly moves comes first."""
UNDIVIDED = "undivided"

_MOST_DRAWN = 600  # columns; more than a screen shows apart
_LABEL_LEAST = 7.0  # per cent of the height that a band needs to carry its name
_NEAR = 1.35  # a limit this much above the peak is still worth the room
_MANY_CUTS = 16
_WIDEST = 5.0  # per cent of the width that a column takes at most


class Band(NamedTuple):
    """An area: its colour's key and its outline in a box of 1000 by 1000."""

    key: str
    outline: str


class Mark(NamedTuple):
    """Something at a place of the chart, in per cent of its width or height."""

    at: float
    said: str
    title: str = ""


class Pillar(NamedTuple):
    """One column, all in per cent; it stands on the floor and begins at `top`."""

    x: float
    width: float
    top: float


class Label(NamedTuple):
    """The name of a band where it is widest."""

    x: float
    y: float
    anchor: str
    said: str


class Slot(NamedTuple):
    """A number of the call that is chosen: `form` plain, signed or text; `said` is that of the last call."""

    name: str
    form: str
    key: str
    basis: str
    said: str


class Chart(NamedTuple):
    """All that is drawn, and what a script needs to show one call after the other."""

    id: str
    title: str
    unit: str
    bands: list[Band]
    line: str
    columns: list[Pillar]
    cuts: list[Mark]
    levels: list[Mark]
    ticks_x: list[Mark]
    ticks_y: list[Mark]
    labels: list[Label]
    slots: list[Slot]
    head: str
    data: dict[str, Any]


def curve_chart(
    id: str,
    points: Sequence[Point],
    cuts: Sequence[Compaction],
    levels: Sequence[tuple[str, int]] = (),
    top: float | None = None,
) -> Chart | None:
    """The curve of a session's live path; None without a call. `levels` are drawn if the curve comes near them."""
    if not points:
        return None
    peak = max(point.call.context_tokens for point in points)
    near = [(name, value) for name, value in levels if value <= peak * _NEAR]
    step, top = scale(max([peak, top or 0, *(value for _, value in near)]))
    drawn = _drawn(points)
    divided = [part for run in drawn for part in _split(run, points)]
    bands = [Band(key, "".join(_area(run, points, key, top) for run in divided)) for key in (*STACKED, UNDIVIDED)]
    last = points[-1]
    slots = [
        Slot("context", "plain", "", EXACT, count(last.call.context_tokens)),
        Slot("growth", "signed", "", EXACT, signed(last.growth)),
    ]
    slots += [
        Slot(category_name(name), "plain", name, ESTIMATED, count(last.bands[place] if last.bands else None))
        for place, name in enumerate(CATEGORIES)
    ]
    heads = [_head(point, len(points)) for point in points]
    return Chart(
        id=id,
        title=f"Context of {text.plural(len(points), 'call')}",
        unit="call",
        bands=[band for band in bands if band.outline],
        line="".join(_line(run, points, top) for run in drawn),
        columns=[],
        cuts=_cuts(points, cuts),
        levels=[Mark(_height(value, top), f"{name} {_round_tokens(value)}") for name, value in near],
        ticks_x=_numbers(len(points)),
        ticks_y=ticks(step, top),
        labels=_labels(points, divided, top),
        slots=slots,
        head=heads[-1],
        data={
            "heads": heads,
            "values": [
                [point.call.context_tokens, point.growth, *(point.bands or (None,) * len(CATEGORIES))]
                for point in points
            ],
            "top": top,
        },
    )


def column_chart(
    id: str,
    title: str,
    unit: str,
    columns: Sequence[tuple[str, str, float]],
    slots: Sequence[tuple[Slot, list[Any]]],
    form: Any,
    top: float | None = None,
) -> Chart | None:
    """One column each for (name on the axis, head, height); `slots` with their values column by column."""
    if not columns:
        return None
    step, top = scale(top or max(height for _, _, height in columns))
    slot = 100 / len(columns)
    wide = min(_WIDEST, 0.82 * slot)
    marks = [
        Pillar(round((place + 0.5) * slot - wide / 2, 3), round(wide, 3), _height(height, top))
        for place, (_, _, height) in enumerate(columns)
    ]
    some = _spread(len(columns), 6)
    return Chart(
        id=id,
        title=title,
        unit=unit,
        bands=[],
        line="",
        columns=marks,
        cuts=[],
        levels=[],
        ticks_x=[Mark(round((place + 0.5) * slot, 2), columns[place][0]) for place in some],
        ticks_y=ticks(step, top, form),
        labels=[],
        slots=[slot for slot, _ in slots],
        head=columns[-1][1],
        data={
            "heads": [head for _, head, _ in columns],
            "values": [list(row) for row in zip(*(values for _, values in slots), strict=True)],
            "heights": [round(height, 4) for _, _, height in columns],
            "top": top,
        },
    )


def scale(most: float) -> tuple[float, float]:
    """A step that reads well, and the multiple of it at or above `most`."""
    if most <= 0:
        return 1, 1
    rough = most / 4
    magnitude = 10 ** math.floor(math.log10(rough))
    step = next(magnitude * factor for factor in (1, 2, 2.5, 5, 10) if magnitude * factor >= rough)
    return step, step * math.ceil(most / step - 1e-9)


def _round_tokens(value: float) -> str:
    return text.tokens(value).replace(".0", "")


def ticks(step: float, top: float, form: Any = _round_tokens) -> list[Mark]:
    """Marks on the upright axis, none at nothing."""
    return [Mark(_height(step * place, top), form(step * place)) for place in range(1, round(top / step) + 1)]


def _head(point: Point, calls: int) -> str:
    call = point.call
    where = f"{when(call.time_ms)} · message {call.message:,}"
    return f"Call {point.number:,} of {calls:,} · {where} · {call.model}"


def _height(value: float, top: float) -> float:
    return round(100 - 100 * value / top, 2)


def _drawn(points: Sequence[Point]) -> list[list[int]]:
    """The places that are drawn, a run for each window: of many, the fullest of each stretch and both ends."""
    runs: list[list[int]] = []
    for place, point in enumerate(points):
        if not place or points[place - 1].call.epoch != point.call.epoch:
            runs.append([])
        runs[-1].append(place)
    wide = -(-len(points) // _MOST_DRAWN)
    if wide == 1:
        return runs
    thinned = []
    for run in runs:
        fullest = (
            max(run[start : start + wide], key=lambda place: points[place].call.context_tokens)
            for start in range(0, len(run), wide)
        )
        thinned.append(sorted({run[0], run[-1], *fullest}))
    return thinned


def _split(run: Sequence[int], points: Sequence[Point]) -> list[list[int]]:
    """A run in parts that are divided by category throughout, or not at all."""
    return [list(part) for _, part in groupby(run, key=lambda place: points[place].bands is None)]


def _edges(run: Sequence[int], tops: Sequence[float], count: int) -> list[tuple[float, float]]:
    """A line over a run, level for half a step at both ends so that a single call has a width."""
    wide = 1000 / count
    found = [(run[0] * wide, tops[0])]
    found += [((place + 0.5) * wide, top) for place, top in zip(run, tops, strict=True)]
    return [*found, ((run[-1] + 1) * wide, tops[-1])]


def _area(run: Sequence[int], points: Sequence[Point], key: str, top: float) -> str:
    lower, upper = [], []
    for place in run:
        below, above = _extent(points[place], key)
        lower.append(1000 - 1000 * below / top)
        upper.append(1000 - 1000 * above / top)
    if lower == upper:
        return ""
    edge = _edges(run, upper, len(points)) + _edges(run, lower, len(points))[::-1]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in edge) + "Z"


def _extent(point: Point, key: str) -> tuple[float, float]:
    """From where to where a band goes at a call, in tokens."""
    if point.bands is None:
        return (0, point.call.context_tokens) if key == UNDIVIDED else (0, 0)
    below = 0
    for name in STACKED:
        tokens = point.bands[CATEGORIES.index(name)]
        if name == key:
            return below, below + tokens
        below += tokens
    return below, below


def _line(run: Sequence[int], points: Sequence[Point], top: float) -> str:
    tops = [1000 - 1000 * points[place].call.context_tokens / top for place in run]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _edges(run, tops, len(points)))


def _cuts(points: Sequence[Point], cuts: Sequence[Compaction]) -> list[Mark]:
    found = []
    by_epoch = {one.epoch: (number, one) for number, one in enumerate(cuts, 1) if one.on_path}
    for place, point in enumerate(points):
        if place and points[place - 1].call.epoch == point.call.epoch:
            continue
        number, one = by_epoch.get(point.call.epoch, (0, None))
        if one is None:
            continue
        before = points[place - 1].call.context_tokens if one.pre_tokens is None and place else one.pre_tokens
        how = one.trigger or ("inferred" if one.detection != "marker" else "trigger not logged")
        said = f"Compaction {number}, {how}: {count(before)} → {count(point.call.context_tokens)} tokens"
        found.append(Mark(round(100 * place / len(points), 3), str(number), said))
    if len(found) > _MANY_CUTS:
        return [mark._replace(said="") for mark in found]
    return found


def _numbers(count: int) -> list[Mark]:
    return [Mark(round(100 * (place + 0.5) / count, 2), f"{place + 1:,}") for place in _spread(count, 6)]


def _spread(count: int, most: int) -> list[int]:
    """Up to `most` places, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def _labels(points: Sequence[Point], runs: Sequence[Sequence[int]], top: float) -> list[Label]:
    """Each band's name where it is widest, if there is room for it, kept clear of where its window ends."""
    found = []
    for key in STACKED:
        place = max(range(len(points)), key=lambda one: _width(points[one], key))
        below, above = _extent(points[place], key)
        if (above - below) / top * 100 < _LABEL_LEAST:
            continue
        run = next((run for run in runs if run[0] <= place <= run[-1]), [place])
        along = (place - run[0] + 0.5) / (run[-1] - run[0] + 1)
        anchor, shift = ("start", 1.0) if along < 0.3 else ("end", -1.0) if along > 0.7 else ("middle", 0.0)
        x = 100 * (place + 0.5) / len(points) + shift
        found.append(Label(round(x, 2), _height((below + above) / 2, top), anchor, category_name(key)))
    return found


def _width(point: Point, key: str) -> float:
    below, above = _extent(point, key)
    return above - below
