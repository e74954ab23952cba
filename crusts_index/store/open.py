"""Opens the store, guards its transactions, and says in one line what is wrong with it."""

import os

from crusts_index.errors import CrustsError, ignored
from crusts_index.regular import is_regular
from crusts_index.resources import resource_path
from crusts_index.store.driver import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.store.locks import Lock

    StorePath = str | os.PathLike[str]

TIMEOUT = 10.0  # seconds to wait for another writer
SIDE_FILES = ("-wal", "-shm")
# The newest revision this program knows, by the numbers the migrations' file names begin with.
HEAD = max(
    (name[:4] for name in os.listdir(resource_path("migrations", "versions")) if name[:4].isdigit()),
    default="0000",
)

_MEMORY = (
    "pragma cache_size = -16000",  # KiB; 64 MB is no faster and holds the memory
    "pragma temp_store = memory",
    "pragma mmap_size = 0",  # mapped pages count as memory, and nothing is quicker by them
)
_WRITING = (
    "pragma journal_mode = wal",
    "pragma synchronous = normal",
    "pragma wal_autocheckpoint = 8000",  # pages: a first index writes much, a checkpoint waits for the disk
    "pragma journal_size_limit = 33554432",
)


class Unlaid(CrustsError):  # noqa: N818 - what the store is, which is no fault
    """A store that is not there yet, or of an older crusts: `upgrade.ensure` makes it what it is to be."""


class _Writing(sqlite3.Connection):
    """Holds its share of the store lock until it is closed."""

    lock: "Lock | None" = None

    def close(self) -> None:
        super().close()
        if self.lock is not None:
            self.lock.release()


def open_store(
    path: "StorePath", *, write: bool = False, timeout: float = TIMEOUT, is_alone: bool = False
) -> sqlite3.Connection:
    """A connection to a store that is there; reading only, unless `write`. Transactions are the caller's.

    `timeout` is how many seconds to wait for a lock. A store on read-only media is read as it stands. Who writes
    shares the store lock as long as the connection is open, unless he holds it alone and says so (`locks`).
    Raises Unlaid if there is no store or an older one, CrustsError if it is newer than the program or cannot be opened.
    """
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise Unlaid(f"there is no store at {path} yet: run `crusts index`")
    store = None
    try:
        if write:
            keep_private(path)
        store = _connect_to_write(path, timeout, is_alone=is_alone) if write else read_only(path, timeout)
        _demand_head(store, path)
        if write:
            _prepare_writing(store, timeout)  # only now: it would lay an empty file over
    except BaseException as error:
        if store is not None:
            store.close()
        if isinstance(error, sqlite3.Error):
            raise explain(error, path) from error
        raise
    return store


def _connect_to_write(path: str, timeout: float, *, is_alone: bool) -> sqlite3.Connection:
    lock = None if is_alone else share(path, timeout)
    try:
        store = _connect(path, "mode=rw", timeout, _Writing)
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    assert isinstance(store, _Writing)
    store.lock = lock
    return store


def share(path: str, timeout: float) -> "Lock":
    """A writer's share of the store lock. Raises CrustsError where a rebuilt store is just taking its place."""
    from crusts_index.store.locks import store_lock, take  # who reads needs none

    lock = take(store_lock(path), shared=True, timeout=timeout)
    if lock is None:
        raise CrustsError(
            f"the store at {path} is locked: a rebuilt one is taking its place; try again when that is done"
        )
    return lock


def _prepare_writing(store: sqlite3.Connection, timeout: float) -> None:
    """Set how the store is written. Turning a new one to WAL asks for no busy timeout, so the waiting is done here."""
    from time import monotonic, sleep

    end = monotonic() + timeout
    for pragma in _WRITING:
        while True:
            try:
                store.execute(pragma)
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > end:
                    raise
                sleep(0.02)


def _demand_head(store: sqlite3.Connection, path: str) -> None:
    if stored_revision(store, path) != HEAD:
        raise Unlaid(f"the store at {path} is empty or of an older crusts: run `crusts index`")


def stored_revision(store: sqlite3.Connection, path: str) -> str | None:
    """The revision of the store; None for an empty file.

    Raises CrustsError for a database of another program and for a store newer than this one.
    """
    tables = {row[0] for row in store.execute("select name from sqlite_master where type = 'table'")}
    if not tables:
        return None
    found = None
    if {"alembic_version", "store_facts"} <= tables:
        found = next((str(row[0]) for row in store.execute("select version_num from alembic_version")), None)
    if found is None or not found.isdigit():
        raise CrustsError(f"{path} is a database of another program: name another with --db")
    if found > HEAD:
        raise CrustsError(
            f"the store at {path} was written by a newer crusts (revision {found}, this one knows {HEAD}): "
            "upgrade crusts-index"
        )
    return found


class explained:  # noqa: N801 - used as a word: `with explained(store):`
    """Turns the errors a user can mend into a CrustsError; others are ours and pass."""

    # By hand, here and below: importing contextlib takes a quick path a millisecond.
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        if isinstance(error, sqlite3.Error) and _explanation(error, ""):
            path = ""
            with ignored(sqlite3.Error):
                path = path_of(self._connection)
            raise explain(error, path) from error


class transaction(explained):  # noqa: N801 - used as a word: `with transaction(store):`
    """All that is written inside, or nothing of it; takes the write lock first.

    Rolls back on whatever is raised, KeyboardInterrupt included. Raises CrustsError for a store that is
    full, locked, damaged or not to be written.
    """

    def __enter__(self) -> sqlite3.Connection:
        try:
            with explained(self._connection):
                self._connection.execute("begin immediate")
        except BaseException:
            self._roll_back()
            raise
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, *more: object) -> None:
        try:
            if error is None:
                with explained(self._connection):
                    self._connection.execute("commit")
        finally:
            self._roll_back()
        super().__exit__(kind, error, *more)

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            with ignored(sqlite3.Error):  # the first error is the one to tell
                self._connection.execute("rollback")


def checkpoint(connection: sqlite3.Connection, timeout: float = 0.5) -> bool:
    """Move the log into the store, so that its file alone can be read, from read-only media too.

    True if all was moved; a reader that stays longer than `timeout` seconds leaves it to the next run.
    """
    with explained(connection):
        (before,) = connection.execute("pragma busy_timeout").fetchone()
        connection.execute(f"pragma busy_timeout = {int(timeout * 1000)}")
        try:
            busy, _, _ = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        finally:
            connection.execute(f"pragma busy_timeout = {int(before)}")
    return not busy


def path_of(connection: sqlite3.Connection) -> str:
    """The file a connection is open on."""
    return next((str(row[2]) for row in connection.execute("pragma database_list") if row[1] == "main"), "")


def keep_private(path: str) -> None:
    """Take the store's file and its side files from all others; a pipe or device is not ours to close. Spec: D16."""
    for name in (path, *(path + side for side in SIDE_FILES)):
        if is_regular(name):
            with ignored(OSError):
                mode = os.stat(name).st_mode
                if mode & 0o077:
                    os.chmod(name, mode & 0o700)


def remove(path: str) -> None:
    """Delete a database, and what SQLite left beside it."""
    for name in (path, *(path + side for side in SIDE_FILES)):
        with ignored(FileNotFoundError):
            os.unlink(name)


def explain(error: sqlite3.Error, path: "StorePath") -> CrustsError:
    """What SQLite's error means for this store and what to do, in one line."""
    return CrustsError(_explanation(error, os.fspath(path)) or f"the store at {os.fspath(path)}: {error}")


def _explanation(error: sqlite3.Error, path: str) -> str | None:
    """By SQLite's result code, of which the low byte is the kind."""
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        return f"{path} is a folder: name a file with --db"
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the store at {path} is locked by another program or another run of crusts: try again when it is done"
    if kind == sqlite3.SQLITE_FULL:
        return f"no space left for the store at {path}: free some and run it again; nothing is lost"
    if kind == sqlite3.SQLITE_NOTADB:
        return f"{path} is not an SQLite file: name another with --db, or move it away"
    if kind == sqlite3.SQLITE_CORRUPT:
        return f"the store at {path} is damaged: try sqlite3's .recover, or move it away and run `crusts index`"
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return f"the store at {path} cannot be written: make it and {folder} writable, or use another --db"
    if kind == sqlite3.SQLITE_CANTOPEN:
        return f"the store at {path} cannot be opened: check the permissions of it and of {folder}"
    if kind == sqlite3.SQLITE_IOERR:
        return f"the disk failed on the store at {path} ({error}): check it and the space left"
    return None


def demand_regular(path: str) -> None:
    """Raise CrustsError where a pipe, a socket or a device stands in a store's place, or beside it.

    SQLite would open it, and wait for its other end for ever. A folder it refuses by itself.
    """
    for name in (path, *(path + side for side in (*SIDE_FILES, "-journal"))):
        if is_regular(name) is False and not os.path.isdir(name):
            raise CrustsError(f"{name} is a pipe, a socket or a device, not a file: move it away, or name another --db")


def uri(path: str, options: str) -> str:
    """SQLite's URI for a file, by hand: urllib is slow to import."""
    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{quoted}?{options}"


def _connect(
    path: str, options: str, timeout: float, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    demand_regular(path)
    connection = sqlite3.connect(uri(path, options), timeout=timeout, isolation_level=None, uri=True, factory=factory)
    try:
        for pragma in _MEMORY:
            connection.execute(pragma)
        connection.execute("select 1 from sqlite_master limit 1").fetchone()  # the file is read from here on
    except BaseException:
        connection.close()
        raise
    return connection


def read_only(path: str, timeout: float) -> sqlite3.Connection:
    """A connection that cannot write, whatever the file holds. Raises sqlite3.Error, CrustsError for no file."""
    try:
        return _connect(path, "mode=ro", timeout)
    except sqlite3.OperationalError as error:
        kind = error.sqlite_errorcode & 0xFF
        if kind not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or _has_log(path):
            raise
        # No side files can be made here. Without a log the file says it all, and nobody here can change it.
        return _connect(path, "mode=ro&immutable=1", timeout)


def roll_back_killed(path: str, timeout: float) -> bool:
    """Take back what a writer that was killed left half-written; True if there was anything. Raises sqlite3.Error."""
    if not _is_there(f"{path}-journal"):
        return False
    _connect(path, "mode=rw", timeout).close()  # whoever may write and reads first takes it back
    return True


def _has_log(path: str) -> bool:
    """Whether the file alone does not say it all: newer pages, or old selves of half-written ones, lie beside it."""
    return _is_there(f"{path}-wal") or _is_there(f"{path}-journal")


def _is_there(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False
