"""Runs that are killed, interrupted or many at once, and readers beside them (D4): real processes on a few MB."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from crusts_index.errors import CrustsError
from crusts_index.index.run import Options, index_roots
from crusts_index.store.open import open_store
from tests.builders import ClaudeFolder, Outcome
from tests.picture import (
    Picture,
    assert_same,
    assert_sound,
    index,
    new_store,
    one,
    picture,
    small_stretches,
)
from tests.program import ROOT

pytestmark = [pytest.mark.process, pytest.mark.long]

KILLS = 30
FILES = 24
TEXT = "    return parse(line)  # as before\n" * 200
AGREE = "select (select coalesce(sum(records), 0) from transcripts), (select count(*) from records)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ClaudeFolder:
    """Two dozen transcripts of about 150 KB: sessions, their subagents and forks."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("crash"))
    before: list[bytes] = []
    for number in range(FILES):
        session = f"5e551001-0000-4000-8000-{number // 2:012d}"
        t = folder.subagent(session) if number % 2 else folder.main(session, f"/home/ada/p{number % 5}")
        t.copy(before[:9], forked=True)
        for turn in range(16):
            t.prompt(f"turn {turn}")
            t.read(f"/home/ada/{turn % 5}.py", TEXT, context=1_000 * turn)
            t.edit(f"/home/ada/{turn % 7}.py", context=1_000 * turn + 9)
            t.response("done", "and more", context=1_000 * turn + 20, placeholder=1)
        t.write()
        before = t.lines()
    return folder


@pytest.fixture(scope="module")
def wanted(folder: ClaudeFolder) -> Picture:
    """What one clean run says."""
    db = new_store(folder.home, "clean.db")
    index(db, folder.config)
    return picture(db)


@pytest.fixture
def db(folder: ClaudeFolder) -> Iterator[Path]:
    """Where the command's store will be; nothing is there yet but that no weights are to be fitted."""
    home = folder.home / ".claude-crusts"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    (home / "config.json").write_text('{"fitWeights": false}')
    yield home / "index.db"
    shutil.rmtree(home, ignore_errors=True)


# Forks a run that has imported all it needs, kills it after part of a whole run's time, and says how it ended.
KILLER = """
import os, signal, sys, time
from crusts_index.__main__ import main
from tests.picture import small_stretches
import crusts_index.cli.app, crusts_index.cli.index, crusts_index.index.ingest, alembic.command, sqlalchemy
quiet = os.open(os.devnull, os.O_WRONLY)
def start(jobs):
    pid = os.fork()
    if pid == 0:
        os.dup2(quiet, 1)
        os._exit(main(["index", "--jobs", jobs]))
    return pid
with small_stretches(30_000):
    begun = time.monotonic()
    assert os.waitpid(start("1"), 0)[1] == 0
    span = time.monotonic() - begun
    for line in iter(sys.stdin.readline, ""):
        part, jobs = line.split()
        if not os.path.exists(os.environ["CRUSTS_DB"]):
            os.makedirs(os.path.dirname(os.environ["CRUSTS_DB"]), exist_ok=True)
        pid = start(jobs)
        time.sleep(float(part) * span)
        os.kill(pid, signal.SIGKILL)
        print("done" if os.waitpid(pid, 0)[1] == 0 else "killed", flush=True)
"""


def test_killed_at_any_moment(folder: ClaudeFolder, wanted: Picture, db: Path) -> None:
    """kill -9 at 30 random moments, from no store or a half-filled one: the next run ends as a clean one."""
    chance = random.Random(7)
    env = folder.env(PYTHONPATH=str(ROOT), CRUSTS_DB=str(db))
    with subprocess.Popen(
        [sys.executable, "-c", KILLER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        cwd=folder.home,
    ) as killer:
        assert killer.stdin is not None
        assert killer.stdout is not None
        ends: list[str] = []
        part = 1.0
        while ends.count("killed") < KILLS and len(ends) < 10 * KILLS:
            if len(ends) % 3 == 0 or ends[-1] == "done":
                for file in db.parent.glob("index.db*"):
                    file.unlink()
            killer.stdin.write(f"{part * chance.random()} {1 + len(ends) % 2}\n")
            killer.stdin.flush()
            ends.append(killer.stdout.readline().strip())
            part = part * 0.8 if ends[-1] == "done" else 1.0  # so that it ends on any machine
            if ends[-1] == "killed":
                assert_goes_on(db, folder, wanted)
        killer.stdin.close()
    assert 0 == killer.returncode
    assert KILLS == ends.count("killed")


def assert_goes_on(db: Path, folder: ClaudeFolder, wanted: Picture) -> None:
    """The store as the killed run left it is sound, and one more run over a copy of it ends as a clean one."""
    left = folder.home / "left" / "index.db"
    shutil.rmtree(left.parent, ignore_errors=True)
    left.parent.mkdir()
    for side in ("", "-wal"):
        if Path(f"{db}{side}").exists():
            shutil.copy(f"{db}{side}", f"{left}{side}")
    if not left.exists() or not holds_tables(left):
        return  # killed before there was a store: the next run lays it
    assert_sound(left)
    assert 1 == len({*one(left, AGREE)})
    index(left, folder.config)
    found = picture(left, views=False)
    assert_same({name: wanted[name] for name in found}, found)


def holds_tables(db: Path) -> bool:
    """Whether the store was laid already."""
    with closing(sqlite3.connect(db)) as store:
        return bool(store.execute("select count(*) from sqlite_master").fetchone()[0])


def start(folder: ClaudeFolder, *args: str) -> subprocess.Popen[str]:
    """The real command, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "crusts_index", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=folder.env(),
        cwd=folder.home,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> Outcome:
    """How it ended."""
    out, err = process.communicate(timeout=120)
    return Outcome(process.returncode, out, err)


def wait_for(db: Path, size: int, process: subprocess.Popen[str]) -> None:
    """Wait until the store and its log hold so many bytes, or the process is done."""
    while process.poll() is None:
        if size_of(db) >= size:
            return
        time.sleep(0.001)


def size_of(db: Path) -> int:
    """Bytes of the store and its log."""
    total = 0
    for side in ("", "-wal"):
        with suppress(FileNotFoundError):
            total += os.stat(f"{db}{side}").st_size
    return total


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_killed_and_run_again(folder: ClaudeFolder, wanted: Picture, db: Path, jobs: str) -> None:
    """The real command, killed when the store begins to grow and when it has grown, and then let run to its end."""
    for more in (1, 100_000, 400_000):
        before = size_of(db)
        process = start(folder, "index", "--jobs", jobs)
        wait_for(db, before + more, process)
        process.kill()
        ended(process)
    done = folder.crusts("index", "--jobs", jobs)
    assert (0, "") == (done.code, done.err)
    assert_same(wanted, picture(db))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted_by_the_user(folder: ClaudeFolder, wanted: Picture, db: Path, jobs: str) -> None:
    """Ctrl-C: exit 130 and not a word of a traceback; the store is sound and the next run goes on."""
    codes = set()
    for size in (400_000, 1, 500_000, 600_000, 700_000, 800_000):
        for file in db.parent.glob("index.db*"):
            file.unlink()
        process = start(folder, "index", "--jobs", jobs)
        wait_for(db, size, process)
        with suppress(ProcessLookupError):  # it was quicker
            os.killpg(process.pid, signal.SIGINT)
        done = ended(process)
        codes.add(done.code)
        assert "Traceback" not in done.err
        assert len(done.err.splitlines()) <= 1, done.err
        if holds_tables(db):
            assert_sound(db)
        if 130 in codes:
            break
    assert codes <= {0, 130}
    assert 130 in codes
    assert 0 == folder.crusts("index", "--jobs", jobs).code
    assert_same(wanted, picture(db))


def test_eight_at_once_with_readers(folder: ClaudeFolder, wanted: Picture, db: Path) -> None:
    """Eight runs lay and fill one store while others read it: no failure, no lock error, the same store."""
    said: list[str] = []
    stop = threading.Event()
    readers = [threading.Thread(target=keep_reading, args=(db, stop, said)) for _ in range(2)]
    for reader in readers:
        reader.start()
    runs = [start(folder, "index", "--jobs", str(1 + number % 2)) for number in range(8)]
    outcomes = [ended(run) for run in runs]
    stop.set()
    for reader in readers:
        reader.join()
    assert [(0, "")] * 8 == [(outcome.code, outcome.err) for outcome in outcomes]
    assert [] == said
    assert_sound(db)
    assert_same(wanted, picture(db))


def keep_reading(db: Path, stop: threading.Event, said: list[str]) -> None:
    """Ask the store again and again, by new connections; what is wrong is said."""
    seen = 0
    laid = False
    while not stop.is_set():
        try:
            with closing(open_store(db)) as store:
                laid = True
                told, counted = store.execute(AGREE).fetchone()
                if told != counted or counted < seen:
                    said.append(f"{told} records told, {counted} counted, {seen} before")
                seen = counted
        except CrustsError as error:
            if laid:
                said.append(str(error))
        except Exception as error:  # the test's other thread must hear of it
            said.append(repr(error))
        stop.wait(0.005)


def test_a_reader_sees_what_is_committed_during_a_first_index(folder: ClaudeFolder, tmp_path: Path) -> None:
    """After each stretch a reader finds whole transactions: more and more records, told and counted alike."""
    db = new_store(tmp_path)
    seen: list[int] = []

    def look(*_: int) -> None:
        with closing(open_store(db)) as reader:
            told, counted = reader.execute(AGREE).fetchone()
            assert told == counted
            seen.append(counted)

    with small_stretches(30_000), closing(open_store(db, write=True)) as store:
        index_roots(store, str(db), [str(folder.projects)], Options(jobs=1, progress=look))
    assert seen == sorted(seen)
    assert len(set(seen)) > FILES
