"""Remembers what lay in project folders, so that those which lie as they did are not read again: only looked at (D3).

A folder's times change with whatever is made, renamed or deleted in it, its ctime also where its mtime is set back. So
a project folder lies as it did where each folder that a walk over it read still has the stat it had; the transcripts
are looked at one by one all the same. In doubt nothing is remembered: where a link was met, since what it leads to may
be another project's; where anything could not be read; of folders that were changed a moment before they were read, or
by a clock that was ahead; on other file systems than the root's, and on those that tell times coarsely. And nothing is
believed for long.
"""

from __future__ import annotations

import os

from crusts_index.claude.transcripts import ENDING
from crusts_index.index.find import NO_META, Project, mtime_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.index.find import Sight

    Folders = list[tuple[str, os.stat_result]]
    """Folders that were read, with their stats from before."""

_SETTLED_NS = 2 * 10**9
"""How long a folder must have lain still: file systems tell times by up to two seconds."""

_BELIEVED_NS = 3600 * 10**9

_COARSE_NS = 10**7
"""Times that are all multiples of this are not told finely enough."""

_HAS_META = "/"  # no name has it
_ITSELF = "."


class Listings:
    """What lay in the project folders of a root: by folder, as an earlier run kept it. `now_ns` is the time of now."""

    def __init__(self, root: str, kept: dict[str, str], now_ns: int) -> None:
        self._kept, self._now_ns = kept, now_ns
        self.now: dict[str, str] = {}
        """What is to be kept from this run on."""
        try:
            self._device = os.stat(root).st_dev
        except OSError:
            self._device = -1

    def recall(self, path: str, name: str) -> Project | None:
        """The project folder, if all in it lies as it did; its transcripts as they are now."""
        text = self._kept.get(path)
        if text is None:
            return None
        try:
            project = _read(text, path, name, self._now_ns)
        except (OSError, ValueError):
            return None
        if project is not None:
            self.now[path] = text
        return project

    def note(self, path: str, project: Project, folders: Folders) -> None:
        """Remember a project folder that was read now, if its folders' times can be believed."""
        now, device = self._now_ns, self._device
        if os.name == "posix" and all(
            is_settled(about.st_ctime_ns, about.st_dev, now_ns=now, root_device=device) for _, about in folders
        ):
            text = _written(path, project, folders, self._now_ns)
            if text is not None:
                self.now[path] = text

    def forget(self) -> None:
        """Keep nothing: it is not sure."""
        self.now = {}


class _Kept(Project):
    """A project folder that was not read. Of its transcripts the numbers alone are kept: to hold ten thousand stats
    takes longer than to get them."""

    def __init__(self, path: str, name: str) -> None:
        super().__init__(name)
        self._path = path
        self._paths: list[str] = []
        self._metas: dict[str, str] = {}
        self._numbers: list[int] = []

    def look_at(self, below: str, names: str) -> None:
        """Look at the transcripts in one of its folders. Raises OSError where one cannot be looked at."""
        place = f"{self._path}/" if below == _ITSELF else f"{self._path}/{below}/"
        stems = names.split("\n")
        if _HAS_META not in names:
            paths = [f"{place}{stem}{ENDING}" for stem in stems]
            self._numbers += [n for s in map(os.stat, paths) for n in (s.st_size, s.st_mtime_ns, NO_META)]
        else:
            paths = []
            for stem in stems:
                path = f"{place}{stem.rstrip(_HAS_META)}{ENDING}"
                paths.append(path)
                about, meta = os.stat(path), NO_META
                if stem.endswith(_HAS_META):
                    self._metas[path] = f"{place}{stem[:-1]}.meta.json"
                    meta = os.stat(self._metas[path]).st_mtime_ns
                self._numbers += (about.st_size, about.st_mtime_ns, meta)
        self._paths += paths

    def paths(self) -> list[str]:
        return self._paths

    def numbers(self) -> list[int]:
        return self._numbers

    def sight(self, path: str) -> Sight | None:
        *above, name = path[len(self._path) + 1 :].split("/")
        try:
            return os.stat(path), self.name, name, above[0] if above else None, mtime_ns(self._metas.get(path))
        except OSError:
            return None  # deleted since


def is_settled(ctime_ns: int, device: int, *, now_ns: int, root_device: int) -> bool:
    """Whether the stat of a folder will tell whatever happens in it from now on."""
    return device == root_device and ctime_ns % _COARSE_NS != 0 and ctime_ns + _SETTLED_NS < now_ns


def _written(path: str, project: Project, folders: Folders, now_ns: int) -> str | None:
    """A project folder as text; None where a name is not fit for it.

    When it was read and how its folders were, and these; behind empty lines each of them with the names in it.
    """
    skipped = len(path) + 1
    names: dict[str, list[str]] = {}
    for transcript, meta in zip(project.paths(), project.numbers()[2::3], strict=True):
        below, _, name = transcript[skipped:].rpartition("/")
        mark = "" if meta == NO_META else _HAS_META
        names.setdefault(below or _ITSELF, []).append(name[: -len(ENDING)] + mark)
    read = [folder[skipped:] or _ITSELF for folder, _ in folders]
    parts = [[f"{now_ns} {_stamp(about for _, about in folders)}", *read], *([at, *names[at]] for at in names)]
    if any(not line or "\n" in line for part in parts for line in part):
        return None
    return "\n\n".join(map("\n".join, parts))


def _read(text: str, path: str, name: str, now_ns: int) -> Project | None:
    """A project folder from its text, if it is still so. Raises OSError where a part of it cannot be looked at."""
    head, *parts = text.split("\n\n")
    told, *folders = head.split("\n")
    read_ns, stamp = told.split(" ")
    if not 0 <= now_ns - int(read_ns) < _BELIEVED_NS:
        return None
    if stamp != _stamp(os.stat(path if at == _ITSELF else f"{path}/{at}") for at in folders):
        return None
    project = _Kept(path, name)
    for part in parts:
        below, _, names = part.partition("\n")
        project.look_at(below, names)
    return project


def _stamp(stats: Iterable[os.stat_result]) -> str:
    """What tells whether folders are the same and as they were."""
    # The hash of a tuple of numbers is the same in every process.
    numbers = [n for s in stats for n in (s.st_dev, s.st_ino, s.st_ctime_ns, s.st_mtime_ns, s.st_nlink, s.st_size)]
    return f"{hash(tuple(numbers)):x}"
