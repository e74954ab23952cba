"""Timestamps as logged, in UTC milliseconds (D6)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import UTC, datetime, timedelta
else:
    try:  # all but the C module takes a twelfth of an interpreter start
        from _datetime import datetime, timedelta, timezone

        UTC = timezone.utc
    except ImportError:  # another interpreter
        from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Years that no transcript can bear are no times.
_EARLIEST = (datetime(2000, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
_LATEST = (datetime(2200, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND


def milliseconds(stamp: str | None) -> int | None:
    """UTC milliseconds of an ISO 8601 timestamp, cut (not rounded) to the millisecond; None if it is none.

    Without a zone it is UTC. A year before 2000 or after 2199 is none.
    """
    if not stamp:
        return None
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
