"""Parses all that a line holds, for records of which the shapes name too little."""

from __future__ import annotations

import json
from typing import Any

from crusts_index.transcript.repair import clean

_BLANK = " \t\r\n\x00\ufeff"
_LONGEST_INTEGER = 300


def _integer(digits: str) -> int | float:
    """Python refuses to parse integers of many thousand digits; no count comes near that."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float("inf")


parser = json.JSONDecoder(strict=False, parse_int=_integer)


def parse(line: bytes) -> dict[str, Any]:
    """All that one record's line holds."""
    value = clean(parser.decode(line.decode("utf-8", "replace").strip(_BLANK)))
    assert isinstance(value, dict)
    return value
