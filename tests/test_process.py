"""Runs inside the test process say what `crusts` says as a process of its own, and leave no trace in it."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crusts_index.cli.commands import COMMANDS
from tests.builders import SESSION, ClaudeFolder
from tests.process import Ended, run_apart, run_inside

OTHER = "7e550000-0000-4000-8000-000000000002"

# A run or two of each command, all that end by themselves.
RUNS = [
    "overview",
    "index",
    "index --hook",
    "index --rebuild --json",
    "readout",
    "usage --by model",
    "list --json",
    "models",
    "analyze --json",
    "waste",
    "why",
    "cache --breaks",
    "fix",
    "optimize",
    "timeline",
    "diff --from 1 --to 3",
    f"compare {SESSION} {OTHER}",
    "trend",
    "lost",
    "calibrate --report",
    "accuracy",
    "report --format md",
    "status",
    "statusline",
    "statusline install",
    "hooks enable",
    "auto-inject",
    "watch nobody",
    "tui",
    "bench compare none.json none.json",
    "search slow",
    "sql --schema",
    "doctor",
    "verify",
    "forget 7e55 --yes",
    "completion bash",
    "install-command",
    "demo made",
    "list --timezone Asia/Tokyo",
    "nonsense",
    "--help",
]
PAYLOAD = json.dumps({"session_id": SESSION, "model": {"id": "claude-opus-4-8"}}).encode()
LINES = b"status\nlist --timezone Asia/Tokyo\nquit\n"

_CHANGES = re.compile(r'(?<="seconds":)[\d.]+|\d+\.\d+ ?m?s\b|\b\d+\.\d{3,}\b|\d\d:\d\d:\d\d|\d{8,}')
"""Times of a run."""


def told(home: Path) -> ClaudeFolder:
    """Two sessions with something to say to each command."""
    folder = ClaudeFolder(home)
    for session in (OTHER, SESSION):
        t = folder.main(session)
        t.prompt("why is the build slow?")
        for step in range(3):
            t.read("/home/ada/site/build.py", "import os\n" * 400, context=150_000 + step * 3_000, output=50)
        t.boundary()
        t.summary()
        t.response("It walks the tree twice.", context=21_000, output=100)
        t.write()
    return folder


def test_each_command_has_its_run() -> None:
    """A command that is added is run here too."""
    assert set(COMMANDS) == {run.split()[0] for run in RUNS} - {"nonsense", "--help"}


@pytest.mark.long
@pytest.mark.parametrize("words", RUNS)
def test_a_run_inside_is_like_a_process_of_its_own(tmp_path: Path, words: str) -> None:
    """Exit code, output, complaints and the files left behind: from the same home, the same."""
    home = tmp_path / "home"
    folder = told(home)
    assert 0 == folder.crusts("index").code
    shutil.copytree(home, tmp_path / "before")
    apart = _run(run_apart, folder, words)
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "before", home)
    assert apart == _run(run_inside, folder, words)


def _run(way: Callable[..., Ended], folder: ClaudeFolder, words: str) -> tuple[int, str, str, list[str]]:
    done = way(tuple(words.split()), LINES if words == "tui" else PAYLOAD, folder.home, folder.env())
    left = sorted(_CHANGES.sub("?", str(path.relative_to(folder.home))) for path in folder.home.rglob("*"))
    out, err = (_CHANGES.sub("?", text.decode()) for text in (done.out, done.err))
    return done.code, out, err, left


def test_it_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    """Environment, zone, folder, streams, descriptors, handlers, collector: a run may change each of them."""

    def state() -> list[object]:
        handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
        streams = [getattr(sys, f"{mark}{name}{mark}") for name in ("stdin", "stdout", "stderr") for mark in ("", "__")]
        files = [os.fstat(fd)[:3] for fd in range(3)]
        open_files = len(os.listdir("/dev/fd"))
        return [
            dict(os.environ),
            time.tzname,
            os.getcwd(),
            sys.argv,
            gc.isenabled(),
            handlers,
            streams,
            files,
            open_files,
        ]

    folder = told(tmp_path)
    run_inside(("index",), b"", tmp_path, folder.env())
    before = state()
    zoned = folder.env(TZ="Asia/Tokyo")
    for args in (["status"], ["list", "--timezone", "Europe/Paris"], ["nonsense"], ["statusline", "install"]):
        run_inside(tuple(args), b"", tmp_path, zoned)
    run_inside(("statusline", "run"), b"{}", tmp_path, zoned)
    assert before == state()


@pytest.mark.process
def test_a_marked_test_runs_processes(tmp_path: Path) -> None:
    """Only a process of its own reads the bytes of the program anew."""
    assert "import 'crusts_index'" in ClaudeFolder(tmp_path).crusts("--version", PYTHONVERBOSE="1").err
