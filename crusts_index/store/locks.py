"""The locks about a store: who takes which, in which order, what is waited for and how long.

SQLite's own lock orders transactions. These order what takes more than one transaction, or more than one file:

* the *rebuild* lock, for one alone: held while a new store is built beside the old one, and by whoever clears what a
  killed rebuild left. Nobody waits for it: a second rebuild is refused, clearing is left to the next run.
* the *store* lock: shared by all who write to the store, as long as they have it open to write (`open_store`), and by
  who upgrades it; for one alone while a rebuilt store takes the old one's place. So what was written while the new
  one was built is carried over, and nothing falls between that and the change. Writers wait for it as long as they
  would for SQLite's lock: a hook a second, a report two, an index until its turn comes; the rebuild waits for
  writers as an index does. Readers never take it.
* the *search* lock, for one alone: held while texts are taken into the search file, from the look at the store to the
  last text, and while it is removed. A second taker of texts goes on without; who removes it waits.

They are taken in this order: rebuild, store, search. Within one process a lock must not be taken twice: `open_store`
is told by who holds the store's alone.

Each is the operating system's lock (`flock`) on a file of its own beside the store, and ends with its holder, however
that ends. That the file is there says nothing: the last one out takes it away, and one that a killed holder left is
taken over by the next. Where there can be no such file or lock, on read-only media or Windows, there is none to hold.
"""

import os

from crusts_index.errors import ignored

try:
    import fcntl

    _CAN_LOCK = True
except ImportError:  # Windows
    _CAN_LOCK = False

_LOOK_SECONDS = 0.02


class Lock:
    """A lock that is held; `release` it, or end."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor
        if descriptor >= 0:
            _held.add(self)

    def release(self) -> None:
        """Let go, and take the file away if nobody else has it."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        _held.discard(self)
        with ignored(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_file_of(descriptor, self._path):
                os.unlink(self._path)
        with ignored(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)

    def forsake(self) -> None:
        """Close it in a child that was forked: the lock is its parent's."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


_held: set[Lock] = set()


def _forsake_all() -> None:
    for lock in _held:
        lock.forsake()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forsake_all)


def rebuild_lock(db: str) -> str:
    """The file of the rebuild lock of the store at `db`."""
    return f"{os.path.realpath(db)}.rebuilding"


def store_lock(db: str) -> str:
    """The file of the store lock."""
    return f"{os.path.realpath(db)}.lock"


def search_lock(search: str) -> str:
    """The file of the search lock, by the search file."""
    return f"{os.path.realpath(search)}.lock"


def take(path: str, *, shared: bool = False, timeout: float = 0.0) -> Lock | None:
    """The lock on the file at `path`, waited for `timeout` seconds; None where others have it."""
    if not _CAN_LOCK:
        return Lock(path, -1)
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    end: float | None = None
    while True:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:
            return Lock(path, -1)
        try:
            fcntl.flock(descriptor, how)
            if _is_file_of(descriptor, path):
                return Lock(path, descriptor)
            os.close(descriptor)  # the last one out took the file away just now
            continue
        except BlockingIOError:
            os.close(descriptor)
        except OSError:
            os.close(descriptor)
            return Lock(path, -1)
        # Only now: most locks are free.
        from time import monotonic, sleep

        end = end if end is not None else monotonic() + timeout
        if monotonic() >= end:
            return None
        sleep(_LOOK_SECONDS)


class held:  # noqa: N801 - used as a word: `with held(path):`
    """Hold the lock on the file at `path`; False where others have it."""

    def __init__(self, path: str, *, shared: bool = False, timeout: float = 0.0) -> None:
        self._path, self._shared, self._timeout = path, shared, timeout

    def __enter__(self) -> bool:
        self._lock = take(self._path, shared=self._shared, timeout=self._timeout)
        return self._lock is not None

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()


def is_held(path: str) -> bool:
    """Whether anybody holds it; changes nothing."""
    if not _CAN_LOCK:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _is_file_of(descriptor: int, path: str) -> bool:
    try:
        there = os.stat(path)
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))
