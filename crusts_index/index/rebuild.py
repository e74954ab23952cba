"""Builds a new store beside the old one, carries over what is no longer on disk, and swaps the two (D4)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from crusts_index.errors import CrustsError
from crusts_index.index.find import Walk
from crusts_index.index.refresh import index_all, roots_of
from crusts_index.index.summary import Options, Summary
from crusts_index.index.write import settle_all
from crusts_index.store.open import TIMEOUT, checkpoint, explained, open_store, read_only, transaction
from crusts_index.store.settings import Settings
from crusts_index.store.upgrade import ensure
from crusts_index.store.when import now_ms

# What is not in any transcript, or names rows that are carried over.
_WHOLE = ("projects", "sessions", "transcripts", "surroundings", "models", "prices", "runs", "forgotten")

# Rows of transcripts that are not read anew. Of those that are, only retained responses are carried over.
_OF_GONE = {
    "threads": "transcript_id in gone",
    "fold_states": "transcript_id in gone",
    "records": "transcript_id in gone",
    "tool_uses": "transcript_id in gone",
    "compactions": "transcript_id in gone",
    "meta_records": "transcript_id in gone",
    "problems": "transcript_id in gone",
    "branches": "thread_id >> 20 in gone",
    "blocks": "record_id >> 40 in gone",
    "texts": "block_id >> 40 in gone",
    "tool_loads": "record_id >> 40 in gone",
    "preserved": "record_id >> 40 in gone",
    "removals": "record_id >> 40 in gone",
    "attachments": "record_id >> 40 in gone",
    "context_reports": "id < 0 or id >> 40 in gone",
    "responses": "id < 0 or transcript_id in gone",
}


def rebuild(settings: Settings, options: Options) -> Summary:
    """Read everything anew; the old store stays as `index.db.<time>.old`. Without a store this is a plain index.

    Readers see the old store until the new one is whole. Raises CrustsError where it cannot be written; the store
    is then as it was.
    """
    if not os.path.exists(settings.db):
        return index_all(settings, options)
    ensure(settings.db)
    roots = [root.projects_dir for root in roots_of(settings)]  # one that was named wrongly must not cost a rebuild
    fresh = f"{settings.db}.rebuild"
    with _alone(f"{fresh}.lock"):
        _remove(fresh)
        try:
            ensure(fresh)
            _carry_over(settings.db, fresh, _readable(roots))
            summary = index_all(_with_store(settings, fresh), options)
            _swap(settings.db, fresh)
        finally:
            _remove(fresh)
    return summary


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Hold the lock on a file while building; it goes with the process. Raises CrustsError where another holds it."""
    import fcntl

    with open(os.open(path, os.O_CREAT | os.O_RDWR, 0o600), "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CrustsError("another rebuild of this store is at it: let it end") from None
        yield
        _unlink(path)


def _readable(roots: list[str]) -> set[str]:
    """Transcripts that this run will read anew; of all others the rows are carried over."""
    found: set[str] = set()
    for root in roots:
        found.update(one.path for one in Walk(root).transcripts() if os.access(one.path, os.R_OK))
    return found


def _carry_over(old: str, fresh: str, readable: set[str]) -> None:
    """Copy what cannot be read again. Transcripts keep their ids, and those to be read begin anew at offset 0."""
    with closing(open_store(fresh, write=True)) as store:
        store.execute("attach database ? as old", (os.fsencode(old),))
        with transaction(store):
            for table in _WHOLE:
                _copy(store, table, "1")
            lost = [
                (transcript,)
                for transcript, path in store.execute("select id, path from old.transcripts")
                if path not in readable
            ]
            store.execute("create temp table gone (id integer primary key)")
            store.executemany("insert into temp.gone values (?)", lost)
            for table, condition in _OF_GONE.items():
                _copy(store, table, condition.replace("in gone", "in (select id from temp.gone)"))
            # Threads of live transcripts that retained responses name.
            store.execute(
                "insert or ignore into threads select * from old.threads"
                " where id in (select thread_id from responses where id < 0)"
            )
            store.execute("update responses set call_id = null")
            store.execute(
                "update transcripts set size = -1, mtime_ns = 0, offset = 0, records = 0, head_hash = null,"
                " tail_hash = null where id not in (select id from temp.gone)"
            )
            settle_all(store)
        store.execute("detach database old")


def _swap(db: str, fresh: str) -> None:
    """Keep a copy of the old store, and write the new one over it in one transaction.

    Page by page and not by changing files: whoever has the store open goes on with it, and no log of one file is
    ever taken for that of the other.
    """
    kept = f"{db}.{now_ms()}.old"
    os.close(os.open(kept, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(read_only(db, TIMEOUT)) as old, closing(sqlite3.connect(kept)) as copy:
            old.backup(copy)
        with closing(open_store(db, write=True)) as store, explained(store):
            with closing(read_only(fresh, TIMEOUT)) as new:
                new.backup(store)
            checkpoint(store)
    except BaseException:
        _unlink(kept)
        raise


def _copy(store: sqlite3.Connection, table: str, condition: str) -> None:
    names = ", ".join(row[1] for row in store.execute(f"pragma table_info({table})"))
    store.execute(f"insert into {table} ({names}) select {names} from old.{table} where {condition}")


def _with_store(settings: Settings, path: str) -> Settings:
    return Settings(**{**vars(settings), "db": path})


def _remove(path: str) -> None:
    for name in (path, path + "-wal", path + "-shm"):
        _unlink(name)


def _unlink(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
