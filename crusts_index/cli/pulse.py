"""Waits for the next tick of a long-running command, unless a signal, a key or a closed output comes first."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGTSTP)


class Pulse:
    """While it is entered, signals are noted in `signals` rather than obeyed; `keys` is a terminal's descriptor."""

    def __init__(self, keys: int | None = None) -> None:
        self.signals: list[int] = []
        self._keys = keys
        self._before: dict[int, Any] = {}
        self._poll = select.poll()

    def __enter__(self) -> Pulse:
        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._mouth, False)
        self._wakeup = signal.set_wakeup_fd(self._mouth, warn_on_full_buffer=False)
        for one in _SIGNALS:
            self._before[one] = signal.signal(one, self._note)
        self._poll.register(self._ear, select.POLLIN)
        if self._keys is not None:
            self._poll.register(self._keys, select.POLLIN)
        self._output = sys.stdout.fileno()
        self._poll.register(self._output, 0)  # tells only that the reader is gone
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._ear)
        os.close(self._mouth)

    def wait(self, seconds: float) -> str:
        """Wait; returns the keys typed. Returns early for a key or a signal.

        Raises BrokenPipeError where nobody reads the output any more.
        """
        until = time.monotonic() + seconds
        while not self.signals:
            left = until - time.monotonic()
            if left <= 0:
                return ""
            for descriptor, what in self._poll.poll(left * 1000):
                if descriptor == self._output and what & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
                    raise BrokenPipeError
                if descriptor == self._ear:
                    os.read(self._ear, 512)
                elif descriptor == self._keys:
                    if typed := os.read(descriptor, 512):
                        return typed.decode("ascii", "ignore")
                    self._poll.unregister(descriptor)
        return ""

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signals.append(number)
