"""The command run inside the tests' own process: for tests of what it prints, by the hundred."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from crusts_index import __main__
from tests.builders import ClaudeFolder, Outcome


class Stream(io.TextIOWrapper):
    """A stream in memory that may say that a person looks at it."""

    def __init__(self, data: bytes = b"", *, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", newline="\n", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def said(self) -> str:
        """All that was written to it."""
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8")


def inside(
    folder: ClaudeFolder, *args: str, is_terminal: bool = False, stdin: bytes = b"", cwd: Path | None = None, **env: str
) -> Outcome:
    """Run the command, for a pipe or for a terminal."""
    out, err = Stream(is_terminal=is_terminal), Stream(is_terminal=is_terminal)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**folder.env(), "TERM": "xterm", **env}.items():
            patch.setenv(name, value)
        if is_terminal:
            patch.delenv("NO_COLOR")
        patch.chdir(cwd or folder.home)
        for stream, name in ((Stream(stdin), "stdin"), (out, "stdout"), (err, "stderr")):
            patch.setattr(sys, name, stream)
        code = __main__.main(list(args))
    time.tzset()
    return Outcome(code, out.said(), err.said())
