"""What beside the store tells of a session: copies of the store, and our own small files (D16)."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

from crusts_index.store.open import SIDE_FILES, uri

_COPY = re.compile(r"\.(?:\d+\.bak|\d+\.old|\d+\.bak\.new|rebuild)$")
_LOGS = (".log", ".jsonl")
_DERIVED = ("context.json",)
"""Files that a report writes anew whenever it runs."""
_LARGEST = 16 << 20


def copies_holding(db: str, sessions: Sequence[str]) -> list[str]:
    """Copies that upgrades and rebuilds left beside the store and that hold one of the sessions, or may."""
    folder, name = os.path.split(os.path.abspath(db))
    try:
        beside = sorted(os.listdir(folder))
    except OSError:
        return []
    copies = [entry for entry in beside if entry.startswith(name) and _COPY.fullmatch(entry[len(name) :])]
    return [path for path in (os.path.join(folder, copy) for copy in copies) if _holds(path, sessions)]


def delete_copy(path: str) -> None:
    """Delete a copy of the store, and what SQLite may have left beside it."""
    for name in (path, *(path + side for side in SIDE_FILES)):
        with suppress(FileNotFoundError):
            os.unlink(name)


def wipe(home: str, sessions: Sequence[str]) -> list[str]:
    """Take the sessions out of our own logs and reports in `home`; gives back other files that still name one."""
    if not sessions:
        return []
    names = re.compile("|".join(re.escape(one) for one in sessions).encode())
    left = []
    for path in _small_files(home):
        try:
            with open(path, "rb") as file:
                data = file.read()
            if not names.search(data):
                continue
            if os.path.basename(path) in _DERIVED:
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
    for folder, folders, files in os.walk(home):
        folders[:] = [one for one in folders if one != "projects"]  # a config folder that holds our home
        for name in files:
            path = os.path.join(folder, name)
            with suppress(OSError):
                is_ours = not os.path.islink(path) and os.path.getsize(path) <= _LARGEST
                if is_ours and ".db" not in name:
                    yield path


def _overwrite(path: str, data: bytes) -> None:
    """In place, so that no older text stays behind in the file; whoever has it open goes on."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
