"""A page for a terminal: lines of words, headings and tables, none of them wider than it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crusts_index.render import console, text
from crusts_index.render.table import Form, table


class Page:
    """Lines for a terminal of `width` columns, None being any; what is too long is wrapped."""

    def __init__(self, width: int | None, *, colour: bool) -> None:
        self.width, self.colour = width, colour
        self.lines: list[str] = []

    def say(self, line: str = "", indent: int = 0) -> None:
        """A line of words, wrapped between them, the following lines indented."""
        self.lines += _wrap(line, self.width, indent)

    def say_inset(self, margin: int, line: str) -> None:
        """A line set in from the left as a whole, its own further lines by two more."""
        room = self.width and max(1, self.width - margin)
        self.lines += [" " * margin + part for part in _wrap(line, room, 2)]

    def head(self, line: str) -> None:
        """A heading after a blank line."""
        if self.lines:
            self.lines.append("")
        self.lines.append(console.paint(text.shorten(line, self.width or len(line) + 1), "bold", on=self.colour))

    def head_session(self, session_id: str, title: str | None, before: str = "") -> None:
        """A session as the heading: its id, and its title if it has one."""
        self.head(f"{before}{text.clean(session_id)}" + (f" – {text.clean(title)}" if title else ""))

    def rows(
        self,
        columns: Sequence[str],
        values: Sequence[Sequence[object]],
        forms: Mapping[str, Form] | None = None,
    ) -> None:
        """A table; `forms` as in `table`."""
        self.lines += table(columns, values, self.width, forms).splitlines()

    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)


def _wrap(line: str, width: int | None, indent: int = 0) -> list[str]:
    """The line in as many lines as it needs, broken between words; a word longer than a line is cut."""
    if width is None or text.width(line) <= width:
        return [line]
    margin = " " * min(indent, width // 2)
    found: list[str] = []
    current = ""
    for word in line.split(" "):
        wider = f"{current} {word}" if current.strip() else current + word
        if current.strip() and text.width(wider) > width:
            found.append(current)
            wider = margin + word
        current = text.shorten(wider, width)
    return [*found, current]
