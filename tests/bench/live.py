"""What runs while somebody types: the status line and `status`, on a large store and a long live transcript."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crusts_index.claude.program import bare_command
from tests.bench.corpus import START_MS, Maker
from tests.bench.setting import Bench, Measure
from tests.bench.threads import Thread
from tests.bench.timing import Took, median, program, python, ratio, rounds, run

SESSION = "11111111-2222-4333-a444-555555555555"
PROJECT = "/home/ada/live"
AT_ONCE = 20
MOST_MEMORY = 40_000_000
ROUNDS = 20
SHARE = 50
"""The live transcript is a fiftieth of the corpus: 20 MB beside 1 GB."""

LINE = json.dumps({"type": "system", "subtype": "turn_duration", "sessionId": SESSION}).encode() + b"\n"

LAUNCH = """
import subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
import resource
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


def measure(bench: Bench) -> Iterator[Measure]:
    """Whole processes against a bare start of the interpreter."""
    corpus = bench.corpus(bench.sizes.megabytes)
    bench.first_index(corpus, "live")
    folder = bench.folder / "live"
    path = live_transcript(folder, bench.sizes.megabytes * 1_000_000 // SHARE)
    bench.index(folder, "live")
    environment = bench.environment(folder, "live")
    said = payload(path)
    line = shlex.split(bare_command("statusline"))  # as `statusline install` writes it
    status = program("status", SESSION)

    def behind(argv: list[str], stdin: bytes = b"") -> Took:
        with path.open("ab") as file:
            file.write(LINE)
        return run(argv, environment, stdin)

    took = rounds(
        min(ROUNDS, bench.sizes.rounds * 4),
        bare=lambda: run(python("pass"), {}),
        statusline=lambda: run(line, environment, said),
        status=lambda: run(status, environment),
        statusline_behind=lambda: behind(line, said),
        status_behind=lambda: behind(status),
    )
    size = f"{bench.store('live').stat().st_size / 1e6:,.0f} MB store, {path.stat().st_size / 1e6:,.1f} MB transcript"
    start = f"python -c pass {milliseconds(took['bare'])}"
    for name, at_most in (("statusline", 2.5), ("status", 5), ("statusline_behind", 2.5), ("status_behind", 8)):
        what = name.replace("_behind", " with a line appended")
        taken = ratio(took[name], took["bare"])
        yield Measure(f"{what}, {size}", milliseconds(took[name]), start, taken, at_most=at_most)
    for name, command in (("statusline", line), ("status", status)):
        memory = most_memory(command, environment, said)
        yield Measure(
            f"{name}: memory", f"{memory / 1e6:.1f} MB", f"{MOST_MEMORY / 1e6:.0f} MB", memory / MOST_MEMORY, at_most=1
        )
    with ThreadPoolExecutor(AT_ONCE) as pool:
        together = list(pool.map(lambda _: run(line, environment, said), range(AT_ONCE)))
    yield Measure(f"{AT_ONCE} status lines at once, the slowest", f"{max(one.wall for one in together) * 1e3:.0f} ms")


def most_memory(argv: list[str], env: dict[str, str], stdin: bytes) -> int:
    """Bytes that a process holds at most, started by a small one: a child is charged with what its parent held."""
    done = subprocess.run(
        python(LAUNCH, *argv), input=stdin, env={**os.environ, **env}, capture_output=True, check=True
    )
    return int(done.stderr.split()[-1]) * 1024


def live_transcript(folder: Path, size: int) -> Path:
    """A long transcript in a config folder of its own."""
    maker = Maker(folder, 7, subagents=False)
    thread = Thread(maker, SESSION, PROJECT, START_MS, old=False)
    thread.run(size)
    maker.write(thread)
    return folder / "projects" / PROJECT.replace("/", "-") / f"{SESSION}.jsonl"


def payload(path: Path) -> bytes:
    """What Claude Code tells the status line of that session."""
    used = {"input_tokens": 3, "cache_read_input_tokens": 150_000, "cache_creation_input_tokens": 900}
    return json.dumps(
        {
            "session_id": SESSION,
            "transcript_path": str(path),
            "cwd": PROJECT,
            "model": {"id": "claude-opus-4-8[1m]", "display_name": "Opus"},
            "workspace": {"current_dir": PROJECT, "project_dir": PROJECT, "added_dirs": []},
            "version": "2.1.220",
            "cost": {"total_cost_usd": 1.5, "total_duration_ms": 1},
            "context_window": {"context_window_size": 1_000_000, "current_usage": {**used, "output_tokens": 500}},
        }
    ).encode()


def milliseconds(took: list[Took]) -> str:
    """The median wall time."""
    return f"{median(took) * 1e3:.1f} ms"
