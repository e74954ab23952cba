"""Going on where an earlier run stopped: from a state that is no longer readable, and after the run was killed."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.index.write import ROWS_AT_ONCE, WORTH_ROWS
from tests.bench.corpus import make_corpus
from tests.builders import SESSION, ClaudeFolder

pytestmark = pytest.mark.process

DEADLINE_SECONDS = 60


@pytest.mark.long
@pytest.mark.parametrize("state", ["{}", "not json", "", "[1,2,3]", '["x"]'])
def test_a_state_that_cannot_be_read_costs_one_reading(tmp_path: Path, state: str) -> None:
    """Its transcript is read anew from the beginning, and nothing is lost or doubled."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=1_000, output=7)
    t.write()
    folder.crusts("index")
    store = sqlite3.connect(Path(folder.env()["CRUSTS_HOME"]) / "index.db")
    store.execute("update fold_states set state = ?", (state,))
    store.commit()
    store.close()
    t.prompt("more")
    t.response("yes", context=2_000, output=8)
    t.write()
    again = folder.crusts("index")
    assert 0 == again.code, again.err
    assert "Traceback" not in again.err
    total = folder.crusts("usage", "--json").json()["total"]
    assert (2, 15) == (total["calls"], total["output"])
    (listed,) = folder.crusts("list", "--json").json()["sessions"]
    assert (SESSION, 4) == (listed["session"], listed["messages"])


def test_many_rows_are_written_as_few_are(tmp_path: Path) -> None:
    """A transcript of hundreds of rows a kind leaves, read at once, what it leaves when it grows by small parts."""
    once, grown = ClaudeFolder(tmp_path / "once"), ClaudeFolder(tmp_path / "grown")
    t = once.main()
    for number in range(WORTH_ROWS + ROWS_AT_ONCE // 2):
        t.prompt(f"number {number}")
        t.bash(f"echo {number}", "done")
    path = t.write()
    lines = path.read_bytes().splitlines(keepends=True)
    part = WORTH_ROWS // 2
    for end in range(part, len(lines) + part, part):
        grown.main().write().write_bytes(b"".join(lines[:end]))
        assert 0 == grown.crusts("index").code
    assert 0 == once.crusts("index").code
    for table in ("stored_records", "stored_responses", "stored_tool_uses", "stored_blocks", "texts", "words"):
        rows = _rows(once, table)
        assert len(rows) > WORTH_ROWS or table == "words"
        assert rows == _rows(grown, table)


def _rows(folder: ClaudeFolder, table: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(Path(folder.env()["CRUSTS_HOME"]) / "index.db")) as store:
        return store.execute(f"select * from {table} order by 1").fetchall()


@pytest.mark.long
def test_workers_end_with_the_run_that_started_them(tmp_path: Path) -> None:
    """After kill -9 of an index with workers none of them is left."""
    make_corpus(tmp_path / "claude", 60)
    environ = dict(os.environ, CLAUDE_CONFIG_DIR=str(tmp_path / "claude"), CRUSTS_HOME=str(tmp_path / "crusts"))
    run = subprocess.Popen([sys.executable, "-m", "crusts_index", "index", "--jobs", "2", "--json"], env=environ)
    workers = _until(lambda: _children(run.pid))
    assert workers
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert _until(lambda: not [pid for pid in workers if _is_alive(pid)])


def _until(happens) -> object:  # type: ignore[no-untyped-def]
    end = time.monotonic() + DEADLINE_SECONDS
    while not (found := happens()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _children(parent: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def _is_alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")
