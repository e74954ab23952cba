"""What beside the store tells of a session, or holds text: the search file, copies of the store, our own small files
(D16). Keeps what the store promised of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

from crusts_index.index.forget import compact
from crusts_index.regular import is_regular, open_regular
from crusts_index.store import files, promises, search
from crusts_index.store.driver import sqlite3
from crusts_index.store.locks import held, rebuild_lock
from crusts_index.store.open import remove, transaction, uri
from crusts_index.store.private import copies_of
from crusts_index.store.settings import Settings, search_path

_LOGS = (".log", ".jsonl")
_LARGEST = 16 << 20
SMALL_STORE = 64 << 20
"""Bytes of a store that is written again at once, even by a run that must soon end."""


class Kept(NamedTuple):
    """What was done to keep a promise, and what was not."""

    copies: list[str]
    """Copies of the store that were deleted."""
    left: list[str]
    """Files that still name one of the sessions, and are not ours to change."""
    obstacle: str | None
    """What stood in the way: the next run that writes goes on with it."""


def keep_promises(
    store: sqlite3.Connection, settings: Settings, *, is_patient: bool = True, is_asked: bool = False
) -> Kept | None:
    """Take what was promised to be nowhere from all that lies beside the store, from its free pages and its log.

    None if nothing is owed, or a run that is not patient leaves it to one that is. While a rebuild is at work it is
    done only if `is_asked`, and stays owed: what it builds has the old rows yet.
    """
    found = promises.Promises(store)
    if found.owed is None or not (is_patient or os.path.getsize(settings.db) <= SMALL_STORE):
        return None
    with held(rebuild_lock(settings.db)) as is_alone:
        if not (is_alone or is_asked):
            return None
        is_text = found.kind == promises.TEXT
        names = [row[0] for row in store.execute("select session_id from forgotten")]
        is_done = search.leave_nothing(search_path(settings.db))
        copies = copies_holding(settings.db, None if is_text else names)
        for copy in copies:
            remove(copy)
        if is_text:
            for name in files.SAYING:
                with suppress(OSError):
                    os.unlink(os.path.join(settings.home, name))
        left = wipe(settings.home, names)
        obstacle = compact(store)
        if not is_done:
            obstacle = "another run takes texts into the search file just now; the next `crusts index` takes them out"
        if obstacle is None and is_alone:
            with transaction(store):
                promises.keep(store, found.owed)
        return Kept(copies, left, obstacle)


def copies_holding(db: str, sessions: Sequence[str] | None) -> list[str]:
    """Copies that upgrades and rebuilds left beside the store and that hold one of the sessions, or may; None = all."""
    return [path for path in copies_of(db) if sessions is None or _holds(path, sessions)]


def wipe(home: str, sessions: Sequence[str]) -> list[str]:
    """Take the sessions out of our own logs and reports in `home`; gives back other files that still name one."""
    if not sessions:
        return []
    names = re.compile("|".join(re.escape(one) for one in sessions).encode())
    left = []
    for path in _small_files(home):
        try:
            with open_regular(path) as file:
                data = file.read()
            if not names.search(data):
                continue
            if os.path.basename(path) in files.DERIVED:
                os.unlink(path)
            elif path.endswith(_LOGS):
                kept = [line for line in data.splitlines(keepends=True) if not names.search(line)]
                _overwrite(path, b"".join(kept))
            else:
                left.append(path)
        except OSError:
            left.append(path)
    return left


def _holds(path: str, sessions: Sequence[str]) -> bool:
    try:
        with closing(sqlite3.connect(uri(path, "mode=ro&immutable=1"), uri=True)) as copy:
            sql = "select 1 from sessions where session_id in (select value from json_each(?)) limit 1"
            return copy.execute(sql, (json.dumps(list(sessions)),)).fetchone() is not None
    except sqlite3.Error:
        return True  # whatever it is, it cannot be said to be free of them


def _small_files(home: str) -> Iterator[str]:
    for folder, folders, names in os.walk(home):
        folders[:] = [one for one in folders if one != "projects"]  # a config folder that holds our home
        for name in names:
            path = os.path.join(folder, name)
            with suppress(OSError):
                is_ours = not os.path.islink(path) and bool(is_regular(path)) and os.path.getsize(path) <= _LARGEST
                if is_ours and ".db" not in name:
                    yield path


def _overwrite(path: str, data: bytes) -> None:
    """In place, so that no older text stays behind in the file; whoever has it open goes on."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
