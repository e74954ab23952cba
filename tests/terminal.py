"""The command at work while a test looks on: in a real terminal (tmux), or with its output in a pipe."""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.builders import ClaudeFolder

PATIENCE = 30.0
"""Seconds after which a test gives up waiting; nothing is decided by less."""


class Terminal:
    """One command in a terminal of its own."""

    def __init__(self, socket: Path, code: Path) -> None:
        self._socket, self._code = socket, code

    def tmux(self, *words: str) -> str:
        """What tmux prints for a command of its own."""
        done = subprocess.run(["tmux", "-S", str(self._socket), *words], capture_output=True, check=False, timeout=30)
        assert 0 == done.returncode, done.stderr
        return done.stdout.decode()

    def screen(self, *, colours: bool = False, history: bool = False) -> str:
        """What stands on the screen, with what has scrolled out of it if asked for."""
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []), *(["-S", "-"] if history else []))

    def type(self, *keys: str) -> None:
        """Type words and keys: `Enter`, `Tab`, `C-c`."""
        self.tmux("send-keys", *keys)

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def wait_for(self, wanted: str | Callable[[str], bool], *, colours: bool = False) -> str:
        """The screen as soon as it shows a text, or is as asked."""
        shows = (lambda screen: wanted in screen) if isinstance(wanted, str) else wanted
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            screen = self.screen(colours=colours)
            if shows(screen):
                return screen
            time.sleep(0.1)
        pytest.fail(f"not on the screen: {wanted!r}\n{self.screen()}")

    @property
    def has_ended(self) -> bool:
        """Whether the command has ended."""
        return self._code.exists() and self._code.read_text().endswith("\n")

    def end(self) -> int:
        """The exit code, once the command has ended."""
        self.wait_for(lambda _: self.has_ended)
        return int(self._code.read_text())


@contextmanager
def terminal(
    folder: ClaudeFolder, *args: str, size: tuple[int, int] = (80, 30), cwd: Path | None = None, **env: str
) -> Iterator[Terminal]:
    """Run the command in a terminal of a size (columns, lines)."""
    if shutil.which("tmux") is None:
        if os.environ.get("CI"):
            pytest.fail("tmux is needed to test what is shown on a terminal")
        pytest.skip("no tmux")
    place = Path(tempfile.mkdtemp(prefix="crusts-"))
    (place / "conf").write_text("set -g remain-on-exit on\nset -g default-terminal screen\nset -g escape-time 0\n")
    socket = place / "s"
    variables = {name: value for name, value in folder.env().items() if name != "NO_COLOR"}
    # On the command itself: tmux has a TERM of its own for what it runs.
    own = [f"{name}={value}" for name, value in env.items()]
    command = shlex.join(["env", *own, sys.executable, "-m", "crusts_index", *args])
    # The shell says how it ended, as tmux misses that now and then; the trap lets it outlive Ctrl-C.
    command = f"trap : INT TERM; {command}; echo $? > {place / 'code'}"
    columns, lines = map(str, size)
    begin = ["tmux", "-S", str(socket), "-f", str(place / "conf"), "new-session", "-d", "-x", columns, "-y", lines]
    try:
        subprocess.run([*begin, command], env=variables, cwd=cwd or folder.home, check=True, timeout=30)
        yield Terminal(socket, place / "code")
    finally:
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], capture_output=True, check=False, timeout=30)
        shutil.rmtree(place, ignore_errors=True)


class Running:
    """The command with its output in a pipe."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.seen: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.decode())

    def line(self, wanted: str = "") -> str:
        """The next line that has a text in it."""
        until = time.monotonic() + PATIENCE
        while (left := until - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                break
            self.seen.append(line)
            if wanted in line:
                return line.rstrip("\n")
        pytest.fail(f"not told: {wanted!r}; told: {''.join(self.seen)}{self._complaint()}")

    def _complaint(self) -> str:
        if self.process.poll() is None or self.process.stderr is None:
            return ""
        return f"exit code {self.process.returncode}: {self.process.stderr.read().decode()}"

    def document(self, wanted: Callable[[Any], bool] = bool) -> Any:
        """The next object that is as asked."""
        while True:
            found = json.loads(self.line())
            if wanted(found):
                return found

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing is told for a while."""
        time.sleep(seconds)
        return self._lines.empty()

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; the exit code and stderr. The last lines stay to be read."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        assert self.process.stderr is not None
        return code, self.process.stderr.read().decode()


@contextmanager
def running(folder: ClaudeFolder, *args: str, cwd: Path | None = None, **env: str) -> Iterator[Running]:
    """Run the command while the test goes on."""
    process = subprocess.Popen(
        [sys.executable, "-m", "crusts_index", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=folder.env(**env),
        cwd=cwd or folder.home,
    )
    reader = Running(process)
    try:
        yield reader
    finally:
        process.kill()
        process.wait()
        reader.thread.join()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
