"""What stands for a text where none may be kept: a mark that only tells equal from unequal (D16)."""

from __future__ import annotations

import re
from typing import Any

from crusts_index.transcript.digest import hash64

_VEILED = re.compile("#[0-9a-f]{12}")


def veiled(text: Any) -> Any:
    """What stands for a text: equal ones stay equal. What is no text, or is veiled, stays."""
    if not isinstance(text, str) or _VEILED.fullmatch(text):
        return text
    return f"#{hash64(text.encode('utf-8', 'replace')) & (1 << 48) - 1:012x}"
