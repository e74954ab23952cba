"""Follows a session on disk: what was written since the last look, and where the session goes on when it moves.

A look costs a stat of the transcript and of the subagents', and now and then one of each neighbour.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crusts_index.regular import open_regular

WRITTEN, REWRITTEN, MOVED, SWITCHED, MISSING = "written", "rewritten", "moved", "switched", "missing"
LOOK_AROUND_SECONDS = 2.0
QUIET_SECONDS = 5.0
"""How long a session rests before another one of its folder takes its place."""
QUIET_SECONDS_OF_PANES = 60.0
"""The same once two sessions of the folder were seen to go on side by side."""
_BEGINNING = 64 << 10
_CLEARED = (b"/clear</command-name>", b"SessionStart:clear")


class News(NamedTuple):
    """Something that happened: one of the constants above, and for a person, why or where."""

    kind: str
    why: str = ""


class Agent(NamedTuple):
    """A subagent's transcript."""

    agent_id: str
    size: int
    mtime_ns: int


class _Sign(NamedTuple):
    inode: int
    size: int
    mtime_ns: int


class Follower:
    """One session's transcript. `is_pinned`: the user named it, so only what continues it takes its place."""

    def __init__(self, path: str, projects: Sequence[str], *, is_pinned: bool) -> None:
        self.path = os.path.realpath(path)
        self.is_pinned = is_pinned
        self.agents: list[Agent] = []
        self._projects = [os.path.realpath(one) for one in projects]
        self._sign = _sign(self.path)
        self._asked = self.path
        self._seen = self._around()
        """Signs of the neighbours when they were last of no interest: as they are, they are idle."""
        self._known = set(self._seen)
        self._left: set[str] = set()
        self._declined: set[str] = set()
        self._unmarked: set[str] = set()
        self._is_continued = False
        self._quiet = QUIET_SECONDS
        self._looked_around = time.monotonic()
        self._find_agents()

    @property
    def stem(self) -> str:
        """The transcript's name, which as a rule is the session's id."""
        return _stem(self.path)

    def look(self) -> list[News]:
        """What happened since the last look; nothing, as a rule."""
        news = self._own()
        if self._find_agents() and not news:
            news.append(News(WRITTEN))
        if time.monotonic() - self._looked_around >= LOOK_AROUND_SECONDS or self._sign is None:
            self._looked_around = time.monotonic()
            news += self._elsewhere()
        return news

    def _own(self) -> list[News]:
        before, self._sign = self._sign, _sign(self.path)
        now = self._sign
        if now == before:
            return []
        if now is None:
            return [News(MISSING, self.path)]
        if before is not None and (now.inode != before.inode or now.size < before.size):
            return [News(REWRITTEN, "its transcript was replaced")]
        return [News(WRITTEN)]

    def _find_agents(self) -> bool:
        """Look at the subagents' transcripts; True if one was written to."""
        folder = os.path.join(os.path.dirname(self.path), self.stem, "subagents")
        found = sorted(_agents(folder))
        changed, self.agents = found != self.agents, found
        return changed

    def _elsewhere(self) -> list[News]:
        moved = self._same_name()
        if moved is not None:
            self._go(moved)
            return [News(MOVED, f"goes on in {moved}")]
        found = self._successor()
        if found is None:
            return []
        path, why = found
        if path in self._left:
            self._quiet = QUIET_SECONDS_OF_PANES
        self._left.add(self.path)
        if self._sign is not None:
            self._seen[self.path] = self._sign
        self._go(path)
        return [News(SWITCHED, why)]

    def _go(self, path: str) -> None:
        self.path, self._sign = path, _sign(path)
        self._find_agents()

    def _same_name(self) -> str | None:
        """The session's transcript in another project folder, where that was written to later."""
        name = os.path.basename(self.path)
        newest = self._sign.mtime_ns if self._sign else 0
        found: str | None = None
        for projects in self._projects:
            for folder in _entries(projects):
                path = os.path.realpath(os.path.join(folder.path, name))
                sign = _sign(path)
                if sign is not None and path != self.path and sign.mtime_ns > newest:
                    found, newest = path, sign.mtime_ns
        return found

    def _around(self) -> dict[str, _Sign]:
        """The main transcripts beside this one."""
        found: dict[str, _Sign] = {}
        for entry in _entries(os.path.dirname(self.path)):
            if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
                path = os.path.realpath(entry.path)
                sign = _sign(path)
                if sign is not None and path != self.path:
                    found[path] = sign
        return found

    def _successor(self) -> tuple[str, str] | None:
        """The neighbour that takes this session's place, and why; None while there is none."""
        own_ns = self._sign.mtime_ns if self._sign else 0
        is_quiet = time.time() - own_ns / 1e9 >= self._quiet
        for path, sign in sorted(self._around().items(), key=lambda one: -one[1].mtime_ns):
            if sign == self._seen.get(path) or not sign.size or path in self._declined:
                continue
            if self.is_pinned and path == self._asked and not self._is_continued:
                self._declined.add(self.path)  # both go on side by side, and this one was not asked for
                return path, "the session asked for goes on"
            if sign.mtime_ns <= own_ns:
                continue
            is_new = path not in self._known
            why = self._continues(path, sign.size) if is_new and path not in self._left else ""
            if why or (is_quiet and (is_new or not self.is_pinned or path in self._left)):
                self._is_continued = bool(why)
                return path, why or ("a newer session of this project" if is_new else "now active in this project")
        return None

    def _continues(self, path: str, size: int) -> str:
        """Why a new transcript is this session's continuation; empty if nothing in its beginning says so."""
        if path in self._unmarked:
            return ""
        try:
            with open_regular(path) as file:
                begins = file.read(_BEGINNING)
        except OSError:
            return ""
        if any(mark in begins for mark in _CLEARED):
            return "after /clear"
        if f'"sessionId":"{self.stem}"'.encode() in begins:
            return "its history was copied into a new session"
        if size > _BEGINNING:
            self._unmarked.add(path)
        return ""


def _sign(path: str) -> _Sign | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return _Sign(about.st_ino, about.st_size, about.st_mtime_ns)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _agents(folder: str) -> Iterator[Agent]:
    """The subagents' transcripts below a folder (D3); links to folders are left to the index."""
    waiting = [folder]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.name.startswith("agent-") and entry.name.endswith(".jsonl"):
                sign = _sign(entry.path)
                if sign is not None:
                    yield Agent(_stem(entry.name).removeprefix("agent-"), sign.size, sign.mtime_ns)
            elif "." not in entry.name and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")
