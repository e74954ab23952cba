"""Finds transcripts under the projects folders (D3): one scandir a folder, one stat a file, nothing opened."""

from __future__ import annotations

import os
import zlib

from crusts_index.claude.transcripts import ENDING, is_set_aside
from crusts_index.errors import ignored
from crusts_index.folders import is_text
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.index.listing import Listings

    Sight = tuple[os.stat_result, str, str, str | None, int | None]
    """What a walk notes of a transcript: its stat, project folder, name, session folder, mtime of its .meta.json."""

_NOT_THERE = (FileNotFoundError, NotADirectoryError)

PART = 64
"""Transcripts of a project folder that are compared together."""

NO_META = -1
"""In the place of a time, where a transcript has no .meta.json."""


class Seen(NamedTuple):
    """A transcript on disk."""

    root: str
    path: str
    folder: str
    stem: str
    kind: str
    parent_session: str | None
    size: int
    mtime_ns: int
    inode: int
    meta_path: str | None
    meta_mtime_ns: int | None


class Project:
    """The transcripts in a project folder, in the order in which they were found."""

    def __init__(self, name: str) -> None:
        self.name = name
        """By which it was come to: that of a link, where it is one."""
        self.sights: dict[str, Sight] = {}

    def __len__(self) -> int:
        return len(self.paths())

    def paths(self) -> list[str]:
        """Their real paths."""
        return list(self.sights)

    def numbers(self) -> list[int]:
        """Three of each: its size, its mtime_ns, and that of its .meta.json."""
        sights = self.sights.values()
        return [
            n
            for about, *_, meta in sights
            for n in (about.st_size, about.st_mtime_ns, NO_META if meta is None else meta)
        ]

    def sight(self, path: str) -> Sight | None:
        """All there is to note of one of them; None where it is no more."""
        return self.sights[path]

    def look(self) -> list[str]:
        """A few bytes over their paths, and a few over the numbers of each PART of them."""
        names, numbers = "\n".join(self.paths()).encode("utf-8", "surrogateescape"), self.numbers()
        # The hash of a tuple of numbers is the same in every process, which that of a text is not.
        parts = [f"{hash(tuple(numbers[at : at + 3 * PART])):x}" for at in range(0, len(numbers), 3 * PART)]
        return [f"{zlib.crc32(names):x}-{len(names)}", *parts]


class Walk:
    """One walk over a projects folder. What could not be read stands in `unreadable`.

    With `listings`, project folders that lie as they did when an earlier run read them are not read again.
    """

    def __init__(self, root: str, listings: Listings | None = None) -> None:
        self.root = os.path.realpath(root)
        self._listings = listings
        self._begin()

    def _begin(self) -> None:
        self.unreadable: list[tuple[str, str]] = []
        self.projects: dict[str, Project] = {}
        """The project folders by their real paths."""
        self._here: dict[str, Sight] = {}
        self._place = self.root
        self._links: list[tuple[os.DirEntry[str], str, str, str | None]] = []
        self._folders: set[str] = {self.root}
        self._has_links = False
        self._read: dict[str, list[tuple[str, os.stat_result]]] = {}

    def walk(self) -> None:
        """Look for every transcript, each real file once."""
        self._walk()
        listings, self._listings = self._listings, None
        if listings is None:
            return
        if self._has_links or self.unreadable:
            # A link may lead into another project, and takes from it what it leads to. So all are read.
            listings.forget()
            if len(self._read) < len(self.projects):
                self._begin()
                self._walk()
            return
        for path, folders in self._read.items():
            listings.note(path, self.projects[path], folders)

    def _walk(self) -> None:
        # Links last, in the order of their names: what lies in a folder itself is that folder's.
        for entry in sorted(self._entries(self.root), key=_links_last):
            if self._is_folder(entry):
                self._look_into(self._real(entry), entry.name)
        self._follow_links()

    def _look_into(self, path: str, folder: str) -> None:
        kept = None if self._listings is None else self._listings.recall(path, folder)
        if kept is not None:
            self.projects[path] = kept
        else:
            self._project(path, folder)

    def transcripts(self) -> list[Seen]:
        """Walk, and say all of every transcript."""
        self.walk()
        return self.found()

    def found(self) -> list[Seen]:
        """All of every transcript that was found."""
        sights = [(path, project.sight(path)) for project in self.projects.values() for path in project.paths()]
        return [self.seen(path, sight) for path, sight in sights if sight is not None]

    def seen(self, path: str, sight: Sight) -> Seen:
        """All there is to say of a transcript that was found."""
        about, folder, name, session, meta = sight
        stem = name[: -len(ENDING)]
        kind = "subagent" if name.startswith("agent-") else "main"
        meta_path = None if meta is None else f"{os.path.dirname(path)}{os.sep}{stem}.meta.json"
        where = (self.root, path, folder, stem, kind, session)
        return Seen(*where, about.st_size, about.st_mtime_ns, about.st_ino, meta_path, meta)

    def _enter(self, path: str, folder: str) -> None:
        """What is taken in from here on lies in that project folder."""
        self._place = path
        self._here = self.projects.setdefault(path, Project(folder)).sights

    def one(self, path: str, parts: list[str]) -> None:
        """Look for the transcript at `path` alone, whose place below the root is `parts`, and for its subagents."""
        folder, name = parts[0], parts[-1]
        session = parts[1] if len(parts) > 3 and parts[2] == "subagents" else None
        if len(parts) != 2 and session is None:
            return  # such a file is no transcript
        project = os.path.realpath(os.path.join(self.root, folder))
        self._enter(project, folder)
        place = _as_walked(project, parts[1:-1]) if session else os.path.realpath(os.path.dirname(path))
        beside = {entry.name: entry for entry in self._entries(place, may_miss=True)}
        stem, is_agent = name[: -len(ENDING)], name.startswith("agent-")
        if name in beside and (session is None or is_agent):
            self._take(beside[name], folder, session, beside.get(f"{stem}.meta.json") if session else None)
        self._follow_links()
        if len(self.projects[project]) and not is_agent:
            self._agents(_as_walked(project, [stem, "subagents"]), folder, stem)
            self._follow_links()

    def _follow_links(self) -> None:
        for entry, place, folder, session in sorted(self._links, key=lambda link: link[0].path):
            path = os.path.realpath(entry.path)
            if self._is_text(path) and not any(path in project.sights for project in self.projects.values()):
                self._here = self.projects[place].sights
                self._file(entry, path, folder, session)
        self._links.clear()

    def _project(self, path: str, folder: str) -> None:
        self._enter(path, folder)
        self._note_folder(path)
        sessions: list[os.DirEntry[str]] = []
        for entry in self._entries(path):
            if entry.name.endswith(ENDING):
                self._take(entry, folder, None)
            else:
                sessions.append(entry)
        for entry in sessions:
            if not is_set_aside(entry.name) and self._is_folder(entry):
                self._agents(f"{self._real(entry)}{os.sep}subagents", folder, entry.name)

    def _agents(self, path: str, folder: str, session: str) -> None:
        """The subagents' transcripts below a session's `subagents` folder."""
        waiting = [path]
        while waiting:  # folders may lie deeper in one another than functions may
            metas: dict[str, os.DirEntry[str]] = {}
            files: list[os.DirEntry[str]] = []
            place = waiting.pop()
            self._note_folder(place)
            for entry in self._entries(place, may_miss=True):
                name = entry.name
                if name.endswith(ENDING):
                    if name.startswith("agent-"):
                        files.append(entry)
                elif name.endswith(".meta.json"):
                    metas[name[: -len(".meta.json")]] = entry
                elif not is_set_aside(name) and self._is_folder(entry):
                    waiting.append(self._real(entry))
            for entry in files:
                self._take(entry, folder, session, metas.get(entry.name[: -len(ENDING)]))

    def _take(
        self, entry: os.DirEntry[str], folder: str, session: str | None, meta: os.DirEntry[str] | None = None
    ) -> None:
        if is_set_aside(entry.name):
            return
        if entry.is_symlink():
            self._links.append((entry, self._place, folder, session))
        else:
            self._file(entry, entry.path, folder, session, meta)

    def _file(
        self,
        entry: os.DirEntry[str],
        path: str,
        folder: str,
        session: str | None,
        meta: os.DirEntry[str] | None = None,
    ) -> None:
        """Take in the transcript that an entry is."""
        try:
            about = entry.stat()
            if not entry.is_file():
                return
        except _NOT_THERE:
            return  # a link to nothing, or deleted since the folder was listed
        except OSError as error:
            self.unreadable.append((path, reason(error)))
            return
        name = entry.name
        meta_mtime = None
        if meta is not None:
            meta_mtime = mtime_ns(meta.path)
        elif session is None and name.startswith("agent-"):
            meta_mtime = mtime_ns(path[: -len(ENDING)] + ".meta.json")
        self._here[path] = (about, folder, name, session, meta_mtime)

    def _note_folder(self, path: str) -> None:
        """Remember how a folder is before it is read; where it is missing, how the one is in which it would be."""
        if self._listings is None:
            return
        read = self._read.setdefault(self._place, [])
        try:
            read.append((path, os.stat(path)))
        except OSError:
            self._has_links |= os.path.islink(path)  # what it leads to may come any time
            above = os.path.dirname(path)
            with ignored(OSError):  # then it cannot be read either, which is noted
                read.append((above, os.stat(above)))

    def _entries(self, path: str, *, may_miss: bool = False) -> list[os.DirEntry[str]]:
        """What lies in a folder; nothing, and a note, where it cannot be read."""
        if not self._is_text(path):
            return []
        try:
            with os.scandir(path) as entries:
                found = [e for e in entries if e.name.isascii() or self._is_text(e.name, e.path)]
            if self._listings is not None and not self._has_links:
                self._has_links = any(e.is_symlink() for e in found)
            return found
        except _NOT_THERE as error:
            if not may_miss:
                self.unreadable.append((path, reason(error)))
        except OSError as error:
            self.unreadable.append((path, reason(error)))
        return []

    def _is_text(self, name: str, path: str | None = None) -> bool:
        """Whether a name is text; one that is not is noted."""
        if is_text(name):
            return True
        shown = (path or name).encode("utf-8", "replace").decode()
        self.unreadable.append((shown, "its name is not UTF-8"))
        return False

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Whether it is a folder that was not walked yet; links are followed, loops end."""
        try:
            if not entry.is_dir():
                return False
        except _NOT_THERE:
            return False
        except OSError as error:
            self.unreadable.append((entry.path, reason(error)))
            return False
        path = self._real(entry)
        if path in self._folders:
            return False
        self._folders.add(path)
        return True

    def _real(self, entry: os.DirEntry[str]) -> str:
        # Only a link needs resolving: the folder it stands in is real already.
        return os.path.realpath(entry.path) if entry.is_symlink() else entry.path


def find_one(path: str, roots: Iterable[str] = ()) -> list[Seen]:
    """A transcript named by its path, and with a main transcript the subagents of its session (D3).

    `roots` are the projects folders that tell where in them it lies; outside of all the names above it have to.
    """
    path = os.path.abspath(path)
    real = os.path.realpath(path)
    # Where the file itself lies comes before where a link to it does.
    for place in dict.fromkeys((real, path)):
        for root in roots:
            for below in dict.fromkeys((os.path.realpath(root), os.path.abspath(root))):
                if place.startswith(below + os.sep):
                    return _find_below(root, place, place[len(below) + 1 :].split(os.sep))
    above = real.split(os.sep)
    length = 2
    if above[-1].startswith("agent-") and "subagents" in above[3:-1]:
        length = above[:-1][::-1].index("subagents") + 4
    return _find_below(os.sep.join(above[:-length]) or os.sep, real, above[-length:])


def _find_below(root: str, path: str, parts: list[str]) -> list[Seen]:
    walk = Walk(root)
    walk.one(path, parts)
    return walk.found()


def _as_walked(project: str, below: list[str]) -> str:
    """A folder of subagents by the path that a walk over the project folder comes to it."""
    session, subagents, *inner = below
    # The walk takes `subagents` as it stands, a link or not, and every other folder as it is without links.
    path = os.path.join(os.path.realpath(os.path.join(project, session)), subagents)
    for name in inner:
        path = os.path.join(path, name)
        path = os.path.realpath(path) if os.path.islink(path) else path
    return path


def _links_last(entry: os.DirEntry[str]) -> tuple[bool, str]:
    return entry.is_symlink(), entry.name


def mtime_ns(path: str | None) -> int | None:
    """When a file was written; None where there is none to be seen."""
    try:
        return os.stat(path).st_mtime_ns if path else None
    except OSError:
        return None


def reason(error: OSError) -> str:
    """Why something could not be read, in a few words."""
    return (error.strerror or str(error)).lower()
