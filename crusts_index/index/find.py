"""Finds transcripts under the projects folders (D3): one scandir a folder, one stat a file, nothing opened."""

from __future__ import annotations

import os
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

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
else:  # on the quick path, where typing is dear to import
    Seen = namedtuple("Seen", "root path folder stem kind parent_session size mtime_ns inode meta_path meta_mtime_ns")


class Walk:
    """One walk over a projects folder. What could not be read stands in `unreadable`."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.unreadable: list[tuple[str, str]] = []
        self.found: dict[str, Seen] = {}
        """Transcripts by their real paths."""
        self._links: list[tuple[os.DirEntry[str], str, str | None]] = []
        self._folders: set[str] = {self.root}

    def transcripts(self) -> list[Seen]:
        """Every transcript, each real file once, in no particular order."""
        for entry in self.entries(self.root):
            if self._is_folder(entry):
                self._project(self._real(entry), entry.name)
        # Links last: a file that lies in a project folder itself is that project's.
        for entry, folder, session in self._links:
            self.file(entry, os.path.realpath(entry.path), folder, session)
        return list(self.found.values())

    def _project(self, path: str, folder: str) -> None:
        for entry in self.entries(path):
            name = entry.name
            if name.endswith(".jsonl"):
                self._take(entry, folder, None)
            elif "." not in name and self._is_folder(entry):
                self.agents(f"{self._real(entry)}{os.sep}subagents", folder, name)

    def agents(self, path: str, folder: str, session: str) -> None:
        """The subagents' transcripts below a session's `subagents` folder."""
        metas: dict[str, os.DirEntry[str]] = {}
        files: list[os.DirEntry[str]] = []
        for entry in self.entries(path, may_miss=True):
            name = entry.name
            if name.endswith(".jsonl"):
                if name.startswith("agent-"):
                    files.append(entry)
            elif name.endswith(".meta.json"):
                metas[name[: -len(".meta.json")]] = entry
            elif "." not in name and self._is_folder(entry):
                self.agents(self._real(entry), folder, session)
        for entry in files:
            self._take(entry, folder, session, metas.get(entry.name[: -len(".jsonl")]))

    def _take(
        self, entry: os.DirEntry[str], folder: str, session: str | None, meta: os.DirEntry[str] | None = None
    ) -> None:
        name = entry.name
        if name == "journal.jsonl" or ".orphaned" in name or ".superseded" in name:
            return
        if entry.is_symlink():
            self._links.append((entry, folder, session))
        else:
            self.file(entry, entry.path, folder, session, meta)

    def file(
        self,
        entry: os.DirEntry[str],
        path: str,
        folder: str,
        session: str | None,
        meta: os.DirEntry[str] | None = None,
    ) -> None:
        """Take in the transcript that an entry is, unless its real file was seen already."""
        try:
            about = entry.stat()
            if path in self.found or not entry.is_file():
                return
        except OSError as error:
            self.unreadable.append((path, _reason(error)))
            return
        stem = entry.name[:-6]
        kind = "subagent" if stem.startswith("agent-") else "main"
        meta_path = meta.path if meta is not None else None
        if meta is None and kind == "subagent" and session is None:
            meta_path = path[:-6] + ".meta.json"
        meta_mtime = _mtime_ns(meta_path) if meta_path is not None else None
        self.found[path] = Seen(
            self.root,
            path,
            folder,
            stem,
            kind,
            session,
            about.st_size,
            about.st_mtime_ns,
            about.st_ino,
            meta_path if meta_mtime is not None else None,
            meta_mtime,
        )

    def entries(self, path: str, *, may_miss: bool = False) -> list[os.DirEntry[str]]:
        """What lies in a folder; nothing, and a note, where it cannot be read."""
        try:
            with os.scandir(path) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError) as error:
            if not may_miss:
                self.unreadable.append((path, _reason(error)))
        except OSError as error:
            self.unreadable.append((path, _reason(error)))
        return []

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Whether it is a folder that was not walked yet; links are followed, loops end."""
        try:
            if not entry.is_dir():
                return False
        except OSError as error:
            self.unreadable.append((entry.path, _reason(error)))
            return False
        path = self._real(entry)
        if path in self._folders:
            return False
        self._folders.add(path)
        return True

    def _real(self, entry: os.DirEntry[str]) -> str:
        # Only a link needs resolving: the folder it stands in is real already.
        return os.path.realpath(entry.path) if entry.is_symlink() else entry.path


def find_one(path: str) -> list[Seen]:
    """A transcript named by its path, and with a main transcript the subagents of its session (D3)."""
    path = os.path.realpath(path)
    above = path.split(os.sep)
    session: str | None = None
    if "subagents" in above[:-1]:
        at = len(above) - 2 - above[:-1][::-1].index("subagents")
        session, project = above[at - 1], os.sep.join(above[: at - 1])
    else:
        project = os.path.dirname(path)
    walk = Walk(os.path.dirname(project))
    folder, name = os.path.basename(project), os.path.basename(path)
    for entry in walk.entries(os.path.dirname(path), may_miss=True):
        if entry.name == name:
            walk.file(entry, path, folder, session)
    if session is not None:
        return [_with_meta(one) for one in walk.found.values()]
    main = walk.found.get(path)
    if main is not None and main.kind == "main":
        walk.agents(os.path.join(project, main.stem, "subagents"), folder, main.stem)
    return list(walk.found.values())


def _with_meta(seen: Seen) -> Seen:
    beside = seen.path[: -len(".jsonl")] + ".meta.json"
    mtime_ns = _mtime_ns(beside)
    return seen if mtime_ns is None else seen._replace(meta_path=beside, meta_mtime_ns=mtime_ns)


def _mtime_ns(path: str | None) -> int | None:
    try:
        return os.stat(path).st_mtime_ns if path else None
    except OSError:
        return None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
