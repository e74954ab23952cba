"""A store of each released revision, `<revision>.db`; `python -m tests.stores` writes that of the newest."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from crusts_index.store.open import HEAD, open_store, transaction
from crusts_index.store.schema import metadata
from crusts_index.store.upgrade import ensure

FOLDER = Path(__file__).parent
VALUES = {"INTEGER": 1, "TEXT": "text", "BLOB": b"blob", "FLOAT": 1.5}


def fill(connection: sqlite3.Connection) -> None:
    """One row in each table with a value in each column; every key is 1, so that all references hold."""
    with transaction(connection):
        for table in metadata.sorted_tables:
            if table.name != "store_facts":  # laid by the program
                row: dict[str, Any] = {column.name: VALUES[str(column.type)] for column in table.columns}
                names = ", ".join(f'"{name}"' for name in row)
                marks = ", ".join(f":{name}" for name in row)
                connection.execute(f'insert into "{table.name}" ({names}) values ({marks})', row)


def write(path: Path) -> None:
    """A store of the newest revision in one file, with a row in each table."""
    path.unlink(missing_ok=True)
    ensure(path)
    with closing(open_store(path, write=True)) as connection:
        fill(connection)
        connection.execute("vacuum")
        connection.execute("pragma journal_mode = delete")


def write_newest() -> Path:
    """`<revision>.db` here, made anew."""
    path = FOLDER / f"{HEAD}.db"
    write(path)
    return path
