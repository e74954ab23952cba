"""The search file as a database: which one is ours, how it is laid, and what is wrong with it."""

import os
import sqlite3
from contextlib import closing, suppress

from crusts_index.errors import CrustsError
from crusts_index.regular import is_regular
from crusts_index.store.open import demand_regular, keep_private, read_only, uri

TIMEOUT = 10.0
"""Seconds to wait for another writer."""
ALIEN = '{} is a database of another program: move it away, or set "search": false in config.json'
TOKENS = "tokenize = 'unicode61 remove_diacritics 2'"
"""How FTS5 is to part texts into words, here and wherever the same words must come of them."""
_OURS = 0x63727573  # application_id: a file that another program made is left alone
_LAYOUT = 2  # user_version: a file of another layout is made again
_LAY = (
    # Words and their places alone: the text is in the store. So a text can be added, but not be taken out again.
    f"create virtual table words using fts5 (text, content = '', {TOKENS})",
    """create table marks (transcript_id integer primary key, stamp text not null, last integer not null,
       texts integer not null, checksum integer not null)""",
    f"pragma application_id = {_OURS}",
    f"pragma user_version = {_LAYOUT}",
)


def is_ours(path: str) -> bool:
    """Whether there is a file that we made, or that may be ours but is damaged."""
    if not is_regular(path):
        return False
    try:
        with closing(read_only(path, TIMEOUT)) as search:
            return _state(search)[0] == _OURS
    except sqlite3.Error:
        return True


def is_older(path: str) -> bool:
    """Whether it is a file of ours of an older layout: those held the texts, and were made whether or not one asked."""
    try:
        with closing(read_only(path, TIMEOUT)) as search:
            application, layout = _state(search)
            return application == _OURS and layout < _LAYOUT
    except sqlite3.Error:
        return False


def open_to_write(path: str, timeout: float) -> sqlite3.Connection:
    """The file, made where there is none, open to its owner alone. Raises CrustsError for another program's."""
    demand_regular(path)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    keep_private(path)
    search = sqlite3.connect(uri(path, "mode=rw"), timeout=timeout, isolation_level=None, uri=True)
    try:
        _lay(search, path)
    except BaseException:
        search.close()
        raise
    return search


def _lay(search: sqlite3.Connection, path: str) -> None:
    """The tables, if there are none yet. Raises CrustsError for a database of another program."""
    state = _state(search)
    if state == (_OURS, _LAYOUT):
        return
    if state[0] != _OURS and search.execute("select 1 from sqlite_master").fetchone():
        raise CrustsError(ALIEN.format(path))  # looked at only: not a byte of it is ours to change
    search.execute("pragma journal_mode = wal")
    search.execute("begin immediate")
    state = _state(search)  # another process may have been quicker
    if state == (0, 0) and not search.execute("select 1 from sqlite_master").fetchone():
        for statement in _LAY:
            search.execute(statement)
    elif state[0] != _OURS:
        search.execute("rollback")
        raise CrustsError(ALIEN.format(path))
    elif state[1] != _LAYOUT:
        search.execute("rollback")
        raise OutdatedError("another layout")
    search.execute("commit")


class OutdatedError(sqlite3.DatabaseError):
    """A search file of another layout, or with words of a text that is no more: it must be made again."""


def _state(search: sqlite3.Connection) -> tuple[int, int]:
    (application,), (layout,) = (
        search.execute(f"pragma {name}").fetchone() for name in ("application_id", "user_version")
    )
    return application, layout


def kind_of(error: sqlite3.Error) -> int:
    """SQLite's primary result code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_damage(error: sqlite3.Error) -> bool:
    """Whether making the file again mends it: damage, and tables that are not there or look otherwise."""
    kinds = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
    return isinstance(error, OutdatedError) or kind_of(error) in kinds
