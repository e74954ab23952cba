"""Workers read ahead of the writer, and never further than the bytes they may be ahead, whatever the transcripts."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.index import past, pool, read
from crusts_index.index.find import Walk
from crusts_index.index.ingest import name_new
from crusts_index.index.plan import Job
from crusts_index.index.read import Manner, Stretch
from crusts_index.store.open import open_store
from tests.bench.corpus import make_corpus, make_transcript
from tests.bench.setting import append_line, transcripts
from tests.bench.timing import program, run
from tests.builders import SESSION
from tests.picture import ask, index, new_store

pytestmark = [pytest.mark.process, pytest.mark.long]

MB = 1 << 20
WAIT_SECONDS = 60.0


def corpus_of(home: Path, kind: str) -> Path:
    """Sixteen million bytes of transcripts, in many files or in few."""
    config = home / "config"
    if kind == "few":
        for number in range(2):
            make_transcript(config / "projects" / "-p" / f"5e551001-0000-4000-8000-{number:012}.jsonl", 8, number)
    else:
        make_corpus(config, 16, files=1_500 if kind == "many" else None)
    return config


def tasks_of(db: Path, config: Path) -> list[read.Task]:
    """All transcripts of a config folder, as a first run reads them."""
    jobs = [Job(seen, None) for seen in Walk(str(config / "projects")).transcripts()]
    with closing(open_store(db, write=True)) as store:
        return name_new(store, jobs, keep_text=True)


def bytes_read() -> int:
    """What the workers have read so far, of files and pipes."""
    found = 0
    for worker in multiprocessing.active_children():
        lines = Path(f"/proc/{worker.pid}/io").read_text().splitlines()
        found += next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
    return found


def settled() -> int:
    """The same, once it no longer grows."""
    end = time.monotonic() + WAIT_SECONDS
    before, now = -1, bytes_read()
    while now != before and time.monotonic() < end:
        time.sleep(0.3)
        before, now = now, bytes_read()
    return now


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="no /proc here")
@pytest.mark.parametrize("kind", ["many", "mixed", "few"])
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_are_ahead_by_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, workers: int) -> None:
    """While nobody takes what they read, each reads on for more than one stretch, and not for much more than it may."""
    ahead, stretch = 2 * MB, MB // 8
    monkeypatch.setattr(pool, "AHEAD_BYTES", ahead)
    monkeypatch.setattr(read, "STRETCH_BYTES", stretch)
    db = new_store(tmp_path)
    tasks = tasks_of(db, corpus_of(tmp_path, kind))
    outcomes = pool.read_in_workers(tasks, str(db), Manner(), workers=workers)
    next(outcomes)
    found = settled() / workers
    outcomes.close()  # type: ignore[attr-defined]
    # What lies in the pipe and in the buffer of a file that is open comes on top.
    assert 4 * stretch < found < ahead + stretch + 3 * MB
    assert [] == multiprocessing.active_children()


@pytest.mark.parametrize("kind", ["many", "few"])
def test_all_is_read_once_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """By three workers that may hardly be ahead: the stretches of each transcript, and its end behind them."""
    monkeypatch.setattr(pool, "AHEAD_BYTES", 1)
    monkeypatch.setattr(read, "STRETCH_BYTES", MB // 4)
    db = new_store(tmp_path)
    tasks = tasks_of(db, corpus_of(tmp_path, kind))
    offsets: Counter[str] = Counter()
    ended: list[str] = []
    for job, outcome in pool.read_in_workers(tasks, str(db), Manner(), workers=3):
        path = job.seen.path
        assert path not in ended
        if isinstance(outcome, Stretch):
            offsets[path] += outcome.bytes_read
            assert offsets[path] == outcome.offset
        else:
            assert outcome is None
            ended.append(path)
    assert {job.seen.path: job.seen.size for job, _ in tasks} == dict(offsets)
    assert sorted(offsets) == sorted(ended)


def test_a_process_opens_the_store_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line appended to each of many transcripts: what is known of them is asked by one connection, the writer's."""
    config = corpus_of(tmp_path, "mixed")
    db = new_store(tmp_path)
    index(db, config)
    for path in transcripts(config):
        append_line(path)
    opened: list[object] = []

    class Counted(past.StoredPast):
        def __init__(self, connection: sqlite3.Connection, transcript_id: int) -> None:
            opened.append(connection)
            super().__init__(connection, transcript_id)

    monkeypatch.setattr(read, "StoredPast", Counted)
    monkeypatch.setattr("crusts_index.index.ingest.WORTH_BYTES", 1 << 40)
    index(db, config)
    assert len(transcripts(config)) == len(opened)
    assert 1 == len(set(map(id, opened)))
    assert 0 == ask(db, "select count(*) from transcripts where offset <> size")[0][0]


MOST_MEMORY = 150 * 10**6


def many(projects: Path) -> None:
    """Transcripts of a few kilobytes."""
    make_corpus(projects.parent, 30, files=3_000)


def huge(projects: Path) -> None:
    """One transcript."""
    make_transcript(projects / "-p" / f"{SESSION}.jsonl", 100)


def short(projects: Path) -> None:
    """Lines of which a thousand are shorter than what is kept of ten."""
    put(projects, b'{"type":"progress"}\n' * 400_000)


def long(projects: Path) -> None:
    """A line of 200 MB."""
    put(projects, b'{"type":"user","message":{"role":"user","content":"' + b"word " * (40 << 20) + b'"}}\n')


def put(projects: Path, text: bytes) -> None:
    """A transcript of these bytes."""
    path = projects / "-p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(text)


def longest_line(path: Path) -> int:
    """Bytes of it."""
    with path.open("rb") as file:
        return max(map(len, file))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="no /proc here")
@pytest.mark.parametrize("lay", [many, huge, short, long])
def test_all_processes_together_take_little_memory(tmp_path: Path, lay: Callable[[Path], None]) -> None:
    """150 MB and five times the longest line, for the run and two workers, whatever there is to read."""
    config = tmp_path / "config"
    lay(config / "projects")
    longest = max(map(longest_line, config.rglob("*.jsonl")))
    env = {"CRUSTS_HOME": str(tmp_path / "crusts"), "CLAUDE_CONFIG_DIR": str(config)}
    took = run(program("index", "--jobs", "2"), env)
    assert 20 * 10**6 < took.peak_bytes < MOST_MEMORY + 5 * longest
