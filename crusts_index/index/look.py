"""Tells at a look which project folders have changed since the last run that left nothing out (D4).

A folder's look is a few bytes over the paths of its transcripts, and over the sizes and times of each part of them. As
long as the looks hold, and the store holds as many transcripts under the root as they stand for, not one is compared;
where a part is another than it was, only what is in it. That they are counted is what makes it safe: whatever wrote in
between, a transcript too many or too few shows.
"""

from __future__ import annotations

import os
import time

from crusts_index.folders import is_text
from crusts_index.index.find import NO_META, PART, Walk
from crusts_index.index.listing import Listings
from crusts_index.index.plan import PARSER, changed
from crusts_index.jsontext import dumps
from crusts_index.store.driver import sqlite3
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
_MARKS_OF_PATHS = f"{_MARKS} and path in (select value from json_each(?))"
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
            for folder, places in folders.items():
                project = walk.projects[folder]
                for path in changed(project, places, marks, walk.root):
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
        listings = None
        if is_text(root):  # the store can name no other
            bounds = (f"{_LISTED}{root}{os.sep}", f"{_LISTED}{root}{_AFTER_SEPARATOR}")
            kept = dict(self._store.execute(_LISTINGS, bounds))
            listings = Listings(root, kept, time.time_ns())
            self._listings.append((listings, kept))
        walk = Walk(root, listings)
        walk.walk()
        return walk

    def _doubted(self, walk: Walk) -> tuple[dict[str, Mark], dict[str, Iterable[int]]]:
        """What the store knows of those to be compared, by path, gone ones left out; and their places, by folder."""
        marks: dict[str, Mark] = {}
        doubted: dict[str, Iterable[int]] = {}
        held = 0
        for folder, project in {} if walk.unreadable else walk.projects.items():
            look = project.look()
            self._now[folder] = " ".join(look)
            places = _unlike(self._kept.get(folder, "").split(" "), look, len(project))
            if places is None:
                doubted[folder] = range(len(project))
                marks |= self._marks(_MARKS_OF_FOLDER, folder + os.sep, folder + _AFTER_SEPARATOR)
                continue
            held += len(project) - len(places)
            if places:
                doubted[folder] = places
                paths = project.paths()
                marks |= self._marks(_MARKS_OF_PATHS, dumps([paths[place] for place in places]))
        (count,) = self._store.execute(_READ, (walk.root, PARSER)).fetchone()
        if not walk.unreadable and held + len(marks) == count:
            return marks, doubted
        all_of_them: dict[str, Iterable[int]] = {
            folder: range(len(project)) for folder, project in walk.projects.items()
        }
        return self._marks(_MARKS_OF_ROOT, walk.root), all_of_them

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


def _unlike(kept: list[str], now: list[str], count: int) -> list[int] | None:
    """Places of transcripts in the parts of a look that are other ones than before; None where their paths are."""
    if kept[0] != now[0] or len(kept) != len(now):
        return None
    parts = [part for part, (one, other) in enumerate(zip(kept[1:], now[1:], strict=True)) if one != other]
    return [place for part in parts for place in range(part * PART, min(count, (part + 1) * PART))]


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def _compare(prefix: str, kept: dict[str, str], now: dict[str, str], gone: list[str], new: dict[str, str]) -> None:
    """Add the facts that are to go and those that are new."""
    gone += [prefix + folder for folder in kept if folder not in now]
    new.update({prefix + folder: text for folder, text in now.items() if kept.get(folder) != text})
