"""How numbers are known, and those that a user writes into config.json, taken only if they make sense."""

from __future__ import annotations

EXACT, DERIVED, ESTIMATED = "exact", "derived", "estimated"
"""By the bill; from numbers of the bill; by the length of texts (D9)."""


def usable_number(value: object) -> int | float | None:
    """The value if it is a number from 0 on that a float holds exactly, else None; true and false are no numbers."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None
