"""Times as people type them on the command line, turned into UTC milliseconds, and back. Spec: D6."""

import time

from crusts_index.errors import WrongUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_UNITS = {"h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_DAYS = {"today": 0, "yesterday": 1}
_EARLIEST, _LATEST = -62_135_596_800_000, 253_402_300_800_000
"""The beginning of the year 1 and the end of the year 9999: SQLite and Python know no others."""
_FURTHEST = 1 << 62
_FORMS = (
    "2026-11-30 or 20261130, a time such as 2026-11-30T14:00 or 2026-11-30T13:00Z, today, yesterday, or 7d, 24h, 2w"
)


def now_ms() -> int:
    """The present, in UTC milliseconds."""
    return time.time_ns() // 1_000_000


def iso(milliseconds: int) -> str:
    """UTC milliseconds as ISO 8601."""
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"


def of_stamp(stamp: str) -> int | None:
    """UTC milliseconds of a time in the form that `iso` gives; None for another.

    By hand, for the quick paths: a `datetime` is a tenth of a start.
    """
    try:
        year, month, day, rest = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10]), stamp[11:]
        seconds = (int(rest[:2]) * 60 + int(rest[3:5])) * 60 + int(rest[6:8])
        thousandths = int(rest[9:12])
    except ValueError:
        return None
    if rest[12:] != "Z":
        return None
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)  # a leap day is the last one of its year
    days = year * 365 + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 719_469
    return (days * 86_400 + seconds) * 1000 + thousandths


def parse_when(text: str, now: int) -> int:
    """UTC milliseconds of what `text` names; a bare date is its local midnight, `7d` counts back from `now`.

    Raises WrongUsage for anything else.
    """
    return _parse(text, now, whole_day=False)


def parse_until(text: str, now: int) -> int:
    """The bound that records must stay below (`time < bound`), so that a bare date includes its whole day.

    Raises WrongUsage as parse_when does.
    """
    return _parse(text, now, whole_day=True)


def _parse(text: str, now: int, *, whole_day: bool) -> int:
    text = text.strip()
    amount, unit = text[:-1], text[-1:].lower()
    if unit in _UNITS and amount.isascii() and amount.isdigit():
        back = int(amount) * _UNITS[unit] if len(amount) < 20 else _FURTHEST
        if now - back < _EARLIEST:
            raise WrongUsage(f"{text!r} goes back beyond the year 1")
        return now - back
    # Here, since the common case above needs no datetime.
    from datetime import date, datetime, timedelta

    try:
        if (word := text.lower()) in _DAYS:
            today = datetime.fromtimestamp(now / 1000).astimezone().date()
            text = str(today - timedelta(days=_DAYS[word]))
        if _is_date(text):
            day = datetime.fromisoformat(text)
            if whole_day and day.date() == date.max:
                return _LATEST
            return _milliseconds(day + timedelta(days=1) if whole_day else day)
        if text[10:11] in ("T", "t", " ") and text[11:]:
            return _milliseconds(datetime.fromisoformat(text))
    except (ValueError, OverflowError, OSError):
        pass
    raise WrongUsage(f"cannot read {text!r} as a time; give {_FORMS}")


def _is_date(text: str) -> bool:
    digits = text.replace("-", "")
    shaped = len(text) == 8 or (len(text) == 10 and text[4] == text[7] == "-")
    return shaped and len(digits) == 8 and digits.isascii() and digits.isdigit()


def _milliseconds(moment: "datetime") -> int:
    # A moment without an offset is local; the local zone is TZ, which the settings have put in place.
    return min(_LATEST, max(_EARLIEST, round(moment.timestamp() * 1000)))
