"""The session that `watch` shows: found once, then taken into the store and judged again whenever it has grown."""

from __future__ import annotations

import os
import time
from contextlib import closing
from typing import NamedTuple

from crusts_index.cli.session import Store, opened
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.index.follow import Follower
from crusts_index.index.refresh import index_named, keeps_text, roots_of
from crusts_index.index.run import Options
from crusts_index.insight.waste.snapshot import (
    RUNNING_MS,
    Snapshot,
    contents_now,
    last_said,
    outlined,
    snapshot_of,
    workers_of,
)
from crusts_index.quick.live import Live
from crusts_index.quick.named import Named, latest, unindexed
from crusts_index.rows.live import LiveTranscript
from crusts_index.rows.window import SessionPart
from crusts_index.store import when
from crusts_index.store.open import open_store
from crusts_index.store.settings import Settings

LOCK_SECONDS = 0.5
"""How long a look waits for another program that writes."""
READ_SECONDS = 2.0
"""How long a look reads a backlog before it shows what it has."""


class Found(NamedTuple):
    """Which session to watch, and its transcript."""

    session_id: str | None
    path: str


def find_session(settings: Settings, session: str | None, last: int | None) -> Found:
    """The session that the command line names, in the store or not. Raises CrustsError for none."""
    if session is not None and last is not None:
        raise WrongUsage("an id and --last: give one of the two")
    newest = latest(settings, os.getcwd()) if session is None and last is None and not settings.project else None
    if newest is None or newest.transcript_path is None:
        try:
            return _in_store(settings, session, last)
        except CrustsError:
            newest = unindexed(settings, session) if session else None
            if newest is None or newest.transcript_path is None:
                raise
    return Found(newest.session_id, newest.transcript_path)


def _in_store(settings: Settings, session: str | None, last: int | None) -> Found:
    with opened(settings) as store:
        session_id = store.choose(session, last)
        parts = store.fetch(SessionPart, session=session_id)
    paths = [part.path for part in parts if os.path.isfile(part.path)]
    if not paths:
        raise CrustsError(f"the transcript of session {session_id} is no longer on disk: there is nothing to watch")
    return Found(session_id, max(paths, key=os.path.getmtime))


class Watched:
    """A session and its last snapshot."""

    def __init__(self, settings: Settings, found: Found, *, is_pinned: bool) -> None:
        self._settings = settings
        projects = [root.projects_dir for root in roots_of(settings)]
        self.follower = Follower(found.path, projects, is_pinned=is_pinned)
        self._session_id = found.session_id
        self.shot: Snapshot | None = None
        self.cost = 0.0
        """Seconds that the last look at the contents took."""

    @property
    def is_behind(self) -> bool:
        """Whether another look can find more though nothing was written."""
        return self.shot is not None and self.shot.is_behind and self._settings.refresh

    def take(self) -> Snapshot:
        """Read what is new and judge the session as it stands."""
        began = time.perf_counter()
        self.shot = self._stored(is_whole=self._read()) or self._from_transcript()
        self._session_id = self.shot.session_id
        self.cost = time.perf_counter() - began
        return self.shot

    def switch(self) -> None:
        """The follower went on to another transcript: nothing of the last snapshot holds."""
        self._session_id = None
        self.shot = None

    def update_workers(self) -> Snapshot | None:
        """The last snapshot without the subagents that have fallen silent."""
        if self.shot is not None and self.shot.workers:
            now, written = when.now_ms(), dict(self._written())
            keep = {worker for worker, time_ms in written.items() if now - time_ms <= RUNNING_MS}
            left = tuple(one for one in self.shot.workers if one.agent_id in keep)
            self.shot = self.shot._replace(workers=left)
        return self.shot

    def _read(self) -> bool:
        """Take what is new into the store; False where that was not to be, or not to its end."""
        settings = self._settings
        if not settings.refresh:
            return False
        options = Options(jobs=0, keep_text=keeps_text(settings), seconds=READ_SECONDS, kind="watch")
        try:
            return index_named(settings, [self.follower.path], options, timeout=LOCK_SECONDS).is_complete
        except CrustsError:
            return False

    def _stored(self, *, is_whole: bool) -> Snapshot | None:
        """The snapshot by all that the store has; None where it does not have the session, or not to its end."""
        try:
            with closing(open_store(self._settings.db, timeout=LOCK_SECONDS)) as connection:
                store = Store(connection, self._settings)
                rows = store.fetch(LiveTranscript, path=self.follower.path, session=None)
                if not rows:
                    return None
                if not is_whole and rows[0].offset != os.path.getsize(self.follower.path):
                    return None
                facts = store.load(rows[0].session_id)
                window = store.window(facts)
                waste, (buckets, contents) = store.waste(facts, window), store.filled(facts, window)
                return snapshot_of(facts, window)._replace(
                    contents=contents_now(buckets, contents, waste) if buckets else None,
                    workers=workers_of(facts.tool_uses, facts.threads, self._written(), when.now_ms()),
                    said=last_said(store.fetch, facts),
                )
        except (CrustsError, OSError):
            return None

    def _from_transcript(self) -> Snapshot:
        """The window by the store as it is and the bytes that it lacks, all else as it was."""
        named = Named(self._session_id or self.follower.stem, self.follower.path)
        live = Live(self._settings, named, when.now_ms(), trim=True)
        try:
            about, facts = live.facts.session, live.facts
            shot = outlined(
                about.session_id,
                about.project,
                about.messages,
                facts.calls,
                facts.all_compactions,
                live.window,
                self.shot,
            )
            return shot._replace(workers=workers_of((), (), self._written(), live.now_ms, shot.workers))
        finally:
            live.close()

    def _written(self) -> list[tuple[str, int]]:
        return [(agent.agent_id, agent.mtime_ns // 1_000_000) for agent in self.follower.agents]
