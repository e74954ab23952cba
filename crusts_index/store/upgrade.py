"""Lays a new store from one SQL file, brings an old one up to date by Alembic; views by text.

SQLAlchemy and Alembic are imported only for a store of an older revision.
"""

import os
from contextlib import closing, contextmanager, nullcontext, suppress

from crusts_index.errors import CrustsError
from crusts_index.folders import make_private
from crusts_index.resources import resource_path
from crusts_index.store.driver import sqlite3
from crusts_index.store.laid import LAID, fingerprint, read_state, watched
from crusts_index.store.open import (
    HEAD,
    demand_regular,
    explain,
    keep_private,
    read_only,
    roll_back_killed,
    share,
)
from crusts_index.store.private import is_ours, open_to_others
from crusts_index.store.query import view_scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from crusts_index.store.laid import Tell
    from crusts_index.store.open import StorePath

_SMALLEST = 512  # bytes: SQLite takes what is less than its smallest page for an empty file, and lays over it

_UPGRADING = (
    "pragma foreign_keys = off",
    "pragma cache_size = -32000",  # KiB
    # Pages that no table needs any more are not written full of zeros first: they are given away at the end.
    "pragma secure_delete = off",
)
TIMEOUT = 120.0  # seconds: another process may be upgrading a store of years

# How much of the whole is done when a part of it is: the copy of the old file, the scripts, what is behind them.
_COPIED, _MIGRATED, _CHECKED = 0.06, 0.66, 0.92
_WORTH_SHRINKING = 0.2  # of the pages
_PAGES_AT_ONCE = 4096
_TIDYING = 2.0  # seconds to wait for others with what can be left undone

_CREATED = "select name, sql from sqlite_master where type = 'view' order by rowid"
_ORPHANS = 'select "table", parent, count(*) from pragma_foreign_key_check group by 1, 2'
_NOTE_LAID = "insert or replace into store_facts (name, value) values ('views', ?)"


def revision(path: "StorePath") -> str | None:
    """The revision of the store at `path`; None if there is none yet.

    Raises CrustsError for a file that is no store, or newer than the program, or cannot be read.
    """
    return _state(os.path.abspath(path), TIMEOUT)[0]


def ensure(path: "StorePath", *, timeout: float = TIMEOUT) -> bool:
    """Make the store at `path`, or bring it up to date, views included; True if anything was done.

    All or nothing: where it fails the store is as it was. The old file is copied beside it first, as
    `<name>.<revision>.bak`. Any number of processes may do this at once, threads may not; `timeout` is how
    many seconds to wait for another one at it. A store that is up to date is only read.
    Raises CrustsError for a store newer than the program, and for one that cannot be made or written.
    """
    path = os.path.abspath(path)
    if _state(path, timeout) == (HEAD, fingerprint()):
        return False
    try:
        _make_file(path)
        lock = share(path, timeout)
        try:
            return _bring_up(path, timeout)
        finally:
            lock.release()
    except OSError as error:
        raise CrustsError(f"the store at {path} cannot be made: {error.strerror}; name another with --db") from error
    except sqlite3.Error as error:
        raise explain(error, path) from error


@contextmanager
def upgrading(path: str, timeout: float = TIMEOUT) -> "Iterator[Connection]":
    """An SQLAlchemy connection on which a whole upgrade is one transaction, write lock first.

    `timeout` is how many seconds to wait for that lock.
    Foreign keys are off on it: a table that is made again would take its children's rows along.
    """
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
        for pragma in _UPGRADING:
            connection.execute(pragma)
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=StaticPool)
    # The driver would begin no earlier than at the first insert and leave half-made tables behind.
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("begin immediate"))
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise error.orig from error
        raise
    finally:
        engine.dispose()


def _state(path: str, timeout: float) -> tuple[str | None, str | None]:
    """Revision and views' fingerprint of a store that may not be there."""
    demand_regular(path)
    try:
        size = os.path.getsize(path)
        if not size:
            return None, None
        if size < _SMALLEST:
            raise CrustsError(f"{path} is not an SQLite file: name another with --db, or move it away")
        with closing(_read_sound(path, timeout)) as store:
            return read_state(store, path)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        raise CrustsError(f"the store at {path} cannot be read: {error.strerror}; name another with --db") from error
    except sqlite3.Error as error:
        raise explain(error, path) from error


def _read_sound(path: str, timeout: float) -> sqlite3.Connection:
    try:
        return read_only(path, timeout)
    except sqlite3.OperationalError:
        if not roll_back_killed(path, timeout):
            raise
        return read_only(path, timeout)


def _make_file(path: str) -> None:
    """An empty file only its owner can read, in a folder likewise if it is made here or ours. Spec: D16."""
    folder = os.path.dirname(path)
    make_private(folder)
    home = os.path.abspath(os.environ.get("CRUSTS_HOME") or os.path.expanduser("~/.claude-crusts"))
    if folder == home and open_to_others(home) and is_ours(home, path):
        os.chmod(home, 0o700)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    keep_private(path)


def _bring_up(path: str, timeout: float) -> bool:
    """Look again under the write lock: another process may have done it meanwhile."""
    with closing(sqlite3.connect(path, timeout=timeout, isolation_level=None)) as store:
        store.execute("begin immediate")
        found, laid = read_state(store, path)
        if found == HEAD:
            if laid != fingerprint():
                lay_views(store)
            store.execute("commit")
            return laid != fingerprint()
        if found is None and _is_bare(store) and _lay_newest(store):
            store.execute("commit")
            _keep_log(store)
            return True
        store.execute("rollback")
    size = os.path.getsize(path)
    watch = watched.asked if found is not None else None
    with watch(size) if watch is not None else nullcontext() as tell:
        done = _migrate(path, timeout, _scaled(tell, size))
        with closing(sqlite3.connect(path, timeout=min(timeout, _TIDYING), isolation_level=None)) as store:
            _keep_log(store)
            if done and found is not None:
                _shrink(store)
    return done


def _scaled(tell: "Tell | None", size: int) -> "Callable[[float], None]":
    """What is told which part of the whole is done."""
    return lambda part: tell(int(size * part), size) if tell is not None else None


def _keep_log(store: sqlite3.Connection) -> None:
    """Turn to WAL; whoever writes next does it if this cannot."""
    with suppress(sqlite3.OperationalError):
        store.execute("pragma journal_mode = wal")


def _shrink(store: sqlite3.Connection) -> None:
    """Give back the pages that are in use no more, and the log; where there is no room for that it stays as it is."""
    (pages,) = store.execute("pragma page_count").fetchone()
    (free,) = store.execute("pragma freelist_count").fetchone()
    with suppress(sqlite3.Error):
        if free > pages * _WORTH_SHRINKING:
            store.execute("vacuum")
        store.execute("pragma wal_checkpoint(truncate)")


def _is_bare(store: sqlite3.Connection) -> bool:
    """Whether nothing at all is in the file: views of the user's would have to be laid again."""
    return store.execute("select 1 from sqlite_master limit 1").fetchone() is None


def _lay_newest(store: sqlite3.Connection) -> bool:
    """The newest revision at once: going there by the scripts takes as long as reading 30 MB of transcripts.

    False where the file is of another revision, as it is while a new one is written.
    """
    with open(resource_path("migrations", "newest.sql"), encoding="utf-8") as file:
        statements = [part for part in file.read().split(";\n") if part.strip()]
    if f"'{HEAD}'" not in statements[-1]:
        return False
    for statement in statements:
        store.execute(statement)
    lay_views(store)
    return True


def _migrate(path: str, timeout: float, tell: "Callable[[float], None]") -> bool:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", resource_path("migrations").replace("%", "%%"))
    with upgrading(path, timeout) as connection:
        store = connection.connection.driver_connection
        assert isinstance(store, sqlite3.Connection)
        found, _ = read_state(store, path)
        if found == HEAD:
            return False
        if found is not None:
            _back_up(path, _copy_name(path, found), tell)
        theirs = _drop_views(store)
        config.attributes["connection"] = connection
        config.attributes["tell"] = lambda part: tell(_COPIED + (_MIGRATED - _COPIED) * part)
        command.upgrade(config, "head")
        _lay_again(store, theirs)
        _check_references(store, path, found)
    tell(_CHECKED)
    return True


def lay_views(store: sqlite3.Connection) -> None:
    """Our views as their files say; those laid before and no longer there go."""
    scripts = view_scripts()
    for name in {*_laid_names(store), *(name for name, _ in scripts)}:
        store.execute(f'drop view if exists "{name}"')
    for _, script in scripts:
        store.execute(script)
    store.execute(_NOTE_LAID, (" ".join([fingerprint(), *(name for name, _ in scripts)]),))


def _drop_views(store: sqlite3.Connection) -> list[tuple[str, str]]:
    """Drop every view, since one over a table that is made again stops the upgrade; returns the user's own."""
    views: list[tuple[str, str]] = store.execute(_CREATED).fetchall()
    ours = _laid_names(store) if views else []
    for name, _ in views:
        quoted = name.replace('"', '""')
        store.execute(f'drop view "{quoted}"')
    return [(name, sql) for name, sql in views if name not in ours]


def _lay_again(store: sqlite3.Connection, views: list[tuple[str, str]]) -> None:
    for _, sql in views:
        with suppress(sqlite3.OperationalError):  # one of ours has the name now
            store.execute(sql)


def _laid_names(store: sqlite3.Connection) -> list[str]:
    laid = store.execute(LAID).fetchone()
    return str(laid[0]).split(" ")[1:] if laid else []


def _copy_name(path: str, found: str) -> str:
    return f"{path}.{found}.bak"


def _back_up(path: str, copy: str, tell: "Callable[[float], None]") -> None:
    """A copy of the store as it is committed, whole or not at all."""

    def copied(_: int, left: int, total: int) -> None:
        tell(_COPIED * (1 - left / total) if total else _COPIED)

    unfinished = f"{copy}.new"
    with suppress(FileNotFoundError):
        os.remove(unfinished)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(read_only(path, TIMEOUT)) as store, closing(sqlite3.connect(unfinished)) as target:
            target.execute("pragma journal_mode = off")  # a copy that is not whole is thrown away
            store.backup(target, pages=_PAGES_AT_ONCE, progress=copied)
        os.replace(unfinished, copy)
    except BaseException:
        with suppress(OSError):
            os.remove(unfinished)
        raise


def _check_references(store: sqlite3.Connection, path: str, found: str | None) -> None:
    """No row may have lost the row it refers to by the upgrade. Raises CrustsError."""
    orphans = _orphans(store)
    if orphans and found is not None:
        with closing(read_only(_copy_name(path, found), TIMEOUT)) as before:
            known = _orphans(before)
        orphans = {tables: count for tables, count in orphans.items() if count > known.get(tables, 0)}
    if orphans:
        raise CrustsError(
            f"the upgrade of the store at {path} would lose rows of {min(orphans)[0]}; it is left as it was"
        )


def _orphans(store: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """How many rows lack the row that they refer to, by both tables, whatever form these have."""
    counts: dict[tuple[str, str], int] = {}
    for child, parent, count in store.execute(_ORPHANS):
        tables = (_bare(child), _bare(parent))
        counts[tables] = counts.get(tables, 0) + int(count)
    return counts


def _bare(table: str) -> str:
    return table.removeprefix("stored_").removeprefix("api_")
