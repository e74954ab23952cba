"""A page for a terminal: lines of words, headings and tables, none of them wider than it is.

It cleans all that it is given, so that whoever writes on it need not think of where the words come from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from crusts_index.plain import Safe, join, line, lines
from crusts_index.render import console, text
from crusts_index.render.table import Form, table

Words = str | Sequence[str]
"""A line, or its parts where some of them are painted."""

_HUE = re.compile("\x1b\\[[0-9;]*m")


class Page:
    """Lines for a terminal of `width` columns, None being any; what is too long is wrapped."""

    def __init__(self, width: int | None, *, colour: bool) -> None:
        self.width, self.colour = width, colour
        self._lines: list[Safe] = []

    def say(self, words: Words = "", indent: int = 0) -> None:
        """A line of words, wrapped between them, the following lines indented."""
        self._lines += _wrap(words, self.width, indent)

    def say_inset(self, margin: int, words: Words) -> None:
        """A line set in from the left as a whole, its own further lines by two more."""
        room = self.width and max(1, self.width - margin)
        self._lines += [join([" " * margin, part]) for part in _wrap(words, room, 2)]

    def say_as_is(self, words: str, margin: int = 0) -> None:
        """Words to be copied: their lines stay as they are, however long."""
        self._lines += [join([" " * margin if part else "", part]) for part in lines(words).split("\n")]

    def head(self, words: str) -> None:
        """A heading after a blank line."""
        if self._lines:
            self._lines.append(Safe())
        words = line(words)
        self._lines.append(self.paint(text.shorten(words, self.width or len(words) + 1), "bold"))

    def head_session(self, session_id: str, title: str | None, before: str = "") -> None:
        """A session as the heading: its id, and its title if it has one."""
        self.head(f"{before}{session_id}" + (f" – {title}" if title else ""))

    def rows(
        self,
        columns: Sequence[str],
        values: Sequence[Sequence[object]],
        forms: Mapping[str, Form] | None = None,
    ) -> None:
        """A table; `forms` as in `table`."""
        self._lines += map(Safe, table(columns, values, self.width, forms).splitlines())

    def paint(self, words: str, hue: str) -> Safe:
        """Words in a hue of the terminal, where it has any: a part of a line."""
        return console.paint(words, hue, on=self.colour)

    def text(self) -> Safe:
        """All of it."""
        return Safe("\n".join(self._lines))


def _wrap(words: Words, width: int | None, indent: int = 0) -> list[Safe]:
    """The line in as many lines as it needs, broken between words; a word longer than a line is cut."""
    whole = join([words] if isinstance(words, str) else words)
    if width is None or _width(whole) <= width:
        return [whole]
    margin = " " * min(indent, width // 2)
    found: list[Safe] = []
    current = ""
    for word in whole.split(" "):
        wider = f"{current} {word}" if current.strip() else current + word
        if current.strip() and _width(wider) > width:
            found.append(Safe(current))
            wider = margin + word
        current = wider if _width(wider) <= width else text.shorten(_HUE.sub("", wider), width)
    return [*found, Safe(current)]


def _width(words: str) -> int:
    return text.width(_HUE.sub("", words))
