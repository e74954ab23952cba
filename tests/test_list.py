"""`crusts list`: the sessions, the last active first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.builders import START, ClaudeFolder
from tests.conftest import Demo, IndexedFolder

KEYS = [
    *("session", "project", "title", "started", "last_active", "messages", "calls", "model", "version"),
    *("peak_ctx", "compactions", "size_bytes", "gone"),
]


def name(number: int) -> str:
    """The id of a session."""
    return f"5e5510{number:02d}-0000-4000-8000-000000000001"


@pytest.fixture
def three(tmp_path: Path) -> ClaudeFolder:
    """Three sessions a day apart, the first of them twice compacted."""
    folder = IndexedFolder(tmp_path)
    for number in (1, 2, 3):
        t = folder.main(name(number), f"/home/ada/p{number}", start=START + timedelta(days=number))
        t.prompt(f"do {number}\nthen stop")
        t.response("done", context=number * 1_000)
        if number == 1:
            t.boundary()
            t.response("on", context=400, model="claude-sonnet-5")
            t.boundary()
        t.write()
    return folder


def test_a_session_says_what_it_was(three: ClaudeFolder) -> None:
    """Newest first, with the promised keys; peaks, messages and compactions are those of the main thread."""
    sessions = three.crusts("list", "--json").json()["sessions"]
    assert [name(3), name(2), name(1)] == [session["session"] for session in sessions]
    assert KEYS == list(sessions[0])
    first = sessions[-1]
    path = three.project_folder("/home/ada/p1") / f"{name(1)}.jsonl"
    assert first == {
        "session": name(1),
        "project": "/home/ada/p1",
        "title": "do 1 then stop",
        "started": "2026-10-06T09:00:00.000Z",
        "last_active": first["last_active"],
        "messages": 3,
        "calls": 2,
        "model": "claude-sonnet-5",
        "version": "2.1.220",
        "peak_ctx": 1_000,
        "compactions": 2,
        "size_bytes": path.stat().st_size,
        "gone": False,
    }


def test_the_users_title_comes_first(tmp_path: Path) -> None:
    """A name given by the user stands before the program's own, and that before the first prompt."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("fix the build")
    t.response("a", context=100)
    t.write()
    titles = [folder.crusts("list", "--json").json()["sessions"][0]["title"]]
    t.meta("ai-title", aiTitle="Build repair")
    t.append()
    titles.append(folder.crusts("list", "--json").json()["sessions"][0]["title"])
    t.meta("custom-title", customTitle="mine")
    t.append()
    titles.append(folder.crusts("list", "--json").json()["sessions"][0]["title"])
    assert ["fix the build", "Build repair", "mine"] == titles


def test_a_table_shows_25_and_how_many_more(tmp_path: Path) -> None:
    """The table ends after 25 rows or --limit, and says how many it left out; JSON has all."""
    folder = IndexedFolder(tmp_path)
    for number in range(30):
        t = folder.main(name(number), start=START + timedelta(hours=number))
        t.response("a", context=100)
        t.write()
    assert "+ 5 more" in folder.crusts("list").out
    assert "+ 28 more" in folder.crusts("list", "--limit", "2").out
    assert 30 == len(folder.crusts("list", "--json").json()["sessions"])
    assert [name(29)] == [s["session"] for s in folder.crusts("list", "--limit", "1", "--json").json()["sessions"]]


def test_a_project_by_part_of_its_path(three: ClaudeFolder) -> None:
    """--project leaves out the others."""
    assert [name(2)] == [s["session"] for s in three.crusts("list", "--project", "ADA/P2", "--json").json()["sessions"]]


def test_a_session_gone_from_disk_is_marked(three: ClaudeFolder) -> None:
    """It stays in the list, with gone true and a star."""
    assert three.crusts("index").code == 0
    (three.project_folder("/home/ada/p3") / f"{name(3)}.jsonl").unlink()
    found = three.crusts("list", "--json").json()["sessions"]
    assert {name(1): False, name(2): False, name(3): True} == {s["session"]: s["gone"] for s in found}
    assert f"{name(3)[:8]}*" in three.crusts("list").out


def test_what_the_demo_says(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    """The list of a demo made just now is the golden file, in a terminal 80 columns wide."""
    text = Demo(tmp_path.resolve(), datetime.now(UTC)).crusts("list", COLUMNS="80").out
    assert max(map(len, text.splitlines())) <= 80
    golden("list.txt", text)


def test_no_sessions(tmp_path: Path) -> None:
    """An empty store says what to do."""
    done = IndexedFolder(tmp_path).crusts("list")
    assert (0, True) == (done.code, "crusts index" in done.out)


def test_a_hostile_title_is_only_text(tmp_path: Path) -> None:
    """Escape sequences in a title do not reach the terminal, and a formula not the spreadsheet."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("go")
    t.meta("custom-title", customTitle="=cmd()\x1b]0;owned\x07\x1b[2J")
    t.write()
    assert "\x1b" not in folder.crusts("list").out
    assert ",'=cmd()," in folder.crusts("list", "--format", "csv").out


def test_sizes_stand_where_there_is_room(demo: Demo) -> None:
    """From 100 columns on a table says how large a session's transcripts are; narrower, titles need the room."""
    wide, narrow = (demo.crusts("list", COLUMNS=str(wide)).out.splitlines()[0].split() for wide in (120, 80))
    assert (["size"], []) == ([name for name in wide if name == "size"], [name for name in narrow if name == "size"])
