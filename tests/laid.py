"""New stores laid from a copy: Alembic lays one in each test process, and the others follow its statements.

That lays the same bytes at a tenth of the cost. Only a store that is laid anew is copied; whatever is there is
upgraded as the program does it, and so is all that a process of its own lays.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from crusts_index.store import upgrade
from crusts_index.store.open import open_store

_migrate = upgrade._migrate

_MADE = "select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid"
_TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid"


def blank() -> bytes:
    """A store with nothing in it, laid by the migrations."""
    return _first()[0]


@contextmanager
def laid_by_copy() -> Iterator[None]:
    """Inside, a store that this process lays anew is a copy."""
    with _laying(_copy):
        yield


@contextmanager
def laid_by_migrations() -> Iterator[None]:
    """Inside, every store is laid as for a user."""
    with _laying(_migrate):
        yield


@contextmanager
def _laying(how: Any) -> Iterator[None]:
    before = upgrade._migrate
    upgrade._migrate = how
    try:
        yield
    finally:
        upgrade._migrate = before


def _copy(path: str) -> bool:
    """Lay the store in one transaction, write lock first, as the migrations are run."""
    with closing(sqlite3.connect(path, timeout=upgrade.TIMEOUT, isolation_level=None)) as store:
        store.execute("begin immediate")
        if not store.execute("select count(*) from sqlite_master").fetchone()[0]:
            for statement, rows in _first()[1]:
                store.executemany(statement, rows) if rows else store.execute(statement)
            store.execute("commit")
            return True
        store.execute("rollback")
    return _migrate(path)


@cache
def _first() -> tuple[bytes, list[tuple[str, list[Any]]]]:
    """A store laid by the migrations, and what makes its like: tables and all that is in them, in their order."""
    with laid_by_migrations(), tempfile.TemporaryDirectory(prefix="crusts-blank-") as folder:
        path = Path(folder) / "index.db"
        upgrade.ensure(path)
        with closing(open_store(path)) as store:
            made: list[tuple[str, list[Any]]] = [(sql, []) for (sql,) in store.execute(_MADE)]
            for (name,) in store.execute(_TABLES).fetchall():
                rows = store.execute(f'select * from "{name}"').fetchall()
                if rows:
                    made.append((f'insert into "{name}" values ({", ".join("?" * len(rows[0]))})', rows))
        return path.read_bytes(), made
