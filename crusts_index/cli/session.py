"""What commands about one session have in common: which session, its facts, and its window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from sqlite3 import Connection

from crusts_index.index.refresh import open_refreshed
from crusts_index.insight.session.choose import choose_session
from crusts_index.store import query, when
from crusts_index.store.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.losses.taken import Event
    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.actions import Action
    from crusts_index.insight.waste.item import WasteItem
    from crusts_index.insight.waste.ways import Target
    from crusts_index.insight.window.buckets import Buckets
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listed import Content
    from crusts_index.insight.window.trend import Trend
    from crusts_index.rows import Row


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The store with what is new taken in, read-only, closed at the end."""
    with closing(open_refreshed(settings)) as connection:
        yield Store(connection, settings)


class Store:
    """An open store, asked for rows by their classes.

    What judges a session is imported where it is asked for: many a command only wants to know which one is meant.
    """

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.connection, self._settings = connection, settings

    def fetch(self, kind: type[Row], name: str | None = None, /, **parameters: object) -> list[Row]:
        """The rows of a class's query."""
        return query.rows(self.connection, kind, name, **parameters)

    def choose(self, session: str | None, last: int | None = None) -> str:
        """The id of the session that the command line names. Raises CrustsError."""
        settings = self._settings
        folder = None if settings.project else os.getcwd()
        return choose_session(self.fetch, session, last=last, project=settings.project, folder=folder)

    def load(self, session_id: str, until: int | None = None) -> Facts:
        """A session's facts up to a message. Raises CrustsError for a number out of range."""
        from crusts_index.insight.session.loading import load

        return load(self.fetch, session_id, until)

    def look(self, session_id: str, until: int | None = None) -> tuple[Facts, Window]:
        """A session's facts up to a message, and its window. Raises CrustsError for a number out of range."""
        facts = self.load(session_id, until)
        return facts, self.window(facts)

    def events(self, facts: Facts) -> list[Event]:
        """What each compaction of the session took (D19)."""
        from crusts_index.insight.losses.taken import losses_of, prices_of

        return losses_of(facts, prices_of(self.fetch, facts), lambda end: self.load(facts.session.session_id, end))

    def trend(self, limit: int | None) -> Trend:
        """The last sessions over time."""
        from crusts_index.insight.window.trend import trend_of

        settings = self._settings
        return trend_of(self.fetch, settings.config, os.environ, when.now_ms(), project=settings.project, limit=limit)

    def readout(self, since: int) -> dict[str, Any]:
        """The detail of the readout from `since` on, UTC milliseconds."""
        from crusts_index.quick.readout import read

        return read(self.connection, since, self._settings.project)

    def waste(self, facts: Facts, window: Window) -> list[WasteItem]:
        """The waste in the window, by the thresholds of config.json."""
        from crusts_index.quick.advised import waste_of

        return waste_of(self.fetch, self._settings, facts, window)

    def actions(
        self, facts: Facts, window: Window, waste: list[WasteItem], target: Target | None = None
    ) -> list[Action]:
        """What to do about the session and its project, or that of `target` (D18)."""
        from crusts_index.quick.advised import advised

        return advised(self.fetch, self._settings, facts, window, waste, target)

    def filled(self, facts: Facts, window: Window) -> tuple[Buckets | None, list[Content]]:
        """What fills the window: by category (D12), and everything in it, largest first (D17)."""
        from crusts_index.index.recorded import reader_of
        from crusts_index.insight.window.buckets import buckets_of
        from crusts_index.insight.window.listed import list_contents

        buckets = buckets_of(facts, window, reader_of(self.fetch, facts.session.session_id))
        return buckets, list_contents(facts, window, buckets)

    def window(self, facts: Facts) -> Window:
        """The session's window by the settings that hold for it."""
        from crusts_index.insight.window.habits import habits_of
        from crusts_index.insight.window.judge import window_of
        from crusts_index.insight.window.settings import window_settings

        config = self._settings.config
        settings = window_settings(self.fetch, facts, config, os.environ, when.now_ms())
        return window_of(facts, settings, habits_of(self.fetch))
