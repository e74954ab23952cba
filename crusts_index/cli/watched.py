"""The session that `watch` shows: found once, then taken into the store and judged again whenever it has grown."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from crusts_index.cli.session import Store, opened
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.index.follow import Follower
from crusts_index.index.refresh import roots_of
from crusts_index.insight.waste.snapshot import (
    RUNNING_MS,
    Snapshot,
    contents_now,
    last_said,
    snapshot_of,
    workers_of,
)
from crusts_index.quick.live import Live
from crusts_index.quick.named import Named, latest, unindexed
from crusts_index.rows.window import SessionPart
from crusts_index.store import when
from crusts_index.store.settings import Settings


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
        named = Named(self._session_id or self.follower.stem, self.follower.path)
        live = Live(self._settings, named, when.now_ms(), trim=True, is_watch=True)
        try:
            self.shot = self._shot(live)
        finally:
            live.close()
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

    def _shot(self, live: Live) -> Snapshot:
        shot = snapshot_of(live.facts, live.window)._replace(is_behind=live.is_behind)
        if live.connection is None:
            return shot
        store, facts, window = Store(live.connection, self._settings), live.facts, live.window
        waste, (buckets, contents) = store.waste(facts, window), store.filled(facts, window)
        return shot._replace(
            contents=contents_now(buckets, contents, waste) if buckets else None,
            workers=workers_of(facts.tool_uses, facts.threads, self._written(), live.now_ms),
            said=last_said(store.fetch, facts),
        )

    def _written(self) -> list[tuple[str, int]]:
        return [(agent.agent_id, agent.mtime_ns // 1_000_000) for agent in self.follower.agents]
