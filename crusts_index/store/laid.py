"""Whether a store is as this program lays it, and opening it where it is: the rest is for `upgrade`.

On the quick paths, so neither contextlib nor what lays a store is imported.
"""

import os
import zlib

from crusts_index.store.driver import sqlite3
from crusts_index.store.open import HEAD, Unlaid, explained, open_store, stored_revision
from crusts_index.store.query import view_scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from crusts_index.store.open import StorePath

    Tell = Callable[[int, int], None]
    Watch = Callable[[int], AbstractContextManager[Tell | None]]

LAID = "select value from store_facts where name = 'views'"


class watched:  # noqa: N801 - used as a word: `with watched(watch):`
    """Who is asked when an old store is about to be brought up to date, which may take a minute.

    Told its bytes, `watch` gives what is to be told how many of them are done; None where nobody looks. It raises where
    that cannot be waited for.
    """

    asked: "Watch | None" = None

    def __init__(self, watch: "Watch") -> None:
        self._watch = watch

    def __enter__(self) -> None:
        self._before, watched.asked = watched.asked, self._watch

    def __exit__(self, *_: object) -> None:
        watched.asked = self._before


def open_ensured(path: "StorePath", *, timeout: float) -> sqlite3.Connection:
    """The store at `path` open for writing, made or brought up to date first.

    One that is as it should be is opened once: each opening parses the whole schema. Raises what `ensure` does.
    """
    store = None
    try:
        store = open_store(path, write=True, timeout=timeout)
        with explained(store):
            if read_state(store, os.fspath(path)) == (HEAD, fingerprint()):
                return store
        store.close()
    except Unlaid:
        pass
    except BaseException:
        if store is not None:
            store.close()
        raise
    from crusts_index.store.upgrade import ensure  # mostly there is nothing to be done

    ensure(path, timeout=timeout)
    return open_store(path, write=True, timeout=timeout)


def read_state(store: sqlite3.Connection, path: str) -> tuple[str | None, str | None]:
    """Revision and views' fingerprint of a store; None for what it has not.

    Raises CrustsError for a database of another program, and for a store newer than this one.
    """
    found = stored_revision(store, path)
    if found is None:
        return None, None
    laid = store.execute(LAID).fetchone()
    return found, laid and laid[0].partition(" ")[0]


def fingerprint() -> str:
    """Of all views' texts; a change of any of them is all it must tell, and hashlib is slow to import."""
    text = "\0".join(part for script in view_scripts() for part in script).encode()
    return f"{zlib.crc32(text):08x}-{len(text)}"
