"""Options and arguments that several commands share, each declared once, and what their words stand for.

The common ones (`settings.COMMON`) belong to every command without being named in its signature.
"""

from collections.abc import Callable

from crusts_index.cli.declared import Annotated, Argument, Option
from crusts_index.errors import WrongUsage
from crusts_index.store import when


def moment(option: str, text: str | None) -> int | None:
    """UTC milliseconds of an option that names a time, None if not given. Call after the settings are loaded."""
    return None if text is None else _named(option, when.parse_when, text)


def since(text: str | None) -> int | None:
    """The moment of `--since`: records at or after it."""
    return moment("--since", text)


def until(text: str | None) -> int | None:
    """UTC milliseconds of `--until`, None if not given: records before it; a bare date is included whole."""
    return None if text is None else _named("--until", when.parse_until, text)


def period(since_text: str | None, until_text: str | None) -> tuple[int | None, int | None]:
    """Both, as `since` and `until` have them. Raises WrongUsage where there is no time between them."""
    begin, end = since(since_text), until(until_text)
    if begin is not None and end is not None and begin >= end:
        raise WrongUsage(f"--since {since_text} is not before --until {until_text}")
    return begin, end


def _named(option: str, parse: Callable[[str, int], int], text: str) -> int:
    try:
        return parse(text, when.now_ms())
    except WrongUsage as error:
        raise WrongUsage(f"{option}: {error}") from None


LARGEST = 1_000_000_000
"""The largest number that an option takes."""


def whole(least: int = 1, most: int = LARGEST) -> Callable[[str], int]:
    """What reads a whole number within bounds; it raises WrongUsage for anything else."""

    def read(said: str) -> int:
        digits = said.strip()
        if digits.isascii() and digits.isdigit() and len(digits) < 20 and least <= int(digits) <= most:
            return int(digits)
        raise WrongUsage(f"{said!r} is no whole number from {least:,} to {most:,}")

    return read


def number(least: float, most: float = LARGEST) -> Callable[[str], float]:
    """The same for numbers with decimals."""

    def read(said: str) -> float:
        try:
            if said.isascii() and least <= float(said) <= most:  # which is false for what is no number
                return float(said)
        except ValueError:
            pass
        raise WrongUsage(f"{said!r} is no number from {least:,g} to {most:,}")

    return read


Session = Annotated[str | None, Argument("[SESSION]", "Start of a session's id; else the one last active.")]
Last = Annotated[int | None, Option("--last", reads=whole(), metavar="N", help="The Nth newest session.")]
Since = Annotated[str | None, Option("--since", metavar="WHEN", help="2026-11-30, today, 7d, 24h, 2w or a time.")]
Until = Annotated[str | None, Option("--until", metavar="WHEN", help="As --since; a date's day included.")]
UntilMessage = Annotated[int | None, Option("--until", reads=whole(), metavar="N", help="Messages 1 to N only.")]
Limit = Annotated[int | None, Option("--limit", reads=whole(), metavar="N", help="Rows to show; all if not given.")]
