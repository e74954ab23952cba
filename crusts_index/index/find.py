"""Finds transcripts under the projects folders (D3): one scandir a folder, one stat a file, nothing opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

_SET_ASIDE = (".orphaned", ".superseded")


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


class Walk:
    """One walk over a projects folder. What could not be read stands in `unreadable`."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.unreadable: list[tuple[str, str]] = []
        self._files: set[str] = set()
        self._folders: set[str] = {self.root}

    def transcripts(self) -> Iterator[Seen]:
        """Every transcript, each real file once, in no particular order."""
        for entry in self.entries(self.root):
            if self._is_folder(entry):
                yield from self._project(self._real(entry), entry.name)

    def _project(self, path: str, folder: str) -> Iterator[Seen]:
        for entry in self.entries(path):
            name = entry.name
            if _is_transcript(name):
                kind = "subagent" if name.startswith("agent-") else "main"
                yield from self.file(entry, folder, kind, None)
            elif "." not in name and self._is_folder(entry):
                subagents = os.path.join(self._real(entry), "subagents")
                yield from self.agents(subagents, folder, name)

    def agents(self, path: str, folder: str, session: str) -> Iterator[Seen]:
        """The subagents' transcripts below a session's `subagents` folder."""
        metas: dict[str, os.DirEntry[str]] = {}
        files: list[os.DirEntry[str]] = []
        for entry in self.entries(path, may_miss=True):
            name = entry.name
            if _is_transcript(name) and name.startswith("agent-"):
                files.append(entry)
            elif name.endswith(".meta.json"):
                metas[name[: -len(".meta.json")]] = entry
            elif "." not in name and self._is_folder(entry):
                yield from self.agents(self._real(entry), folder, session)
        for entry in files:
            yield from self.file(entry, folder, "subagent", session, metas.get(entry.name[: -len(".jsonl")]))

    def file(
        self,
        entry: os.DirEntry[str],
        folder: str,
        kind: str,
        session: str | None,
        meta: os.DirEntry[str] | None = None,
    ) -> Iterator[Seen]:
        """The transcript that an entry is, unless its real file was seen already."""
        path = self._real(entry)
        if path in self._files:
            return
        self._files.add(path)
        try:
            about = entry.stat()
            if not entry.is_file():
                return
        except OSError as error:
            self.unreadable.append((path, _reason(error)))
            return
        meta_path = meta.path if meta is not None else None
        if meta is None and kind == "subagent" and session is None:
            beside = path[: -len(".jsonl")] + ".meta.json"
            meta_path = beside if os.path.exists(beside) else None
        yield Seen(
            *(self.root, path, folder, entry.name[: -len(".jsonl")], kind, session),
            *(about.st_size, about.st_mtime_ns, about.st_ino),
            *(meta_path, _mtime_ns(meta_path)),
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
    found: list[Seen] = []
    for entry in walk.entries(os.path.dirname(path), may_miss=True):
        if entry.name == name:
            kind = "subagent" if name.startswith("agent-") else "main"
            found += walk.file(entry, folder, kind, session, None)
    if session is not None:
        found = [_with_meta(one) for one in found]
    elif found and found[0].kind == "main":
        found += walk.agents(os.path.join(project, found[0].stem, "subagents"), folder, found[0].stem)
    return found


def _with_meta(seen: Seen) -> Seen:
    beside = seen.path[: -len(".jsonl")] + ".meta.json"
    mtime_ns = _mtime_ns(beside)
    return seen if mtime_ns is None else seen._replace(meta_path=beside, meta_mtime_ns=mtime_ns)


def _is_transcript(name: str) -> bool:
    return name.endswith(".jsonl") and name != "journal.jsonl" and not any(mark in name for mark in _SET_ASIDE)


def _mtime_ns(path: str | None) -> int | None:
    try:
        return os.stat(path).st_mtime_ns if path else None
    except OSError:
        return None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
