"""The six categories, reconciled to the exact window where the estimates come near enough to it (D12)."""

from __future__ import annotations

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.session.numbers import ESTIMATED
from crusts_index.insight.window.contents import Contents, contents_of
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listings import Recorded

LEAST_SCALE, MOST_SCALE = 0.7, 1.4
WINDOW, CONTENT = "window", "content"


class Bucket(NamedTuple):
    """One category. `tokens` is on the basis of its Buckets, `content_tokens` as counted; percentage of the sum."""

    category: str
    tokens: int
    content_tokens: int
    percentage: float
    accuracy: str


class Buckets(NamedTuple):
    """The categories in their order. On basis `window` the tokens sum to the window, on `content` to `content_sum`.

    `scale` is window / content sum, None where there is nothing to compare.
    """

    buckets: tuple[Bucket, ...]
    basis: str
    scale: float | None
    content_sum: int
    contents: Contents

    def tokens(self, category: str) -> int:
        """Tokens of one category."""
        return next(bucket.tokens for bucket in self.buckets if bucket.category == category)

    @property
    def total(self) -> int:
        """The sum of the buckets."""
        return sum(bucket.tokens for bucket in self.buckets)


def buckets_of(facts: Facts, window: Window, recorded: Recorded | None = None) -> Buckets | None:
    """The window now; None while no call, not even a later one than the cut, tells what it holds (D11).

    `recorded` as for `contents_of`.
    """
    if not is_counted(window):
        return None
    contents = contents_of(facts, window.fixed_context, current=True, recorded=recorded)
    return reconciled(contents, window.size, may_scale=True)


def lifetime_of(facts: Facts, window: Window) -> Buckets | None:
    """All that the session brought into its windows, likewise; reconciled only where that is the window."""
    if not is_counted(window):
        return None
    contents = contents_of(facts, window.fixed_context, current=False)
    never_left = all(block.in_window for block in facts.blocks)
    return reconciled(contents, window.size, may_scale=never_left and not facts.all_compactions)


def is_counted(window: Window) -> bool:
    """Whether it is known what is in a window: before the first call only by a later one's fixed context."""
    return window.size is not None or window.fixed_context.tokens is not None


def reconciled(contents: Contents, size: int | None, *, may_scale: bool) -> Buckets:
    """Contents scaled to a window of `size` tokens where they come near enough to it, else as counted (D12)."""
    total = contents.total
    counted = [contents.tokens[category] for category in CATEGORIES]
    bands = scaled(counted, size) if may_scale and size else None
    basis, tokens = (CONTENT, counted) if bands is None else (WINDOW, bands)
    whole = sum(tokens)
    return Buckets(
        tuple(
            Bucket(
                category,
                amount,
                before,
                amount / whole * 100 if whole else 0.0,
                ESTIMATED if amount != before else contents.accuracy[category],
            )
            for category, amount, before in zip(CATEGORIES, tokens, counted, strict=True)
        ),
        basis,
        size / total if total and size else None,
        total,
        contents,
    )


def scaled(counted: Sequence[int], size: int) -> Sequence[int] | None:
    """Estimates scaled to sum to `size` (floor, the remainder to the largest); None where they are too far from it."""
    total = sum(counted)
    if not total or not LEAST_SCALE <= size / total <= MOST_SCALE:
        return None
    tokens = [amount * size // total for amount in counted]
    tokens[tokens.index(max(tokens))] += size - sum(tokens)
    return tokens
