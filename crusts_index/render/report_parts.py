"""What reports are put together from, for HTML and Markdown: tables, bars, texts to copy, and how numbers look."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from crusts_index.folders import last_part
from crusts_index.render import text


class Column(NamedTuple):
    """A column. `kind`: text, words (several), date, number, path or category; `basis`: what numbers are, if any."""

    name: str
    kind: str = "text"
    basis: str = ""


def numbers(basis: str, *names: str) -> tuple[Column, ...]:
    """Columns of numbers that have the same basis."""
    return tuple(Column(name, "number", basis) for name in names)


class Share(NamedTuple):
    """A number with a bar behind it, `percent` of the column's width."""

    said: str
    percent: float

    def __str__(self) -> str:
        return self.said


class Table(NamedTuple):
    """Rows of words, numbers already in words; `has_total`: the last one is the sum. `more` rows are left out."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    has_total: bool = False
    more: int = 0


class Segment(NamedTuple):
    """A part of a bar. `start` and `percent` are of the bar's width; `key` names its colour."""

    key: str
    name: str
    start: float
    percent: float
    said: str


class Tile(NamedTuple):
    """One number that stands by itself."""

    name: str
    value: str
    basis: str = ""
    note: str = ""


class Copy(NamedTuple):
    """A text to paste."""

    id: str
    title: str
    body: str


def segments(parts: Iterable[tuple[str, str, float, str]], least: float = 0.5) -> list[Segment]:
    """A bar of parts (key, name, amount, said) in their order; those below `least` per cent are not drawn."""
    given = [part for part in parts if part[2] > 0]
    total = sum(part[2] for part in given)
    drawn = [part for part in given if part[2] / total * 100 >= least]
    whole = sum(part[2] for part in drawn)
    found: list[Segment] = []
    start = 0.0
    for key, name, amount, said in drawn:
        percent = amount / whole * 100
        found.append(Segment(key, name, round(start, 3), round(percent, 3), said))
        start += percent
    return found


def shares(values: Sequence[float], words: Iterable[str]) -> list[Share]:
    """Numbers with bars, the largest one full."""
    most = max(values, default=0) or 1
    return [Share(said, round(max(0.0, value) / most * 100, 2)) for value, said in zip(values, words, strict=True)]


def count(value: float | None) -> str:
    """A whole number with separators."""
    return text.NULL if value is None else f"{value:,.0f}"


def signed(value: float | None) -> str:
    """The same with its sign."""
    return text.NULL if value is None else f"{value:+,.0f}" if value else "0"


def change_words(percent: float | None) -> str:
    """A change in per cent."""
    return text.NULL if percent is None else f"{percent:+,.1f}"


def when(time_ms: int | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A moment in the user's zone."""
    if time_ms is None:
        return text.NULL
    try:
        return time.strftime(form, time.localtime(time_ms / 1000))
    except (ValueError, OverflowError, OSError):
        return text.NULL


def zone() -> str:
    """The user's zone as it is called now."""
    return time.strftime("%Z") or "UTC"


def name_of(project: str | None) -> str:
    """The last part of a project's path (D3)."""
    project = project or ""
    return last_part(project) or "no project"


def inside(path: str | None, project: str | None) -> str:
    """A path within the project, whole if it lies elsewhere."""
    base = (project or "").rstrip("/")
    path = path or ""
    return path[len(base) + 1 :] if base and path.startswith(base + "/") else path


def file_name(*words: str) -> str:
    """A name for a file of its own from ids, whatever is in them."""
    kept = ["".join(char for char in word if char.isascii() and (char.isalnum() or char in "-_"))[:8] for word in words]
    return "-".join(word or "x" for word in kept)
