"""Tells at a look which project folders have changed since the last run that left nothing out (D4).

A folder's look is a few bytes over the paths, sizes and times of its transcripts. As long as it holds, not one of
them is compared, and their rows are not even read.
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
    from collections.abc import Iterator

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

_MARKS = """
select path, size, mtime_ns, meta_mtime_ns, parser from transcripts where gone = 0 and path >= ? and path < ?
"""
_AFTER_SEPARATOR = chr(ord(os.sep) + 1)


class Looks:
    """What some walks found, beside what was kept of the last run."""

    def __init__(self, store: sqlite3.Connection, walks: list[Walk]) -> None:
        self._store, self._walks = store, walks
        self._is_plain = store.execute(_NOT_PLAIN, (PARSER,)).fetchone() is None
        self._kept: dict[str, str] = dict(store.execute(_KEPT)) if self._is_plain else {}
        self._now: dict[str, str] = {}

    @property
    def files(self) -> int:
        """Transcripts on disk."""
        if len(self._walks) == 1:
            return sum(map(len, self._walks[0].projects.values()))
        return len({path for walk in self._walks for found in walk.projects.values() for path in found})

    def changes(self) -> dict[str, Seen]:
        """Transcripts that are new or not as they were, by path; a later walk's say replaces an earlier one's."""
        seen: dict[str, Seen] = {}
        for walk in self._walks:
            for folder, found in walk.projects.items():
                look = _look(found)
                if not walk.unreadable:
                    self._now[folder] = look
                if self._kept.get(folder) != look or walk.unreadable:
                    marks = self._marks(folder + os.sep, folder + _AFTER_SEPARATOR)
                    seen.update((path, walk.seen(path, found[path])) for path in changed(found, marks))
        return seen

    def vanished(self) -> Iterator[str]:
        """Known transcripts of a root that are not there. A root that is empty as a whole lost nothing (D4)."""
        everywhere = [found for walk in self._walks for found in walk.projects.values()]
        for walk in self._walks:
            if not any(walk.projects.values()):
                continue
            blind = [path.rstrip(os.sep) for path, _ in walk.unreadable]
            for path in self._missing(walk):
                if any(path == folder or path.startswith(folder + os.sep) for folder in blind):
                    continue
                if not any(path in found for found in everywhere):
                    yield path

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

    def _marks(self, low: str, high: str) -> dict[str, Mark]:
        return {row[0]: row for row in self._store.execute(_MARKS, (low, high))}

    def _missing(self, walk: Walk) -> Iterator[str]:
        """Known paths under the root of a walk that it did not find, in folders that changed and between folders."""
        low = walk.root + os.sep
        for begin in sorted(folder + os.sep for folder in walk.projects if folder.startswith(low)):
            yield from self._marks(low, begin)
            folder = begin[: -len(os.sep)]
            low = folder + _AFTER_SEPARATOR
            if folder not in self._now or self._kept.get(folder) != self._now[folder]:
                yield from self._marks(begin, low).keys() - walk.projects[folder].keys()
        yield from self._marks(low, walk.root + _AFTER_SEPARATOR)


def _look(found: dict[str, Sight]) -> str:
    # The hash of a tuple of numbers is the same in every process, which that of a text is not.
    numbers = hash(tuple([n for s in found.values() for n in (s[0].st_size, s[0].st_mtime_ns, s[4] or 0)]))
    paths = "\n".join(found).encode("utf-8", "surrogateescape")
    return f"{numbers:x} {zlib.crc32(paths):x} {len(paths)}"
