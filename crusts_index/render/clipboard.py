"""The clipboard: the system's own, or that of the terminal in front of the user (OSC 52), also over ssh."""

from __future__ import annotations

import base64
import os
import sys
from typing import TextIO

from crusts_index.render import console

_LONGEST = 74_994  # bytes of base64 that terminals take


def copy(text: str) -> str | None:
    """Put the text on the clipboard: "system" or "terminal" says which one took it, None that there is none.

    A terminal cannot confirm that it has a clipboard, so "terminal" means asked, not done.
    """
    remote = bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))
    ways = (_by_terminal, _by_system) if remote else (_by_system, _by_terminal)
    return next((way for copied in ways if (way := copied(text))), None)


def osc52(text: str) -> str | None:
    """The escape sequence that asks a terminal to take the text; None if it is too long for one."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    return f"\x1b]52;c;{encoded}\x07" if len(encoded) <= _LONGEST else None


def _by_system(text: str) -> str | None:
    import pyperclip  # type: ignore[import-untyped]  # looks for the system's clipboard when imported

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return None
    return "system"


def _by_terminal(text: str) -> str | None:
    sequence = osc52(text)
    stream = _terminal()
    if sequence is None or stream is None:
        return None
    stream.write(sequence)
    stream.flush()
    return "terminal"


def _terminal() -> TextIO | None:
    if os.environ.get("TERM") == "dumb":
        return None
    return next((stream for stream in (sys.stderr, sys.stdout) if console.is_terminal(stream)), None)
