"""Runs the status line that ours was put around, with the same payload, for a limited time and output."""

import os
import select
import signal
import subprocess
import time
from contextlib import suppress

from crusts_index.plain import note
from crusts_index.quick.target import left

MOST_OUTPUT = 1 << 16
_LOOK_SECONDS = 0.02
"""Between two looks whether it has ended: what it left in the background may hold its output open."""
_LAST_SECONDS = 0.2
"""What our own line may take when it is done."""


class Wrapped:
    """A running command; its output is taken when it is done."""

    def __init__(self, command: str, payload: bytes) -> None:
        self._started = time.monotonic()
        self._unsent = memoryview(payload)
        self._output = bytearray()
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
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            note(f"cannot run the other status line: {error}")

    def output(self, seconds: float) -> str:
        """What it printed, without empty lines at the end; nothing where it is not done in `seconds`, or too much."""
        process = self._process
        if process is None:
            return ""
        has_said_all = False
        with suppress(OSError):
            has_said_all = self._attend(process, seconds)
        if process.poll() is None or not has_said_all:
            self._kill()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_SECONDS / 2)
        return self._output.decode("utf-8", "replace").rstrip() if has_said_all else ""

    def _attend(self, process: "subprocess.Popen[bytes]", seconds: float) -> bool:
        """Give it the payload and take its output until it has ended; False where it was not silent by then."""
        assert process.stdin is not None
        assert process.stdout is not None
        to, back = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(to, False)
        poll = select.poll()
        poll.register(to, select.POLLOUT)
        poll.register(back, select.POLLIN)
        is_open = True
        end = min(self._started + seconds, time.monotonic() + left(seconds) - _LAST_SECONDS)
        while len(self._output) <= MOST_OUTPUT:
            has_ended = process.poll() is not None  # before the look: all that it printed is there by now
            is_late = time.monotonic() >= end
            ready = dict(poll.poll(0 if has_ended or is_late else _LOOK_SECONDS * 1000))
            if to in ready and not self._send(to):
                poll.unregister(to)
                process.stdin.close()
            if back in ready:
                part = os.read(back, MOST_OUTPUT)
                self._output += part
                is_open = bool(part)
                if not is_open:
                    poll.unregister(back)
            elif has_ended:
                return True  # what it left in the background may hold its output open, and is none of it
            if is_late:
                return not is_open
        return False

    def _send(self, to: int) -> bool:
        """Write as much of the payload as it takes; False when there is nothing more to be sent."""
        try:
            self._unsent = self._unsent[os.write(to, self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            return False  # it does not want it
        return bool(self._unsent)

    def _kill(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                self._process.kill()

    def _cancelled(self, *_: object) -> None:
        self._kill()
        os._exit(0)
