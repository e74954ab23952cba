"""Builds a new store beside the old one, carries over what is no longer on disk, and swaps the two (D4).

Others write to the old store meanwhile; before the two are swapped that is carried over too (`catch_up`).
"""

from __future__ import annotations

import os
from contextlib import closing, suppress

from crusts_index.errors import CrustsError
from crusts_index.index.catch_up import Marks, catch_up, marks_of
from crusts_index.index.extent import copy_rows, copy_table
from crusts_index.index.find import Seen, Walk
from crusts_index.index.leftovers import clear
from crusts_index.index.refresh import TURN_SECONDS, index_all, open_writer, roots_of
from crusts_index.index.run import name_all
from crusts_index.index.summary import Options, Summary
from crusts_index.index.write import settle_all
from crusts_index.store.driver import sqlite3
from crusts_index.store.locks import held, rebuild_lock, store_lock
from crusts_index.store.open import TIMEOUT, checkpoint, explained, open_store, read_only, remove, transaction
from crusts_index.store.promises import Promises
from crusts_index.store.settings import Settings
from crusts_index.store.upgrade import ensure
from crusts_index.store.when import now_ms

# What is not in any transcript, or names rows that are carried over.
_WHOLE = (
    *(
        "words",
        "projects",
        "sessions",
        "transcripts",
        "surroundings",
        "models",
        "prices",
        "weights",
        "runs",
        "forgotten",
    ),
)


def rebuild(settings: Settings, options: Options) -> Summary:
    """Read everything again; the old store stays as `index.db.<time>.old`. Without a store this is a plain index.

    Readers see the old store until the new one is whole. Raises CrustsError where it cannot be written; the store
    is then as it was.
    """
    if not os.path.exists(settings.db):
        return index_all(settings, options)
    roots = [root.projects_dir for root in roots_of(settings)]  # one that was named wrongly must not cost a rebuild
    open_writer(settings).close()  # what is owed is done, and text that must go is gone, before anything is copied
    with held(rebuild_lock(settings.db)) as is_alone:
        if not is_alone:
            raise CrustsError("another rebuild of this store is at it: let it end")
        summary = _build(settings, options, roots)
    open_writer(settings).close()  # what came to be owed meanwhile
    return summary


def _build(settings: Settings, options: Options, roots: list[str]) -> Summary:
    clear(settings, is_rebuilding=True)
    fresh = f"{settings.db}.rebuild"
    try:
        ensure(fresh)
        seen = [one for root in roots for one in Walk(root).transcripts()]
        with closing(open_store(settings.db, write=True, timeout=TURN_SECONDS)) as store:
            name_all(store, seen, keep_text=options.keep_text)  # so that one has the same id in both stores
        begun = _carry_over(settings.db, fresh, seen)
        options.known_only, options.fits = True, False  # the weights are carried over
        summary = index_all(Settings(**{**vars(settings), "db": fresh}), options)
        with held(store_lock(settings.db), timeout=TURN_SECONDS) as is_alone:
            if not is_alone:
                raise CrustsError("another run writes to the store, and does not end: rebuild it when that is done")
            catch_up(settings.db, fresh, begun)
            _swap(settings.db, fresh)
    finally:
        remove(fresh)
    return summary


def _carry_over(old: str, fresh: str, seen: list[Seen]) -> Marks:
    """Copy what cannot be read again. Transcripts keep their ids, and those to be read begin again at offset 0.

    Gives back how the old store stood.
    """
    readable = {one.path for one in seen if os.access(one.path, os.R_OK)}
    with closing(open_store(fresh, write=True)) as store:
        store.execute("attach database ? as old", (os.fsencode(old),))
        with transaction(store):
            for table in _WHOLE:
                copy_table(store, table, "1")
            begun = marks_of(store, "old")
            read = [(one,) for one, mark in begun.transcripts.items() if mark.path in readable]
            for one in begun.transcripts.keys() - {row[0] for row in read}:
                copy_rows(store, one)
            copy_table(store, "context_reports", "id < 0")
            copy_table(store, "stored_responses", "id < 0")
            copy_table(store, "stored_rebuilds", "response_id < 0")
            # Threads of live transcripts that retained responses name.
            store.execute(
                "insert or ignore into threads select * from old.threads"
                " where id in (select thread_id from stored_responses where id < 0)"
            )
            store.execute("update stored_responses set shared_call_id = null")
            store.executemany(
                "update transcripts set size = -1, mtime_ns = 0, offset = 0, records = 0, head_hash = null,"
                " tail_hash = null where id = ?",
                read,
            )
            settle_all(store)
        store.execute("detach database old")
    return begun


def _swap(db: str, fresh: str) -> None:
    """Keep a copy of the old store, and write the new one over it in one transaction; the store lock is held.

    Page by page and not by changing files: whoever has the store open goes on with it, and no log of one file is
    ever taken for that of the other.
    """
    kept = f"{db}.{now_ms()}.old"
    unfinished = f"{kept}.new"
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(read_only(db, TIMEOUT)) as old, closing(sqlite3.connect(unfinished)) as copy:
            old.backup(copy)
            if Promises(old).owed is not None:  # free pages may hold what is to be nowhere
                copy.execute("vacuum")
        os.replace(unfinished, kept)
        with closing(open_store(db, write=True, is_alone=True)) as store, explained(store):
            with closing(read_only(fresh, TIMEOUT)) as new:
                new.backup(store)
            checkpoint(store)
    except BaseException:
        for path in (unfinished, kept):
            with suppress(FileNotFoundError):
                os.unlink(path)
        raise
