"""The terminal: data to stdout, notes to stderr, colour and width where there is a person to see them."""

import os
import sys

from crusts_index.plain import Safe, line, note, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["note", "tell"]

_HUES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35"} | {
    "cyan": "36",
    "match": "1;33",
    "flash": "1;30;43",
}
_FALLBACK_COLUMNS = 80
_MOST_COLUMNS = 10_000


def put(text: str) -> None:
    """Data for stdout, ended by one line end: one line, or the several of what is Safe.

    Characters that its encoding lacks become question marks.
    """
    text = line(text)
    if not text.endswith("\n"):
        text += "\n"
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def remark(*lines: str) -> None:
    """Words below a report, each line wrapped to the terminal's width."""
    width = table_width()
    for words in map(line, lines):
        for part in _wrapped(words, width) if width else [words]:
            put(part)


def _wrapped(words: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(words, width, subsequent_indent="  ", break_long_words=False)


def confirm(question: str) -> bool:
    """Ask on stderr; whether the answer is yes. The end of the input is no answer."""
    tell(f"{question} [y/N] ", end="")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n"):
        tell("")
    return answer.strip().lower() in ("y", "yes")


def is_terminal(stream: "TextIO") -> bool:
    """Whether somebody looks at the stream."""
    return stream is not None and stream.isatty()


def use_colour(stream: "TextIO", *, no_color: bool) -> bool:
    """Whether to colour: on a terminal that can, unless the settings say no (`no_color`, NO_COLOR)."""
    return is_terminal(stream) and not no_color and os.environ.get("TERM") != "dumb"


def paint(text: str, hue: str, *, on: bool) -> Safe:
    """`text`, cleaned, in a colour or weight of the terminal if that is on and there is one."""
    return Safe(f"\x1b[{_HUES[hue]}m{line(text)}\x1b[0m") if on and hue else line(text)


def table_width() -> int | None:
    """Columns that a table on stdout may take: COLUMNS, else the terminal's; None (any) in a pipe."""
    said = os.environ.get("COLUMNS", "")
    if not said.isdigit() and not is_terminal(sys.stdout):
        return None
    return min(_MOST_COLUMNS, (int(said) if said.isdecimal() and len(said) < 10 else 0) or _terminal_columns())


def _terminal_columns() -> int:
    """As `shutil` has it, whose import brings all that packs and unpacks archives."""
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _FALLBACK_COLUMNS  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return _FALLBACK_COLUMNS
