"""Rows of the queries that say what an action frees and saves."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("actions")
class Past(NamedTuple):
    """What the user's history says: the median share that compactions freed, and how many calls a day has."""

    compactions: int
    freed_share: float | None
    sessions: int
    session_calls: int
    days: int
    day_calls: int

    @property
    def calls_a_day(self) -> float | None:
        """Calls of the project on a day with any; None without."""
        return self.day_calls / self.days if self.days else None


@of("actions_used")
class Used(NamedTuple):
    """A server or a skill that the project made use of."""

    kind: str
    name: str
