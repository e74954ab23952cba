"""What it costs to carry a block along: its tokens in every later call, at the price of a cache read (D13)."""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Block, Facts


class Carriage:
    """The calls of the live path, ready to tell how many of them carried a block of the window."""

    def __init__(self, facts: Facts) -> None:
        calls = sorted((call.ordinal, call.cache_read_usd) for call in facts.calls if call.on_path)
        self._ordinals = [ordinal for ordinal, _ in calls]
        # USD a token for all calls from each place on; None from where on one of them has no price.
        self._usd: list[float | None] = [0.0] * (len(calls) + 1)
        for place in range(len(calls) - 1, -1, -1):
            later, price = self._usd[place + 1], calls[place][1]
            self._usd[place] = None if later is None or price is None else later + price / 1e6

    def of(self, blocks: Iterable[Block]) -> tuple[int, float | None]:
        """Tokens times later calls (estimated as the tokens are), and USD; None where a call has no price."""
        return self.amount((block.tokens, block.call_ordinal) for block in blocks)

    def amount(self, parts: Iterable[tuple[int, int]]) -> tuple[int, float | None]:
        """The same of (tokens, ordinal of the call after which they came)."""
        tokens, usd = 0, 0.0
        priced = True
        for size, ordinal in parts:
            place = bisect_right(self._ordinals, ordinal)
            tokens += size * (len(self._ordinals) - place)
            each = self._usd[place]
            if each is None:
                priced = False
            else:
                usd += size * each
        return tokens, usd if priced else None
