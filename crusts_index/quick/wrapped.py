"""Runs the status line that ours was put around, with the same payload and for a limited time."""

import os
import signal
import subprocess
import time

from crusts_index.plain import note

MOST_OUTPUT = 1 << 16


class Wrapped:
    """A running command; its output is taken when it is done, or what there is when the time is over."""

    def __init__(self, command: str, payload: bytes) -> None:
        self._payload, self._started = payload, time.monotonic()
        self._process: subprocess.Popen[bytes] | None = None
        signal.signal(signal.SIGTERM, self._cancelled)  # Claude Code cancels a run by the next one
        try:
            self._process = subprocess.Popen(  # noqa: S602 - the user's own command, run as Claude Code would
                command,
                shell=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            note(f"cannot run the other status line: {error.strerror}")

    def output(self, seconds: float) -> str:
        """What it printed, without empty lines at the end; nothing where it is not done in `seconds`."""
        process = self._process
        if process is None:
            return ""
        left = max(0.05, self._started + seconds - time.monotonic())
        try:
            out, _ = process.communicate(self._payload, timeout=left)
        except (subprocess.TimeoutExpired, OSError):
            self._kill()
            return ""
        return out[:MOST_OUTPUT].decode("utf-8", "replace").rstrip()

    def _kill(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                self._process.kill()

    def _cancelled(self, *_: object) -> None:
        self._kill()
        os._exit(0)
