"""Reports over a large store: the time of their SQL, of their whole processes, and what they import."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.bench.later_runs import milliseconds
from tests.bench.setting import Bench, Measure
from tests.bench.timing import program, python, ratio, rounds, run

SQL_MILLISECONDS = 100
REPORTS: dict[str, tuple[float, list[str]]] = {
    "readout, all days": (7.0, ["readout", "--since", "2026-01-01"]),
    "readout, 30 days": (5.0, ["readout"]),
    "usage, by model": (5.0, ["usage", "--by", "model"]),
    "usage, by day": (6.0, ["usage", "--by", "day"]),
    "list": (8.0, ["list"]),
    "trend": (18.0, ["trend", "--limit", "100000"]),
    "models": (20.0, ["models"]),
}
"""Reports, and how many bare starts of an interpreter one may take with nothing to read."""

COMMANDS = frozenset(line[0] for _, line in REPORTS.values())

LARGEST_BYTES = 60 << 20
"""Memory that a report may hold, however large the store."""

LEDGER = "usage_windows"
"""Sums the ledger, and has a measure of its own."""

SLOW = ("sqlalchemy", "alembic", "genai_prices")
IMPORTED = f"""
import os, sys
from crusts_index.__main__ import main
out, sys.stdout = sys.stdout, open(os.devnull, "w")
code = main(sys.argv[1:])
out.write(" ".join(name for name in {SLOW!r} if name in sys.modules))
sys.exit(code or bool(set({SLOW!r}) & sys.modules.keys()))
"""


def measure(bench: Bench) -> Iterator[Measure]:
    """Over the store of the first index."""
    corpus = bench.corpus(bench.sizes.megabytes)
    if not bench.store("first").exists():
        bench.first_index(corpus, "first")
    environment = bench.environment(corpus, "first")
    times = sorted(sql_times(bench.store("first"), bench.sizes.rounds).items(), key=lambda item: -item[1])
    is_report = {name: name.partition("_")[0] in COMMANDS and name != LEDGER for name, _ in times}
    for name, slowest in [one for one in times if is_report[one[0]]][:3]:
        yield Measure(
            f"SQL of {name}.sql (of the three slowest)",
            f"{slowest:.1f} ms",
            f"bound {SQL_MILLISECONDS} ms",
            slowest / SQL_MILLISECONDS,
            at_most=1.0,
        )
    for name, slowest in [one for one in times if not is_report[one[0]]][:3]:
        yield Measure(f"SQL of {name}.sql (of all others, over all sessions)", f"{slowest:.1f} ms")
    most = 0
    for name, (target, report) in REPORTS.items():
        took = rounds(
            bench.sizes.rounds * 3,
            bare=lambda: run(python("pass"), {}),
            report=lambda line=report: run(program(*line, "--no-index"), environment),  # type: ignore[misc]
        )
        most = max(most, *(one.peak_bytes for one in took["report"]))
        yield Measure(
            f"{name}, whole process",
            milliseconds(took["report"]),
            f"python -c pass {milliseconds(took['bare'])}",
            ratio(took["report"], took["bare"]),
            at_most=target,
        )
    yield Measure(
        "most memory of any of these",
        f"{most / 1e6:.0f} MB",
        f"bound {LARGEST_BYTES / 1e6:.0f} MB",
        most / LARGEST_BYTES,
        at_most=1.0,
    )
    guilty = [command for command in sorted(COMMANDS) if not _is_light(command, environment)]
    yield Measure(
        f"reports that import {', '.join(SLOW)}", ", ".join(guilty) or "none", ratio=float(len(guilty)), at_most=0.0
    )


def sql_times(db: Path, count: int) -> dict[str, float]:
    """Milliseconds of every file of queries/ with nothing filtered, as a report opens the store; the quickest of
    `count` times, of this process alone."""
    with closing(open_store(db)) as store:
        given = _given(store)
        return {name: min(_time(store, name, given) for _ in range(count)) for name in query.names()}


def _time(store: sqlite3.Connection, name: str, given: dict[str, object]) -> float:
    values = {parameter: given.get(parameter) for parameter in query.parameters(name)}
    started = time.process_time()
    store.execute(query.sql(name), values).fetchall()
    return (time.process_time() - started) * 1e3


def _given(store: sqlite3.Connection) -> dict[str, object]:
    """Values for parameters that name one thing: the longest main transcript and its session."""
    transcript, session = store.execute(
        "select t.id, s.session_id from transcripts t join sessions s on s.id = t.session_id"
        " where t.kind = 'main' order by t.records desc limit 1"
    ).fetchone()
    return {"transcript": transcript, "session": session, "by": "day", "since": 0, "after": 0, "limit": 20}


def _is_light(command: str, environment: dict[str, str]) -> bool:
    try:
        run(python(IMPORTED, command, "--no-index"), environment)
    except RuntimeError:
        return False
    return True
