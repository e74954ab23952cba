"""What changed in a window between two of its states, on one basis for both (D14)."""

from __future__ import annotations

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.window.buckets import CONTENT, WINDOW
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.window.buckets import Buckets


class Change(NamedTuple):
    """Tokens on two sides, None on one that is not known yet; `percent` of the first, 100 where only the second has
    any."""

    category: str
    before: int | None
    after: int | None

    @property
    def delta(self) -> int | None:
        """Second less first."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def percent(self) -> float | None:
        """The change in per cent."""
        return None if self.before is None or self.after is None else percent_of_change(self.before, self.after)

    @property
    def relative(self) -> float | None:
        """The same for people: None from nothing, which no number is a share of."""
        return self.percent if self.before or not self.after else None


class Difference(NamedTuple):
    """The categories on one basis, and their totals: on `window` the windows, on `content` the sums as counted."""

    basis: str
    total: Change
    categories: tuple[Change, ...]


def difference(before: Buckets | None, after: Buckets | None) -> Difference:
    """Compare two sets of buckets: on the window's basis only if both stand on it. None: not known yet."""
    sides = before, after
    basis = WINDOW if all(one is not None and one.basis == WINDOW for one in sides) else CONTENT
    totals = (None if one is None else one.total if basis == WINDOW else one.content_sum for one in sides)
    return Difference(
        basis,
        Change("total", *totals),
        tuple(Change(name, *(_tokens(one, name, basis) for one in sides)) for name in CATEGORIES),
    )


def _tokens(buckets: Buckets | None, category: str, basis: str) -> int | None:
    if buckets is None:
        return None
    return buckets.tokens(category) if basis == WINDOW else buckets.contents.tokens[category]


def percent_of_change(before: float, after: float) -> float:
    """(after − before) / before in per cent; from nothing it is 100, or 0 to nothing."""
    if before > 0:
        return (after - before) / before * 100
    return 100.0 if after > 0 else 0.0
