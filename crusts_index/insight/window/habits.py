"""What the user's own history says of windows: limits seen, buffers, growth; ready-made, so asking is cheap (D10)."""

from __future__ import annotations

from crusts_index.rows.window import Habit
from crusts_index.tuples import NamedTuple
from crusts_index.windows import PRIOR, RANGES, buffer_scope, ranges_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from crusts_index.rows import Fetch
    from crusts_index.windows import Ranges


class SeenLimit(NamedTuple):
    """From `since_ms` on calls or compactions showed that a model's window has `tokens`; `context` is what showed it:
    of a call that was larger than 200,000, else of an automatic compaction at or below.
    """

    since_ms: int
    tokens: int
    context: int


class Habits(NamedTuple):
    """`limits` by model, as asked for, in the order of time; `buffers` in tokens by `buffer_scope`; `priors` in tokens
    a call by project, "" = of all; `ranges` as in `forecast`. What is not there the user's history does not tell.
    """

    limits: Mapping[str, tuple[SeenLimit, ...]] = {}
    buffers: Mapping[str, int] = {}
    priors: Mapping[str, float] = {}
    ranges: Ranges = RANGES

    def limit(self, model: str, at_ms: int | None) -> SeenLimit | None:
        """What was seen last of a model's window at a time; of one before all that was seen, what was seen first."""
        seen = self.limits.get(model)
        if not seen:
            return None
        before = [one for one in seen if at_ms is None or one.since_ms <= at_ms]
        return before[-1] if before else seen[0]

    def buffer(self, limit: int, model: str, version: str | None) -> int | None:
        """What past automatic compactions of such a window left free of it."""
        return self.buffers.get(buffer_scope(limit, model, version))

    def prior(self, project: str) -> float:
        """Tokens a call until a compaction: as in the project, else as in all, else as is usual."""
        return self.priors.get(project) or self.priors.get("") or PRIOR


def habits_of(fetch: Fetch) -> Habits:
    """What the store has learned of the user's history."""
    limits: dict[str, tuple[SeenLimit, ...]] = {}
    buffers: dict[str, int] = {}
    priors: dict[str, float] = {}
    shares: dict[tuple[str, str], float] = {}
    for row in fetch(Habit):
        if row.kind == "limit":
            seen = SeenLimit(row.since_ms, int(row.value), row.support)
            limits[row.scope] = (*limits.get(row.scope, ()), seen)
        elif row.kind == "buffer":
            buffers[row.scope] = int(row.value)
        elif row.kind == "prior":
            priors[row.scope] = row.value
        else:
            shares[row.kind, row.scope] = row.value
    return Habits(limits, buffers, priors, ranges_by(shares))
