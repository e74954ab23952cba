"""Hook targets in processes of their own: whatever is done to them, they end by themselves, soon, with exit code 0."""

from __future__ import annotations

import json
import os
import pty
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from crusts_index.claude.roots import Root
from crusts_index.claude.transcripts import named_transcripts, place_of, session_of
from crusts_index.store.open import HEAD
from tests.builders import SESSION, ClaudeFolder, Outcome, Transcript
from tests.picture import ask

SECONDS = 10.0
"""Ended by itself: what is promised is two seconds, and three of an index."""

TARGETS = {
    "index": ("--no-color", "index", "--hook"),
    "statusline": ("--timezone", "UTC", "statusline"),
    "status": ("status", "--hook"),
    "auto-inject": ("auto-inject",),
}
each_target = pytest.mark.parametrize("args", TARGETS.values(), ids=TARGETS)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A session of one prompt and one call."""
    t = folder.main()
    t.prompt("begin")
    t.response("on", context=20_000, output=100)
    t.write()
    return t


def payload(t: Transcript, **more: Any) -> bytes:
    """What Claude Code says of a session."""
    said = {"session_id": t.session, "transcript_path": str(t.path), "cwd": t.cwd, "model": {"id": t.model}}
    return json.dumps({**said, "hook_event_name": "Stop", **more}).encode()


def start(folder: ClaudeFolder, *args: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Start the command; streams that are not given are pipes."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, "-m", "crusts_index", *args], env=folder.env(), cwd=folder.home, **{**pipes, **streams}
    )


def ended(process: subprocess.Popen[bytes]) -> Outcome:
    """How it ended, all by itself; its stdin stays as it is."""
    try:
        code = process.wait(SECONDS)
    finally:
        process.kill()
    said = []
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            said.append(stream.read().decode())
            stream.close()
        else:
            said.append("")
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert "Traceback" not in said[1]
    assert "Exception ignored" not in said[1]
    return Outcome(code, *said)


def sessions(folder: ClaudeFolder) -> list[str]:
    """The sessions in the store."""
    db = folder.home / ".claude-crusts" / "index.db"
    return [row[0] for row in ask(db, "select session_id from sessions order by 1")] if db.exists() else []


def begins(args: tuple[str, ...], out: str, start: str) -> bool:
    """Whether a status line has a line that begins so; of others nothing is asked."""
    return "statusline" not in args or (out.startswith(start) and out.endswith("\n"))


# ---------------------------------------------------------------------- standard input


@pytest.mark.long
@each_target
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_stdin_may_stay_open(folder: ClaudeFolder, t: Transcript, args: tuple[str, ...], part: float) -> None:
    """Nothing, half a payload or a whole one, and no end of it: which session it is about stands in the first half."""
    process = start(folder, *args)
    assert process.stdin is not None
    said = payload(t)
    process.stdin.write(said[: int(len(said) * part)])
    process.stdin.flush()
    done = ended(process)
    assert 0 == done.code
    assert begins(args, done.out, "○ 10%" if part else "○ crusts")
    if "index" in args:
        assert ([SESSION] if part else []) == sessions(folder)


@each_target
@pytest.mark.parametrize("given", ["</dev/zero", "<&-", "<&- >&- 2>&-", "0>/dev/null"])
def test_stdin_may_be_anything(folder: ClaudeFolder, t: Transcript, args: tuple[str, ...], given: str) -> None:
    """Without an end, closed, closed with the others, open only for writing."""
    line = f'"{sys.executable}" -m crusts_index {" ".join(args)} {given}'
    process = subprocess.Popen(
        ["/bin/sh", "-c", line],
        env=folder.env(),
        cwd=folder.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    done = ended(process)
    assert 0 == done.code
    assert ">&-" in given or begins(args, done.out, "○ ")


@each_target
def test_stdin_may_be_a_terminal(folder: ClaudeFolder, t: Transcript, args: tuple[str, ...]) -> None:
    """Nobody types a payload: it is not waited for."""
    ours, theirs = pty.openpty()
    try:
        assert 0 == ended(start(folder, *args, stdin=theirs)).code
    finally:
        os.close(ours)
        os.close(theirs)


# ---------------------------------------------------------------------- standard output and error


@pytest.mark.long
@each_target
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("kind", ["full", "unread", "stuck"])
def test_nobody_may_listen(folder: ClaudeFolder, t: Transcript, args: tuple[str, ...], stream: str, kind: str) -> None:
    """A full disk, a pipe whose reader is gone, a full one that nobody reads: the work is done all the same."""
    reader, writer = os.pipe()
    if kind == "full":
        os.close(writer)
        writer = os.open("/dev/full", os.O_WRONLY)
    elif kind == "unread":
        os.close(reader)
    else:
        os.set_blocking(writer, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        os.set_blocking(writer, True)
    process = start(folder, *args, "--bogus", **{stream: writer})
    assert process.stdin is not None
    process.stdin.write(payload(t))
    process.stdin.close()
    process.stdin = None
    done = ended(process)
    assert 0 == done.code
    if stream == "stderr" and kind != "stuck":
        assert begins(args, done.out, "○ 10%")
    if "index" in args and (stream, kind) != ("stderr", "stuck"):
        assert [SESSION] == sessions(folder)
    for one in (reader, writer):
        with suppress(OSError):
            os.close(one)


@pytest.mark.long
@pytest.mark.parametrize("words", ["list --json", "usage", "readout", "--help"])
def test_an_answer_that_cannot_be_written_is_an_error(folder: ClaudeFolder, t: Transcript, words: str) -> None:
    """Of any other command: exit code 1 and one line; notes that nobody can read are none."""
    assert 0 == folder.crusts("index").code
    with open("/dev/full", "wb") as full:
        done = ended(start(folder, *words.split(), stdin=subprocess.DEVNULL, stdout=full))
        assert (1, 1) == (done.code, done.err.count("\n"))
        assert "No space left" in done.err
        assert 0 == ended(start(folder, "list", "--verbose", stdin=subprocess.DEVNULL, stderr=full)).code


# ---------------------------------------------------------------------- the command line


@pytest.mark.parametrize(
    "words",
    [
        ("--bogus=1", "-x"),
        ("word",),
        ("--db",),
        ("--timezone", "Nowhere/At-All"),
        ("--timezone", "--no-color"),
        ("--",),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("args", [("index", "--hook"), ("statusline",)], ids=" ".join)
def test_words_that_make_no_sense_are_told(
    folder: ClaudeFolder, t: Transcript, args: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """Options that are none, lack a value or have a wrong one: one line says so, and the work is done."""
    for line in ((*args, *words), (*words, *args)) if words[-1] not in ("word", "--db", "--") else ((*args, *words),):
        done = folder.crusts(*line, stdin=payload(t))
        assert 0 == done.code
        assert (words != ("--",)) == done.err.count("\n")
        assert begins(args, done.out, "○ 10%")
        assert args[0] != "index" or [SESSION] == sessions(folder)


def test_values_that_make_no_sense_are_told(folder: ClaudeFolder, t: Transcript) -> None:
    """Lists, names with NULs, half characters and folders that are not there, in config.json and in the environment."""
    home = folder.home / ".claude-crusts"
    home.mkdir(exist_ok=True)
    for config in (
        '{"db": 5, "path": {}, "timezone": []}',
        '{"db": "a\\u0000b", "path": ["\\u0000", "\\ud800"], "timezone": "\\u0000"}',
        '{"db": "\\ud800", "contextWindows": "many", "autoInject": []}',
        "[" * 100_000,
    ):
        (home / "config.json").write_text(config)
        done = folder.crusts("statusline", stdin=payload(t))
        assert (0, "○ 10%") == (done.code, done.out[:5])
    (home / "config.json").unlink()
    good, gone = str(folder.config), str(folder.home / "gone")
    done = folder.crusts("index", "--hook", stdin=payload(t), CLAUDE_CONFIG_DIR=f"{gone},{good}", TZ="No/Where")
    assert (0, [SESSION]) == (done.code, sessions(folder))
    assert "gone" in done.err
    for env in ({"CLAUDE_CONFIG_DIR": gone}, {"COLUMNS": "9" * 5_000}, {"COLUMNS": "²"}, {"TZ": "x" * 5_000}):
        assert folder.crusts("statusline", stdin=payload(t), **env).out.startswith("○ 10%")


# ---------------------------------------------------------------------- the store


@pytest.mark.long
@each_target
@pytest.mark.parametrize("state", ["newest", "empty", "older"])
def test_a_store_may_be_locked_for_good(folder: ClaudeFolder, t: Transcript, args: tuple[str, ...], state: str) -> None:
    """Also where it is to be laid or brought up first; what could not be done is done by the next run."""
    assert 0 == folder.crusts("index").code
    db = folder.home / ".claude-crusts" / "index.db"
    t.response("more", context=30_000, output=100)
    t.append()
    if state == "empty":
        db.unlink()
    with closing(sqlite3.connect(db, isolation_level=None)) as store:
        if state == "older":
            store.execute("update alembic_version set version_num = '0000'")
        store.execute("pragma locking_mode = exclusive")
        store.execute("begin exclusive")
        process = start(folder, *args)
        assert process.stdin is not None
        process.stdin.write(payload(t))
        process.stdin.close()
        process.stdin = None
        done = ended(process)
        assert 0 == done.code
        assert begins(args, done.out, "○ 15%")
        store.execute("rollback")
        if state == "older":
            store.execute("update alembic_version set version_num = ?", (HEAD,))
    assert 0 == folder.crusts("index", "--hook", stdin=payload(t)).code
    assert [(2,)] == ask(db, "select count(*) from api_calls")


def put_pipe(path: Path) -> None:
    """A named pipe."""
    os.mkfifo(path)


def put_socket(path: Path) -> None:
    """A socket."""
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(here)


def put_device(path: Path) -> None:
    """A device without an end."""
    path.symlink_to("/dev/zero")


def put_nothing(path: Path) -> None:
    """A link to nothing."""
    path.symlink_to(path.parent / "gone" / "file")


OURS = (
    "home/.claude-crusts/index.db",
    "home/.claude-crusts/index.db-journal",
    "home/.claude-crusts/search.db",
    "home/.claude-crusts/config.json",
    "home/.claude-crusts/auto-inject.log",
    "home/.claude/settings.json",
    "home/.claude/projects/-home-ada-site/5e551001-0000-4000-8000-000000000002.jsonl",
    f"home/.claude/projects/-home-ada-site/{SESSION}/subagents/agent-a1.meta.json",
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "put"),
    [
        *((place, put_pipe) for place in OURS),
        *((OURS[0], put) for put in (put_socket, put_device, put_nothing, Path.mkdir)),
        (OURS[3], put_device),
    ],
    ids=lambda one: getattr(one, "__name__", None) or os.path.basename(one),
)
def test_something_else_may_stand_in_a_file_s_place(tmp_path: Path, place: str, put: Any) -> None:
    """A pipe, a socket, a device, a link to nothing, a folder: nothing waits for them, and no command fails without a
    word."""
    folder = ClaudeFolder(tmp_path / "home")
    t = folder.main()
    t.prompt("begin")
    t.response("on", context=20_000, output=100)
    t.write()
    agent = folder.subagent(agent="a1")
    agent.response("found", context=5_000)
    agent.write()
    assert 0 == folder.crusts("index").code
    (folder.home / ".claude-crusts" / "config.json").write_text('{"autoInject": {"enabled": true, "threshold": 1}}')
    path = tmp_path / place
    path.unlink(missing_ok=True)
    put(path)
    t.response("more", context=30_000, output=100)
    t.append()
    commands: list[tuple[str, ...]] = [("list",), ("search", "begin"), ("hooks", "status"), ("index",)]
    for args in [*TARGETS.values(), *commands]:
        process = start(folder, *args)
        assert process.stdin is not None
        process.stdin.write(payload(t, transcript_path=str(path if path.suffix == ".jsonl" else t.path)))
        process.stdin.close()
        process.stdin = None
        done = ended(process)
        assert begins(args, done.out, "○ 15%")
        if args in commands:
            assert (done.code == 0 and done.out) or (done.code == 1 and done.err.count("\n") == 1), (args, done)
        else:
            assert done.code == 0


# ---------------------------------------------------------------------- the status line about which ours was put


@pytest.mark.long
@pytest.mark.parametrize(
    ("other", "start"),
    [
        ("yes", ""),
        ("cat; sleep 60", ""),
        ("trap '' TERM INT HUP; while :; do sleep 1; done", ""),
        ("while :; do echo x; done & sleep 60", ""),
        ("printf theirs; exec >&-; sleep 60", "theirs │ "),
        ("printf theirs; sleep 60 &", "theirs │ "),
        ("printf theirs; kill -9 $$", "theirs │ "),
        ("exec <&-; printf theirs", "theirs │ "),
        ("/nonexistent/command", ""),
        ("head -c 70000 /dev/zero", ""),
    ],
)
def test_another_status_line_may_do_as_it_likes(folder: ClaudeFolder, t: Transcript, other: str, start: str) -> None:
    """It never ends, never stops talking, closes its output, leaves something behind, ignores signals."""
    said = payload(t, filler="x" * (1 << 20))
    assert folder.crusts("statusline", "--wrap", "yes & exit", stdin=said).out.endswith(
        "○ 10% · 168 calls left · cache cold\n"
    )
    assert f"{start}○ 10%" == folder.crusts("statusline", "--wrap", other, stdin=said).out.split(" · ")[0]


# ---------------------------------------------------------------------- what a payload names


GHOSTS = [
    {"transcript_path": "/nonexistent/worktree/x.jsonl"},
    {"transcript_path": None},
    {"transcript_path": 7},
    {"transcript_path": "x" * 10_000},
    {"transcript_path": "a\0b.jsonl"},
    {"transcript_path": "/etc/passwd"},
    {"transcript_path": "."},
    {"transcript_path": "/dev/zero"},
    {"transcript_path": "/x/" + "y" * 300 + ".jsonl"},
    {"agent_type": "", "agent_transcript_path": "/nonexistent/agent-x.jsonl", "hook_event_name": "SubagentStop"},
    {"session_id": None, "transcript_path": f"/nonexistent/{SESSION}.jsonl"},
    {"session_id": None, "transcript_path": f"/nonexistent/{SESSION}/subagents/agent-x.jsonl"},
]


@pytest.mark.parametrize("more", GHOSTS, ids=str)
def test_a_session_is_found_by_its_id(folder: ClaudeFolder, t: Transcript, more: dict[str, Any]) -> None:
    """Where the path that a payload names is none of ours: by status line, hook and auto-inject alike."""
    (folder.home / ".claude-crusts").mkdir()
    config = {"autoInject": {"enabled": True, "threshold": 1, "minGapMs": 0}}
    (folder.home / ".claude-crusts" / "config.json").write_text(json.dumps(config))
    said = payload(t, **more)
    assert folder.crusts("statusline", stdin=said).out.startswith("○ 10%")
    assert "20,100 of" in folder.crusts("status", "--hook", stdin=said).out
    assert "additionalContext" in folder.crusts("auto-inject", stdin=said).out
    assert Outcome(0, "", "") == folder.crusts("index", "--hook", stdin=said)
    assert [SESSION] == sessions(folder)


def test_nothing_is_read_outside_the_roots(folder: ClaudeFolder, t: Transcript, tmp_path: Path) -> None:
    """A transcript elsewhere, and a file under a root that is none: no target looks into it."""
    assert t.path is not None
    other = SESSION[:-1] + "7"
    places = [
        tmp_path / "elsewhere" / "projects" / "-p" / f"{other}.jsonl",
        folder.projects / f"{other}.jsonl",
        folder.projects / "-p" / "tool-results" / f"{other}.jsonl",
        folder.projects / "-p" / f"{other}.orphaned.jsonl",
        folder.projects / "-p" / "journal.jsonl",
        folder.config / f"{other}.jsonl",
    ]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(t.path.read_bytes())
        said = payload(t, session_id=other, transcript_path=str(place))
        assert "○ crusts: nothing yet\n" == folder.crusts("statusline", stdin=said).out
        assert 0 == folder.crusts("index", "--hook", stdin=said).code
        above = str(folder.projects / "-p" / ".." / ".." / ".." / place.relative_to(tmp_path))
        assert 0 == folder.crusts("index", "--hook", stdin=payload(t, session_id=other, transcript_path=above)).code
    assert [] == sessions(folder)


def test_links_lead_into_a_root_and_out_of_it(tmp_path: Path) -> None:
    """A root, a project folder or a file that is a link is inside, by whatever name it is called; `..` as it leads."""
    real = tmp_path / "real"
    (real / "projects" / "-p").mkdir(parents=True)
    (tmp_path / "far" / "-q").mkdir(parents=True)
    for path in ("real/projects/-p/a.jsonl", "far/-q/b.jsonl", "far/c.jsonl"):
        (tmp_path / path).write_text("{}\n")
    (tmp_path / "link").symlink_to(real)
    (real / "projects" / "-q").symlink_to(tmp_path / "far" / "-q")
    (real / "projects" / "-p" / "c.jsonl").symlink_to(tmp_path / "far" / "c.jsonl")
    for root in ("real", "link"):
        projects = str(tmp_path / root / "projects")
        roots = [Root(str(tmp_path / root), projects, explicit=True)]

        def found(path: str, roots: list[Root] = roots) -> str | None:
            return place_of(roots, str(tmp_path / path))

        for name in ("real", "link"):
            assert f"{projects}/-p/a.jsonl" == found(f"{name}/projects/-p/a.jsonl")
            assert f"{projects}/-q/b.jsonl" == found(f"{name}/projects/-q/b.jsonl")
            assert f"{projects}/-p/c.jsonl" == found(f"{name}/projects/-p/c.jsonl")
            assert f"{projects}/-p/a.jsonl" == found(f"{name}/projects/-p/../-p/a.jsonl")
            assert f"{projects}/-p/a.jsonl" == found(f"{name}/projects/../projects/-p/a.jsonl")
            # What `..` behind a link leads to is no part of the root, however it is written.
            assert None is found(f"{name}/projects/-q/../c.jsonl")
        assert None is found("far/c.jsonl")
        assert [f"{projects}/-q/b.jsonl"] == named_transcripts(roots, "b", str(tmp_path / "far" / "-q" / "nope.jsonl"))


def test_the_parts_of_a_session_are_found(folder: ClaudeFolder) -> None:
    """Of several copies the one written to last comes first; without a main transcript its subagents are taken."""
    roots = [Root(str(folder.config), str(folder.projects), explicit=True)]
    for number, project in ((2, "/a"), (3, "/b"), (1, "/c")):
        t = folder.main(project=project)
        t.prompt("begin")
        os.utime(t.write(), (number, number))
    names = [os.path.basename(os.path.dirname(path)) for path in named_transcripts(roots, SESSION, None)]
    assert ["-b", "-a", "-c"] == names
    lone = folder.subagent(SESSION[:-1] + "5", agent="x", under="deep")
    lone.prompt("begin")
    assert [str(lone.write())] == named_transcripts(roots, SESSION[:-1] + "5", None)
    for odd in ("..", "../x", "", "a/b", "journal", "x" * 5_000):
        assert [] == named_transcripts(roots, odd, None)
    assert (SESSION, None) == (session_of(f"/x/{SESSION}.jsonl"), session_of("/x/agent-1.jsonl"))
