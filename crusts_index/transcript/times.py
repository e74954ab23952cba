"""Timestamps as logged, in UTC milliseconds (D6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Years that no transcript can bear are no times.
_EARLIEST = (datetime(2000, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
_LATEST = (datetime(2200, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
# Nearly all are written alike, and many within one minute: the parts of these are looked up, a third of the work.
_SECONDS = {f"{second:02d}.": second * 1000 for second in range(60)}
_THOUSANDTHS = {f"{part:03d}Z": part for part in range(1000)}


def milliseconds(stamp: str | None) -> int | None:
    """UTC milliseconds of an ISO 8601 timestamp, cut (not rounded) to the millisecond; None if it is none.

    Without a zone it is UTC. A year before 2000 or after 2199 is none.
    """
    if not stamp:
        return None
    second, part = _SECONDS.get(stamp[17:20]), _THOUSANDTHS.get(stamp[20:])
    if second is None or part is None:
        return _parse(stamp)
    minute = _minute(stamp[:17])
    return None if minute is None else minute + second + part


@lru_cache(maxsize=1024)
def _minute(begin: str) -> int | None:
    return _parse(f"{begin}00.000Z")


def _parse(stamp: str) -> int | None:
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        from crusts_index.transcript.patterns import EXCESS_DIGITS

        try:
            moment = datetime.fromisoformat(EXCESS_DIGITS.sub(r"\1", stamp.strip()))
        except ValueError:
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    found = (moment - _EPOCH) // _MILLISECOND
    return found if _EARLIEST <= found < _LATEST else None
