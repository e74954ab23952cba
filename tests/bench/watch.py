"""What `watch` takes while it looks on: nothing happening, and a line coming in."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.live import SESSION, SHARE, live_transcript
from tests.bench.setting import Bench, Measure, append_line
from tests.bench.timing import median, program, python, rounds, run

MOST_IDLE = 0.01
SECONDS_A_ROUND = 4
CHANGES_A_ROUND = 2
SHORTEST = ("--interval", "200")


def measure(bench: Bench) -> Iterator[Measure]:
    """One session as long as that of the status line, at the usual and at the shortest interval."""
    folder = bench.folder / "watch"
    path = live_transcript(folder, bench.sizes.megabytes * 1_000_000 // SHARE)
    bench.index(folder, "watch")
    environment = bench.environment(folder, "watch")
    seconds = SECONDS_A_ROUND * bench.sizes.rounds
    for name, interval in (("every 2 s", ()), ("every 200 ms", SHORTEST)):
        share = idle_share(environment, interval, seconds)
        yield Measure(
            f"watch, nothing new, looking {name}: CPU",
            f"{share:.2%}",
            f"{MOST_IDLE:.0%} of one core",
            share / MOST_IDLE,
            at_most=1.0 if not interval else None,
        )
    bare = rounds(bench.sizes.rounds, bare=lambda: run(python("pass"), {}))["bare"]
    cpu = cpu_of_a_change(environment, path, CHANGES_A_ROUND * bench.sizes.rounds)
    yield Measure(
        f"watch, a new line in {path.stat().st_size / 1e6:,.1f} MB: CPU",
        f"{cpu * 1e3:.0f} ms",
        f"python -c pass {median(bare, 'cpu') * 1e3:.1f} ms",
        cpu / median(bare, "cpu"),
    )


def idle_share(environment: dict[str, str], arguments: tuple[str, ...], seconds: float) -> float:
    """The share of a core that a watch takes while nothing happens."""
    process = begin(environment, *arguments)
    try:
        before = cpu_seconds(process.pid)
        time.sleep(seconds)
        return (cpu_seconds(process.pid) - before) / seconds
    finally:
        end(process)


def cpu_of_a_change(environment: dict[str, str], path: Path, changes: int) -> float:
    """CPU seconds from a line appended to the line told of it."""
    process = begin(environment, *SHORTEST)
    assert process.stdout is not None
    try:
        before = cpu_seconds(process.pid)
        for _ in range(changes):
            append_line(path)
            process.stdout.readline()
        return (cpu_seconds(process.pid) - before) / changes
    finally:
        end(process)


def begin(environment: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    """A watch that has told how the session stands."""
    argv = program("watch", SESSION, *arguments)
    process = subprocess.Popen(
        argv,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    if not process.stdout.readline():
        _, said = process.communicate()
        raise RuntimeError(f"{' '.join(argv)}: {said.decode('utf-8', 'replace')}")
    time.sleep(1)
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """End a watch as a person would."""
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; to a hundredth of a second."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # no /proc: ps tells minutes, seconds and hundredths
        told = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
        minutes, _, rest = told.strip().rpartition(":")
        return float(minutes.rpartition(":")[2] or 0) * 60 + float(rest)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
