"""A terminal taken over for a while: its other screen, without cursor and echo, and given back as it was."""

from __future__ import annotations

import os
import shutil
import sys
import termios
import tty
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from crusts_index.plain import Safe

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
_LEAVE = "\x1b[?25h\x1b[?1049l"


class Screen:
    """Draws whole pages on stdout, which is a terminal. Keys come without echo from stdin if that is one too."""

    def __init__(self) -> None:
        self.keys: int | None = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        self._modes: list[Any] | None = None
        self._drawn: tuple[tuple[int, int], list[Safe]] | None = None

    def enter(self) -> None:
        """Take the terminal over."""
        if self.keys is not None:
            with suppress(termios.error):
                self._modes = termios.tcgetattr(self.keys)
                tty.setcbreak(self.keys, termios.TCSANOW)
        self._write(_ENTER)
        self._drawn = None

    def leave(self) -> None:
        """Give it back."""
        if self._modes is not None and self.keys is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.keys, termios.TCSANOW, self._modes)
            self._modes = None
        with suppress(OSError):
            self._write(_LEAVE)

    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        with suppress(OSError):
            found = os.get_terminal_size(sys.stdout.fileno())
            if found.columns and found.lines:
                return found.columns, found.lines
        found = shutil.get_terminal_size((80, 24))
        return found.columns, found.lines

    def draw(self, lines: Sequence[Safe]) -> None:
        """Put the lines there in place of what there is, without flicker; nothing if they are there already."""
        page = (self.size(), list(lines))
        if page == self._drawn:
            return
        wiped = "\x1b[2J" if self._drawn is None or self._drawn[0] != page[0] else ""
        self._drawn = page
        self._write(f"\x1b[H{wiped}" + "\x1b[K\r\n".join(lines) + "\x1b[K\x1b[J")

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
