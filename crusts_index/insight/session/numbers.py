"""Numbers as a user writes them into config.json, taken only if they make sense."""

from __future__ import annotations


def usable_number(value: object) -> int | float | None:
    """The value if it is a number from 0 on that a float holds exactly, else None; true and false are no numbers."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None
