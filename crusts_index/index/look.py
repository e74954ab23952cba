"""Tells at a look which project folders have changed since the last run that left nothing out (D4).

A folder's look is a few bytes over the paths, sizes and times of its transcripts. As long as the looks hold, and the
store holds as many transcripts under the root as they stand for, not one is compared, and no row is even read. That
they are counted is what makes it safe: whatever wrote in between, a transcript too many or too few shows.
"""

from __future__ import annotations

import os
import sqlite3
import zlib

from crusts_index.index.find import Walk
from crusts_index.index.plan import PARSER, changed
from crusts_index.store.open import transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.index.find import Seen, Sight
    from crusts_index.index.plan import Mark

_PREFIX = "look:"
_KEPT = f"select substr(name, {len(_PREFIX) + 1}), value from store_facts where name >= '{_PREFIX}' and name < 'look;'"
_KEEP = "insert or replace into store_facts (name, value) values (?, ?)"
_DROP = "delete from store_facts where name = ?"
_NOT_PLAIN = """
select 1 from forgotten union all select 1 from transcripts where gone = 0 and (parser <> ? or size < 0) limit 1
"""
"""Whether it takes more than a look: sessions to be left out, transcripts that are not read or by another parser."""

_LIVE = "select count(*) from transcripts where gone = 0 and root = ?"
_MARKS = "select path, size, mtime_ns, meta_mtime_ns, parser, root, folder from transcripts where gone = 0"
_MARKS_OF_ROOT = f"{_MARKS} and root = ?"
_MARKS_OF_FOLDER = f"{_MARKS} and path >= ? and path < ?"
_AFTER_SEPARATOR = chr(ord(os.sep) + 1)


class Looks:
    """What some walks found, beside what was kept of the last run."""

    def __init__(self, store: sqlite3.Connection, walks: list[Walk]) -> None:
        self._store = store
        # A root that is missing or empty as a whole says nothing, neither now nor to a later run (D4).
        self._walks = [walk for walk in walks if any(walk.projects.values())]
        self._is_plain = store.execute(_NOT_PLAIN, (PARSER,)).fetchone() is None
        self._kept: dict[str, str] = dict(store.execute(_KEPT)) if self._is_plain else {}
        self._now: dict[str, str] = {}
        self._homes = _homes(self._walks)

    @property
    def files(self) -> int:
        """Transcripts on disk."""
        if len(self._walks) > 1:
            return len(self._homes)
        return sum(len(found) for walk in self._walks for found in walk.projects.values())

    def compare(self) -> tuple[dict[str, Seen], list[str]]:
        """Transcripts that are new or not as they were, by path; and paths of known ones that are not there."""
        seen: dict[str, Seen] = {}
        missing: list[str] = []
        for walk in self._walks:
            marks, folders = self._doubted(walk)
            for folder in folders:
                found = walk.projects[folder]
                for path in changed(found, marks, walk.root):
                    if self._homes.get(path, walk) is walk:
                        seen[path] = walk.seen(path, found[path])
            blind = [path.rstrip(os.sep) for path, _ in walk.unreadable]
            for path in marks.keys() - {path for folder in folders for path in walk.projects[folder]}:
                is_elsewhere = path in self._homes or any(path in found for found in walk.projects.values())
                if not is_elsewhere and not _is_below(path, blind):
                    missing.append(path)
        return seen, missing

    def keep(self) -> None:
        """Remember how it looks now: nothing was left out."""
        if not self._is_plain:
            return
        roots = tuple(walk.root + os.sep for walk in self._walks if not walk.unreadable)
        gone = [folder for folder in self._kept if folder.startswith(roots) and folder not in self._now]
        new = {folder: look for folder, look in self._now.items() if self._kept.get(folder) != look}
        if gone or new:
            with transaction(self._store):
                self._store.executemany(_DROP, [(_PREFIX + folder,) for folder in gone])
                self._store.executemany(_KEEP, [(_PREFIX + folder, look) for folder, look in new.items()])

    def _doubted(self, walk: Walk) -> tuple[dict[str, Mark], Iterable[str]]:
        """Folders of a walk that are to be compared, and what the store knows there: by path, gone ones left out."""
        marks: dict[str, Mark] = {}
        doubted: list[str] = []
        held = 0
        for folder, found in walk.projects.items():
            if walk.unreadable:
                doubted.append(folder)
                continue
            look = self._now[folder] = _look(found)
            if self._kept.get(folder) == look:
                held += len(found)
            else:
                doubted.append(folder)
                marks |= self._marks(_MARKS_OF_FOLDER, folder + os.sep, folder + _AFTER_SEPARATOR)
        (live,) = self._store.execute(_LIVE, (walk.root,)).fetchone()
        if not walk.unreadable and held + len(marks) == live:
            return marks, doubted
        return self._marks(_MARKS_OF_ROOT, walk.root), walk.projects

    def _marks(self, sql: str, *values: str) -> dict[str, Mark]:
        return {row[0]: row for row in self._store.execute(sql, values)}


def _homes(walks: list[Walk]) -> dict[str, Walk]:
    """Of several walks, the one that speaks for each path: where it lies and not where a link is, else the last."""
    homes: dict[str, Walk] = {}
    if len(walks) < 2:
        return homes
    for walk in walks:
        inside = walk.root + os.sep
        for found in walk.projects.values():
            homes.update((path, walk) for path in found if path not in homes or path.startswith(inside))
    return homes


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def _look(found: dict[str, Sight]) -> str:
    # The hash of a tuple of numbers is the same in every process, which that of a text is not.
    numbers = hash(tuple([n for s in found.values() for n in (s[0].st_size, s[0].st_mtime_ns, s[4] or 0)]))
    paths = "\n".join(found).encode("utf-8", "surrogateescape")
    return f"{numbers:x} {zlib.crc32(paths):x} {len(paths)}"
