"""Queries and views without sums, all from rows: those that are made of sums are held to them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_FOLDER = Path(__file__).parent
VIEWS = ("sessions_overview", "cost_by_day", "threads_overview")
QUERIES = tuple(sorted(path.stem for path in _FOLDER.glob("*.sql") if path.stem not in VIEWS))


def text_of(name: str) -> str:
    """The statement; of a view the query in it."""
    text = (_FOLDER / f"{name}.sql").read_text("utf-8")
    return text.partition(f"create view {name} as")[2] if name in VIEWS else text


def rows(store: sqlite3.Connection, name: str, **given: object) -> list[tuple[object, ...]]:
    """What it gives."""
    return store.execute(text_of(name), given).fetchall()
