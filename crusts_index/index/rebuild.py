"""Builds a new store beside the old one, carries over what is no longer on disk, and swaps the two (D4)."""

from __future__ import annotations

import os
import sqlite3

from crusts_index.errors import CrustsError
from crusts_index.index.refresh import index_all, roots_of
from crusts_index.index.summary import Options, Summary
from crusts_index.index.write import settle_all
from crusts_index.store.open import checkpoint, open_store, transaction
from crusts_index.store.settings import Settings
from crusts_index.store.upgrade import ensure
from crusts_index.store.when import now_ms

# What is not in any transcript, or names rows that are carried over.
_WHOLE = (*("projects", "sessions", "transcripts", "surroundings", "models", "prices", "runs", "forgotten"),)

# Rows of transcripts that are no longer on disk. Of live ones only retained responses are carried over.
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
    "removals": "record_id >> 40 in gone",
    "attachments": "record_id >> 40 in gone",
    "context_reports": "id < 0 or id >> 40 in gone",
    "responses": "id < 0 or transcript_id in gone",
}


def rebuild(settings: Settings, options: Options) -> Summary:
    """Read everything anew; the old file stays as `index.db.<time>.old`. Without a store this is a plain index."""
    if not os.path.exists(settings.db):
        return index_all(settings, options)
    ensure(settings.db)
    roots_of(settings)  # a root that was named wrongly must not cost a rebuild
    fresh = f"{settings.db}.rebuild"
    _remove(fresh)
    try:
        ensure(fresh)
        _carry_over(settings.db, fresh)
        summary = index_all(_with_store(settings, fresh), options)
        store = open_store(fresh, write=True)
        try:
            if not checkpoint(store):
                raise CrustsError(f"{fresh} is in use: the store was left as it was")
        finally:
            store.close()
        old = open_store(settings.db, write=True)
        try:
            checkpoint(old)
            old.execute("begin immediate")  # nobody writes while the files change places
            kept = f"{settings.db}.{now_ms()}.old"
            os.link(settings.db, kept)
            os.replace(fresh, settings.db)
            old.execute("rollback")
        finally:
            old.close()
    except BaseException:
        _remove(fresh)
        raise
    for side in ("-wal", "-shm"):
        _unlink(settings.db + side)
    return summary


def _carry_over(old: str, fresh: str) -> None:
    """Copy what cannot be read again. Transcripts keep their ids, and live ones begin anew at offset 0."""
    store = open_store(fresh, write=True)
    try:
        store.execute("attach database ? as old", (old,))
        with transaction(store):
            for table in _WHOLE:
                _copy(store, table, "1")
            store.execute("create temp table gone as select id from old.transcripts where gone = 1")
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
                " tail_hash = null where gone = 0"
            )
            settle_all(store)
        store.execute("detach database old")
    finally:
        store.close()


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
