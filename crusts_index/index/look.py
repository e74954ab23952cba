"""Tells at a look which project folders have changed since the last run that left nothing out (D4).

A folder's look is a few bytes over the paths, sizes and times of its transcripts. As long as the looks hold, and the
store holds as many transcripts under the root as they stand for, not one is compared. That they are counted is what
makes it safe: whatever wrote in between, a transcript too many or too few shows.
"""

from __future__ import annotations

import os
import sqlite3
import time

from crusts_index.index.find import NO_META, Walk
from crusts_index.index.listing import Listings
from crusts_index.index.plan import PARSER, changed
from crusts_index.store.open import transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.index.find import Seen
    from crusts_index.index.plan import Mark

_PREFIX = "look:"
_KEPT = f"select substr(name, {len(_PREFIX) + 1}), value from store_facts where name >= '{_PREFIX}' and name < 'look;'"
_LISTED = "list:"
_LISTINGS = f"select substr(name, {len(_LISTED) + 1}), value from store_facts where name >= ? and name < ?"
_KEEP = "insert or replace into store_facts (name, value) values (?, ?)"
_DROP = "delete from store_facts where name = ?"
_READ = "select count(*) from transcripts where gone = 0 and root = ? and parser = ? and size >= 0"
"""Transcripts under a root that this parser read to their end: for all others it takes more than a look."""

_MARKS = f"""
select path, size, mtime_ns, ifnull(meta_mtime_ns, {NO_META}), parser, root, folder from transcripts where gone = 0
"""
_MARKS_OF_ROOT = f"{_MARKS} and root = ?"
_MARKS_OF_FOLDER = f"{_MARKS} and path >= ? and path < ?"
_AFTER_SEPARATOR = chr(ord(os.sep) + 1)


class Looks:
    """What walks over some projects folders found, beside what was kept of the last run."""

    def __init__(self, store: sqlite3.Connection, roots: Iterable[str]) -> None:
        self._store = store
        self._listings: list[tuple[Listings, dict[str, str]]] = []
        walks = [self._walk(root) for root in roots]
        self.unreadable = [found for walk in walks for found in walk.unreadable]
        # A root that is missing or empty as a whole says nothing, neither now nor to a later run (D4).
        self._walks = [walk for walk in walks if any(walk.projects.values())]
        # Sessions that are to be left out take more than a look.
        self._is_plain = store.execute("select 1 from forgotten limit 1").fetchone() is None
        self._kept: dict[str, str] = dict(store.execute(_KEPT)) if self._is_plain else {}
        self._now: dict[str, str] = {}
        self._homes = _homes(self._walks)

    @property
    def files(self) -> int:
        """Transcripts on disk."""
        if len(self._walks) > 1:
            return len(self._homes)
        return sum(len(project) for walk in self._walks for project in walk.projects.values())

    def compare(self) -> tuple[dict[str, Seen], list[str]]:
        """Transcripts that are new or not as they were, by path; and paths of known ones that are not there."""
        seen: dict[str, Seen] = {}
        missing: list[str] = []
        for walk in self._walks:
            marks, folders = self._doubted(walk)
            for folder in folders:
                project = walk.projects[folder]
                for path in changed(project, marks, walk.root):
                    if self._homes.get(path, walk) is walk and (sight := project.sight(path)) is not None:
                        seen[path] = walk.seen(path, sight)
            blind = [path.rstrip(os.sep) for path, _ in walk.unreadable]
            lost = marks.keys() - {path for folder in folders for path in walk.projects[folder].paths()}
            if lost:
                lost -= {path for project in walk.projects.values() for path in project.paths()}
                missing += [path for path in lost if path not in self._homes and not _is_below(path, blind)]
        return seen, missing

    def keep(self) -> None:
        """Remember how it looks now: nothing was left out."""
        gone: list[str] = []
        new: dict[str, str] = {}
        if self._is_plain:
            roots = tuple(walk.root + os.sep for walk in self._walks if not walk.unreadable)
            kept = {folder: look for folder, look in self._kept.items() if folder.startswith(roots)}
            _compare(_PREFIX, kept, self._now, gone, new)
        for listings, kept in self._listings:
            _compare(_LISTED, kept, listings.now, gone, new)
        if gone or new:
            with transaction(self._store):
                self._store.executemany(_DROP, [(name,) for name in gone])
                self._store.executemany(_KEEP, new.items())

    def _walk(self, root: str) -> Walk:
        root = os.path.realpath(root)
        bounds = (f"{_LISTED}{root}{os.sep}", f"{_LISTED}{root}{_AFTER_SEPARATOR}")
        kept = dict(self._store.execute(_LISTINGS, bounds))
        listings = Listings(root, kept, time.time_ns())
        self._listings.append((listings, kept))
        walk = Walk(root, listings)
        walk.walk()
        return walk

    def _doubted(self, walk: Walk) -> tuple[dict[str, Mark], Iterable[str]]:
        """Folders of a walk that are to be compared, and what the store knows there: by path, gone ones left out."""
        marks: dict[str, Mark] = {}
        doubted: list[str] = []
        held = 0
        for folder, project in walk.projects.items():
            if walk.unreadable:
                doubted.append(folder)
                continue
            look = self._now[folder] = project.look()
            if self._kept.get(folder) == look:
                held += len(project)
            else:
                doubted.append(folder)
                marks |= self._marks(_MARKS_OF_FOLDER, folder + os.sep, folder + _AFTER_SEPARATOR)
        (count,) = self._store.execute(_READ, (walk.root, PARSER)).fetchone()
        if not walk.unreadable and held + len(marks) == count:
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
        for project in walk.projects.values():
            homes.update((path, walk) for path in project.paths() if path not in homes or path.startswith(inside))
    return homes


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def _compare(prefix: str, kept: dict[str, str], now: dict[str, str], gone: list[str], new: dict[str, str]) -> None:
    """Add the facts that are to go and those that are new."""
    gone += [prefix + folder for folder in kept if folder not in now]
    new.update({prefix + folder: text for folder, text in now.items() if kept.get(folder) != text})
