"""Timestamps as logged, in UTC milliseconds (D6)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_EXCESS_DIGITS = re.compile(r"(\.\d{6})\d+")


def milliseconds(stamp: str | None) -> int | None:
    """UTC milliseconds of an ISO 8601 timestamp, cut (not rounded) to the millisecond; None if it is none.

    Without a zone it is UTC. Years that no transcript can bear (before 2000, after 2200) are no times.
    """
    if not stamp:
        return None
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        try:
            moment = datetime.fromisoformat(_EXCESS_DIGITS.sub(r"\1", stamp.strip()))
        except ValueError:
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not 2000 <= moment.year <= 2200:
        return None
    seconds = moment.replace(microsecond=0).timestamp()
    return int(seconds) * 1000 + moment.microsecond // 1000
