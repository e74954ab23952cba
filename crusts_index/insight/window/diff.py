"""What changed in a window between two of its states, on one basis for both (D14)."""

from __future__ import annotations

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.window.buckets import Buckets


class Change(NamedTuple):
    """Tokens on two sides; `percent` of the first, 100 where only the second has any."""

    category: str
    before: int
    after: int

    @property
    def delta(self) -> int:
        """Second less first."""
        return self.after - self.before

    @property
    def percent(self) -> float:
        """The change in per cent."""
        return percent_of_change(self.before, self.after)


class Difference(NamedTuple):
    """The categories on one basis, and their totals: on `window` the windows, on `content` the sums as counted."""

    basis: str
    total: Change
    categories: tuple[Change, ...]


def difference(before: Buckets, after: Buckets) -> Difference:
    """Compare two sets of buckets: on the window's basis only if both stand on it."""
    basis = "window" if before.basis == after.basis == "window" else "content"
    sides = []
    for buckets in (before, after):
        on_window = basis == "window"
        sides.append({one.category: one.tokens if on_window else one.content_tokens for one in buckets.buckets})
    first, second = sides
    return Difference(
        basis,
        Change("total", sum(first.values()), sum(second.values())),
        tuple(Change(category, first[category], second[category]) for category in CATEGORIES),
    )


def percent_of_change(before: float, after: float) -> float:
    """(after − before) / before in per cent; from nothing it is 100, or 0 to nothing."""
    if before > 0:
        return (after - before) / before * 100
    return 100.0 if after > 0 else 0.0
