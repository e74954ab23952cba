"""What commands about one session have in common: which session, its facts, and its window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Connection

from crusts_index.cli import show
from crusts_index.insight.session.choose import choose_session
from crusts_index.store import query, when
from crusts_index.store.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.advice import Advice
    from crusts_index.insight.waste.find import WasteItem
    from crusts_index.insight.window.judge import Window
    from crusts_index.rows import Row


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The store with what is new taken in, closed at the end."""
    with show.opened(settings) as connection:
        yield Store(connection, settings)


class Store:
    """An open store, asked for rows by their classes.

    What judges a session is imported where it is asked for: many a command only wants to know which one is meant.
    """

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection, self._settings = connection, settings

    def fetch(self, kind: type[Row], name: str | None = None, /, **parameters: object) -> list[Row]:
        """The rows of a class's query."""
        return query.rows(self._connection, kind, name, **parameters)

    def choose(self, session: str | None, last: int | None = None) -> str:
        """The id of the session that the command line names. Raises CrustsError."""
        settings = self._settings
        folder = None if settings.project else os.getcwd()
        return choose_session(self.fetch, session, last=last, project=settings.project, folder=folder)

    def load(self, session_id: str, until: int | None = None) -> Facts:
        """A session's facts up to a message. Raises CrustsError for a number out of range."""
        from crusts_index.insight.session.loading import load

        return load(self.fetch, session_id, until)

    def waste(self, facts: Facts, window: Window) -> tuple[list[WasteItem], Advice]:
        """The waste in the window, and what to do, by the thresholds of config.json."""
        from crusts_index.index.recorded import reader_of
        from crusts_index.insight.waste.advice import advise
        from crusts_index.insight.waste.find import find_waste
        from crusts_index.insight.waste.thresholds import thresholds_of
        from crusts_index.rows.session import SessionOtherRead

        thresholds, session_id = thresholds_of(self._settings.config), facts.session.session_id
        elsewhere = self.fetch(SessionOtherRead, session=session_id)
        items = find_waste(facts, window, thresholds, elsewhere, reader_of(self.fetch, session_id))
        return items, advise(facts, window, items, thresholds)

    def window(self, facts: Facts) -> Window:
        """The session's window by the settings that hold for it."""
        from crusts_index.insight.window.habits import habits_of
        from crusts_index.insight.window.judge import window_of
        from crusts_index.insight.window.settings import window_settings

        config = self._settings.config
        settings = window_settings(self.fetch, facts, config, os.environ, when.now_ms())
        return window_of(facts, settings, habits_of(self.fetch))
