"""Runs fresh processes and says what they took: wall, CPU, memory and writes, children included."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

BLOCK_BYTES = 512
SAMPLE_SECONDS = 0.02


class Took(NamedTuple):
    """What one process took, with the processes it started."""

    wall: float
    cpu: float
    peak_bytes: int
    """The most memory that the processes held at once; what several share counts once (Linux; else of one alone)."""
    written_bytes: int
    """What went to the disk."""


def run(argv: Sequence[str], env: dict[str, str], stdin: bytes = b"") -> Took:
    """Run a process to its end. Raises RuntimeError if it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        argv, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    watch = _Memory(process.pid)
    try:
        with process.stdin:
            process.stdin.write(stdin)
        with process.stdout:
            said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        watch.end()
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit code {process.returncode}\n{said.decode('utf-8', 'replace')}")
    peak = watch.peak or usage.ru_maxrss * 1024
    return Took(wall, usage.ru_utime + usage.ru_stime, peak, usage.ru_oublock * BLOCK_BYTES)


def python(code: str, *args: str) -> list[str]:
    """The command line of a bare interpreter that runs some code."""
    return [sys.executable, "-c", code, *args]


def program(*args: str) -> list[str]:
    """The command line of crusts, as installed beside this interpreter."""
    script = Path(sys.executable).with_name("crusts")
    return [str(script), *args] if script.exists() else [sys.executable, "-m", "crusts_index", *args]


def rounds(count: int, **variants: Callable[[], Took]) -> dict[str, list[Took]]:
    """Run all variants in turn, `count` times: what disturbs the machine disturbs them alike."""
    found: dict[str, list[Took]] = {name: [] for name in variants}
    for _ in range(count):
        for name, variant in variants.items():
            found[name].append(variant())
    return found


def median(took: Sequence[Took], what: str = "wall") -> float:
    """The median of one figure."""
    return statistics.median(getattr(one, what) for one in took)


def ratio(took: Sequence[Took], reference: Sequence[Took], what: str = "wall") -> float:
    """The median of the ratios, round by round."""
    pairs = zip(took, reference, strict=True)
    return statistics.median(getattr(one, what) / getattr(other, what) for one, other in pairs)


class _Memory:
    """Watches what a process and those it started hold together (Linux; elsewhere nothing is seen)."""

    def __init__(self, pid: int) -> None:
        self._pid, self._ended = pid, Event()
        self.peak = 0
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_held, _family(self._pid))))


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in _family(int(child)))]


def _held(pid: int) -> int:
    """Bytes of a process, of pages that it shares its share."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
