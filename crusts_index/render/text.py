"""Words and numbers for people: untrusted text made safe, widths, and short forms of numbers."""

import math
import unicodedata
from functools import lru_cache

from crusts_index import plain

NULL = "–"
ELLIPSIS = "…"


def clean(text: str) -> str:
    """One line of `text` for JSON and cells: no control, escape or bidi characters, each gap one space. Spec: D16."""
    words = plain.lines(text).replace("\n", " ").replace("\t", " ").split(" ")
    return " ".join(filter(None, words)).strip()


def width(text: str) -> int:
    """Columns that `text` takes on a terminal: wide characters two, combining and joining marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


@lru_cache(1024)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def shorten(text: str, columns: int) -> str:
    """`text`, cleaned to one line, in at most `columns` columns, its end replaced by … where it does not fit."""
    text = plain.line(text)
    if width(text) <= columns:
        return text
    if columns < 1:
        return ""
    kept, used = 0, 1  # the ellipsis takes one
    for char in text:
        used += _char_width(char)
        if used > columns:
            break
        kept += 1
    return text[:kept].rstrip() + ELLIPSIS


def shorten_path(path: str, columns: int) -> str:
    """A path in at most `columns` columns: its end says most, so … stands for its beginning."""
    path = plain.line(path)
    over = width(path) - columns
    if over <= 0:
        return path
    over += 1  # the ellipsis takes one
    cut = 0
    while over > 0 and cut < len(path):
        over -= _char_width(path[cut])
        cut += 1
    return ELLIPSIS + path[cut:]


class AtLeast(float):
    """A number that is known to be no smaller, and may be larger: ≥ stands before it wherever it is printed."""


def at_least(value: float | None, is_bound: object) -> float | None:
    """A number, as one that may be larger where `is_bound` holds."""
    return AtLeast(value) if value is not None and is_bound else value


def _bounded(value: float, said: str) -> str:
    return f"≥ {said}" if isinstance(value, AtLeast) else said


def number(value: float | None) -> str:
    """With thousands separators; a float keeps at most four decimals."""
    if value is None or not math.isfinite(value):
        return NULL
    plain_value = int(value) if isinstance(value, AtLeast) and value.is_integer() else value
    return _bounded(value, f"{plain_value if isinstance(plain_value, int) else round(plain_value, 4):,}")


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 call`, `2 calls`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def tokens(value: float | None) -> str:
    """About three digits and a unit: 950, 1.2k, 12.3k, 123k, 1.2M."""
    return _scaled(value, 1000, ("", "k", "M", "G", "T"))


def size(value: float | None) -> str:
    """Bytes, in steps of 1024: 950 B, 1.2 KB, 34 MB."""
    return _scaled(value, 1024, (" B", " KB", " MB", " GB", " TB"))


def _scaled(value: float | None, step: int, units: tuple[str, ...]) -> str:
    if value is None or not math.isfinite(value):
        return NULL
    sign, amount, place = ("-" if value < 0 else ""), abs(value), 0
    # 999.6 is 1.0 of the next unit, not 1000 of this one.
    while amount >= step - 0.5 and place < len(units) - 1:
        amount /= step
        place += 1
    digits = 0 if place == 0 or amount >= 99.95 else 1
    return _bounded(value, f"{sign}{amount:,.{digits}f}{units[place]}")


def usd(value: float | None) -> str:
    """Dollars to two decimals; what would show as nothing but is not shows as <$0.01."""
    if value is None or not math.isfinite(value):
        return NULL
    if 0 < value < 0.005 and not isinstance(value, AtLeast):
        return "<$0.01"
    return _bounded(value, f"{'-' if value < 0 else ''}${abs(value):,.2f}")


def percent(share: float | None) -> str:
    """A share of one as per cent: 0.1234 is 12.3%."""
    if share is None or not math.isfinite(share):
        return NULL
    return f"{share * 100:,.1f}%"


def age(milliseconds: float | None) -> str:
    """A span of time in its largest unit, rounded down: now, 5m, 3h, 2d, 6w, 2y."""
    if milliseconds is None:
        return NULL
    minutes = int(milliseconds // 60_000)
    for unit, span in (("y", 525_600), ("w", 10_080), ("d", 1_440), ("h", 60), ("m", 1)):
        # Weeks begin at two: "9d" says more than "1w".
        if minutes >= span * (2 if unit == "w" else 1):
            return f"{minutes // span}{unit}"
    return "now"
