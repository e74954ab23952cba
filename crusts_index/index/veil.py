"""What stands for a text where none may be kept: a mark that only tells equal from unequal (D16)."""

from __future__ import annotations

from typing import Any

from crusts_index.transcript.digest import hash64

_HEX = frozenset("0123456789abcdef")
_LENGTH = 12


def veiled(text: Any) -> Any:
    """What stands for a text: equal ones stay equal. What is no text, or is veiled, stays."""
    if not isinstance(text, str) or (text.startswith("#") and len(text) == 1 + _LENGTH and _HEX.issuperset(text[1:])):
        return text
    return f"#{hash64(text.encode('utf-8', 'replace')) & (1 << 48) - 1:0{_LENGTH}x}"
