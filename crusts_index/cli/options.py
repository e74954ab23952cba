"""Options that several commands share, each declared once.

The common ones belong to every command without being named in its signature: `app` adds them, before and
after the command's name, and a command takes what they say from `settings(context)`.
"""

import enum
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer

from crusts_index import __version__
from crusts_index.errors import WrongUsage
from crusts_index.render import console
from crusts_index.store import when
from crusts_index.store.settings import Flags, Settings, load_settings


def settings(context: typer.Context) -> Settings:
    """The settings of this run, from the common options wherever they stood. Puts the time zone in place."""
    return load_settings(_flags(context))


def since(text: str | None) -> int | None:
    """UTC milliseconds of `--since`, None if not given: records at or after it. Call after `settings`."""
    return None if text is None else _named("--since", when.parse_when, text)


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


def _flags(context: typer.Context) -> Flags:
    if not isinstance(context.obj, Flags):
        context.obj = Flags()
    return context.obj


def _remember(context: typer.Context, option: typer.CallbackParam, value: object) -> None:
    """Note a common option; the values before and after the command's name end up in one Flags."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if option.name and (isinstance(item, str) or item is True):
            _flags(context).give(option.name, None if item is True else item)


def _common(*names: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, show_default=False, callback=_remember, expose_value=False)


def _print_version(asked: bool) -> None:
    if asked:
        console.put(f"crusts {__version__}")
        raise typer.Exit


# The common options, before or behind the name of any command.
Path = Annotated[list[str] | None, _common("--path", metavar="DIR", help="Claude Code folder to read; repeatable.")]
Db = Annotated[str | None, _common("--db", metavar="FILE", help="The store.")]
Project = Annotated[str | None, _common("--project", metavar="TEXT", help="Only projects whose path has TEXT.")]
Json = Annotated[bool, _common("--json", help="Print JSON.")]
Timezone = Annotated[str | None, _common("--timezone", metavar="ZONE", help="Zone of days, weeks and months.")]
Verbose = Annotated[bool, _common("--verbose", "-v", help="Say more.")]
NoIndex = Annotated[bool, _common("--no-index", help="Answer from the store as it is.")]
NoColor = Annotated[bool, _common("--no-color", help="No colour.")]
Version = Annotated[bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version.")]


class Format(enum.StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


LARGEST = 1_000_000_000
"""The largest number that an option takes."""


def whole(least: int = 1, most: int = LARGEST) -> Callable[[str], int]:
    """What reads a whole number within bounds, for an option's `parser`."""

    def parse(said: str) -> int:
        digits = str(said).strip()  # a default is a number already
        if digits.isascii() and digits.isdigit() and len(digits) < 20 and least <= int(digits) <= most:
            return int(digits)
        raise typer.BadParameter(f"{said!r} is no whole number from {least:,} to {most:,}")

    return parse


def number(least: float, most: float = LARGEST) -> Callable[[str], float]:
    """The same for numbers with decimals."""

    def parse(said: str) -> float:
        with suppress(ValueError):
            if str(said).isascii() and least <= float(said) <= most:  # which is false for what is no number
                return float(said)
        raise typer.BadParameter(f"{said!r} is no number from {least:,g} to {most:,}")

    return parse


# Shared by several commands, named in their signatures.
Session = Annotated[
    str | None, typer.Argument(metavar="[SESSION]", help="Start of a session's id; else the one last active.")
]
Last = Annotated[int | None, typer.Option("--last", parser=whole(), metavar="N", help="The Nth newest session.")]
Since = Annotated[str | None, typer.Option("--since", metavar="WHEN", help="2026-11-30, 7d, 24h, 2w or a time.")]
Until = Annotated[str | None, typer.Option("--until", metavar="WHEN", help="As --since; a date's day included.")]
UntilMessage = Annotated[int | None, typer.Option("--until", parser=whole(), metavar="N", help="Messages 1 to N only.")]
Limit = Annotated[
    int | None, typer.Option("--limit", parser=whole(), metavar="N", help="Rows to show; all if not given.")
]
RowFormat = Annotated[Format, typer.Option("--format", help="How to print the rows.")]
