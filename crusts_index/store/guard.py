"""A guard on a connection for SQL of the user's: it only reads, and it ends."""

import sqlite3
import time
from typing import Any

from crusts_index.errors import CrustsError
from crusts_index.store.query import find_parameters
from crusts_index.tuples import NamedTuple

_READS = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_STEPS = 20_000  # of SQLite's machine between two looks at the clock: about a millisecond
_LONGEST = 64 << 20  # bytes of a value


class Result(NamedTuple):
    """Rows as SQLite gives them, and the names of their columns."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def run(store: sqlite3.Connection, text: str, *, seconds: float, limit: int) -> tuple[Result, bool]:
    """At most `limit` rows of one statement that reads, and whether there are more. Parameters are null.

    The connection is of no other use afterwards. Raises CrustsError for a statement that does anything but
    read, for one that SQLite does not understand, and for one that takes longer than `seconds`.
    """
    refused: list[str] = []
    store.set_authorizer(lambda action, one, two, *_: _allow(refused, action, one, two))
    store.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    store.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    end = time.monotonic() + seconds
    store.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    text = text.encode("utf-8", "replace").decode()
    try:
        cursor = store.execute(text, dict.fromkeys(find_parameters(text)))
        rows = cursor.fetchmany(limit + 1)
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise CrustsError(_explanation(error, refused, seconds)) from error
    finally:
        store.set_progress_handler(None, 0)
    if cursor.description is None:
        raise CrustsError("no statement that gives rows: say one SELECT")
    return Result([column[0] for column in cursor.description], rows[:limit]), len(rows) > limit


def _allow(refused: list[str], action: int, one: str | None, two: str | None) -> int:
    if action in _READS and two != "load_extension":
        return sqlite3.SQLITE_OK
    refused.append(one or two or "")
    return sqlite3.SQLITE_DENY


def _explanation(error: Exception, refused: list[str], seconds: float) -> str:
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        return f"stopped after {seconds:g} s: --seconds allows more"
    if refused:
        return "only statements that read are allowed here: SELECT, WITH, VALUES"
    return f"SQL: {error}"
