"""Why the context fills up: what the analysis of a session, of many and of a quarter takes beyond imports."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.bench.later_runs import milliseconds
from tests.bench.setting import Bench, Measure
from tests.bench.timing import Took, python, ratio, rounds, run

SESSION = {"analyze": 12.0, "waste": 12.0, "lost": 12.0, "report": 80.0, "why": 8.0}
"""Commands about one session, and how many bare starts of an interpreter their work may take."""

TREND, LEDGER, CACHE = 20.0, 40.0, 10.0
QUARTER = ("--since", "2026-09-01", "--until", "2026-11-30")
"""The made-up sessions began in it."""

WORK = """
import os, sys, time
from crusts_index.__main__ import main
out, sys.stdout = sys.stdout, open(os.devnull, "w")
code = main(sys.argv[1:])
started = time.perf_counter(), time.process_time()
code = code or main(sys.argv[1:])
out.write(f"{time.perf_counter() - started[0]} {time.process_time() - started[1]}")
sys.exit(code)
"""
"""Runs a command twice in one process: the first time it imports, the second time it only works."""


def measure(bench: Bench) -> Iterator[Measure]:
    """The largest session and a quarter of the store of the first index; the sessions of one with many small ones."""
    large, many = bench.corpus(bench.sizes.megabytes), bench.corpus(files=bench.sizes.some)
    for corpus, home in ((large, "first"), (many, "some")):
        if not bench.store(home).exists():
            bench.first_index(corpus, home)
    first = bench.environment(large, "first")
    session, size = largest(bench.store("first"))
    for command, target in SESSION.items():
        args = (command, session, *(("--output", "-") if command == "report" else ()))
        yield work(bench, f"{command}, session of {size / 1e6:,.1f} MB", first, args, target)
    count = bench.sizes.some // 2
    trend = ("trend", "--limit", str(count))
    yield work(bench, f"trend over {count:,} sessions", bench.environment(many, "some"), trend, TREND)
    yield work(bench, "cache over the store", first, ("cache",), CACHE)
    for key in ("category", "file"):
        ledger = ("usage", "--by", key, "--format", "csv", *QUARTER)
        yield work(bench, f"the ledger summed by {key}, a quarter", first, ledger, LEDGER)


def work(bench: Bench, name: str, environment: dict[str, str], args: tuple[str, ...], target: float) -> Measure:
    """What a command takes beyond its imports."""
    took = rounds(
        bench.sizes.rounds * 2,
        bare=lambda: run(python("pass"), {}),
        work=lambda: second_run(args, environment),
    )
    return Measure(
        name,
        milliseconds(took["work"]),
        f"python -c pass {milliseconds(took['bare'])}",
        ratio(took["work"], took["bare"]),
        at_most=target,
    )


def second_run(args: tuple[str, ...], environment: dict[str, str]) -> Took:
    """A command's time once it is imported, without a look for new transcripts. Raises RuntimeError if it fails."""
    process = subprocess.run(
        python(WORK, *args, "--no-index"), env={**os.environ, **environment}, capture_output=True, text=True
    )
    if process.returncode or not process.stdout:
        raise RuntimeError(f"crusts {' '.join(args)}: exit code {process.returncode}\n{process.stderr}")
    wall, cpu = map(float, process.stdout.split())
    return Took(wall, cpu, 0, 0)


def largest(db: Path) -> tuple[str, int]:
    """The session whose own view goes over the most bytes, and how many these are."""
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as store:
        session, size = store.execute(
            "select s.session_id, sum(t.offset) as bytes from sessions s join transcripts t on t.session_id = s.id"
            " where t.kind = 'main' and t.in_view = 1 group by s.id order by bytes desc limit 1"
        ).fetchone()
    return session, size
