"""The terminal: data to stdout, notes to stderr, colour and width where there is a person to see them."""

import os
import shutil
import sys
from typing import TextIO

from crusts_index.render.text import clean

_COLOURS = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
_FALLBACK_COLUMNS = 80


def put(text: str) -> None:
    """Data for stdout, ended by one line end. Characters that its encoding lacks become question marks."""
    if not text.endswith("\n"):
        text += "\n"
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def remark(text: str) -> None:
    """Words below a report, wrapped to the terminal's width."""
    import textwrap

    width = table_width()
    for line in text.splitlines():
        put("\n".join(textwrap.wrap(line, width, break_long_words=False)) if width else line)


def note(message: str) -> None:
    """One line for the user on stderr; nothing that a program should read."""
    sys.stderr.write(f"crusts: {clean(message)}\n")


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at the stream."""
    return stream is not None and stream.isatty()


def use_colour(stream: TextIO, *, no_color: bool) -> bool:
    """Whether to colour: on a terminal that can, unless the settings say no (`no_color`, NO_COLOR)."""
    return is_terminal(stream) and not no_color and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, *, on: bool) -> str:
    """`text` in a colour or weight of the terminal, or as it is."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if on else text


def table_width() -> int | None:
    """Columns that a table on stdout may take: COLUMNS, else the terminal's; None (any) in a pipe."""
    if os.environ.get("COLUMNS", "").isdigit() or is_terminal(sys.stdout):
        return shutil.get_terminal_size((_FALLBACK_COLUMNS, 24)).columns
    return None
