"""Rows by name: each query has a class whose fields are its columns."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crusts_index import rows
from crusts_index.rows.session import SessionText
from crusts_index.store import query
from crusts_index.store.open import open_store
from crusts_index.store.upgrade import ensure
from tests.kinds import kinds


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A fresh store."""
    ensure(tmp_path / "index.db")
    with closing(open_store(tmp_path / "index.db")) as connection:
        yield connection


def test_every_query_has_one_class() -> None:
    """Each file in `queries/` is named by one class, and each class names files that are there."""
    assert query.names() == sorted(kinds())


def test_fields_are_the_columns(store: sqlite3.Connection) -> None:
    """The fields of a class are what its queries select, in that order."""
    found = kinds()
    for name in query.names():
        cursor = store.execute(query.sql(name), dict.fromkeys(query.parameters(name)))
        assert [column[0] for column in cursor.description] == list(found[name]._fields), name


def test_every_query_gives_rows_of_its_class(store: sqlite3.Connection) -> None:
    """Null means no filter: each file runs with every parameter null, as in the sqlite3 shell."""
    for name, kind in kinds().items():
        found = query.rows(store, kind, name, **dict.fromkeys(query.parameters(name)))
        assert all(type(row) is kind for row in found), name


def test_a_row_has_names_and_is_a_tuple(store: sqlite3.Connection, tmp_path: Path) -> None:
    """Values are read by field; a row equals the tuple that SQLite gives."""
    with closing(sqlite3.connect(tmp_path / "index.db")) as writer, writer:
        writer.execute("insert into texts values (1 << 40 | 7, 'hello')")
    (row,) = query.rows(store, SessionText, transcript=1)
    assert ("hello", 1 << 40 | 7) == (row.text, row.block_id)
    assert (1 << 40 | 7, "hello") == row
    assert "SessionText(block_id=1099511627783, text='hello')" == repr(row)


def test_rows_are_read_by_name() -> None:
    """Where rows are judged, none is counted through (`row[3]`) or poured out (`*row`)."""
    package = Path(rows.__file__).parent.parent
    for room in ("insight", "quick"):
        for path in sorted((package / room).rglob("*.py")):
            assert [] == re.findall(r"\brow\[-?\d|\brows\[-?\d+\]\[|\*row\b", path.read_text("utf-8")), path.name
