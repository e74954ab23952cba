"""Which folder a project is, however it is spelled (D3, D22)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.folders import entered_repo, last_part, project_path, worktree_repo
from crusts_index.store.open import open_store
from tests.builders import ClaudeFolder, Transcript
from tests.picture import ask, index, new_store

DRIVE = ["C:\\w\\p", "c:\\w\\p", "C:/w/p", "c:/w/p/", "c:\\w\\\\p\\", "\\\\?\\C:\\w\\p", "//?/c:/w/p"]
SHARE = ["\\\\host\\w\\p", "\\\\host\\w\\p\\", "\\\\?\\UNC\\host\\w\\p", "\\\\host/w/p/"]
OTHERS = ["/w/p", "/w/p/", "D:\\w\\p", "C:\\W\\p", "C:\\w\\p2", "//w/p", "w\\p", "-w-p"]


def name(number: int) -> str:
    """The id of a session."""
    return f"5e5510{number:02d}-0000-4000-8000-000000000001"


@pytest.mark.parametrize("spelled", DRIVE + SHARE)
def test_a_windows_folder_has_one_spelling(spelled: str) -> None:
    """Whatever the case of its drive letter, its slashes, the last one and the long form."""
    assert (DRIVE[0] if spelled in DRIVE else SHARE[0]) == project_path(spelled)
    assert "p" == last_part(spelled)


def test_other_folders_are_as_they_are_called() -> None:
    """Systems that tell cases and slashes apart keep them."""
    assert OTHERS == [project_path(path) for path in OTHERS]


def make(folder: ClaudeFolder, spellings: list[str]) -> None:
    """A session for each spelling of a folder."""
    for number, spelled in enumerate(spellings):
        t = folder.main(name(number), f"/p{number}", cwd=spelled)
        t.response("x", context=100)
        t.write()


def test_spellings_of_a_folder_are_one_project(tmp_path: Path) -> None:
    """In usage and lists, and for --project in any spelling or part of one."""
    folder = ClaudeFolder(tmp_path)
    make(folder, [*DRIVE, *OTHERS[2:5]])
    rows = folder.crusts("usage", "--by", "project", "--json").json()["rows"]
    assert {"C:\\w\\p": len(DRIVE)} | dict.fromkeys(OTHERS[2:5], 1) == {row["project"]: row["calls"] for row in rows}
    for asked in ("c:/w/p/", "C:\\w\\p", "//?/C:/W/P"):
        found = folder.crusts("list", "--project", asked, "--json").json()["sessions"]
        assert len(DRIVE) + 2 == len(found)  # C:\W\p and C:\w\p2 are matched too
    assert len(DRIVE) + 3 == len(folder.crusts("list", "--project", "w/p", "--json").json()["sessions"])
    assert "p2" in folder.crusts("list").out
    assert "w\\p" not in folder.crusts("list").out


def test_spellings_from_before_become_one(tmp_path: Path) -> None:
    """A store that has a folder under two names gives the sessions of both to one, when one of them is touched."""
    folder = ClaudeFolder(tmp_path)
    make(folder, ["c:/w/p", "C:/w/p"])
    db = new_store(tmp_path / "store")
    index(db, folder.config)
    with closing(open_store(str(db), write=True)) as store:
        store.execute("update projects set path = 'c:/w/p'")
        store.execute("insert into projects (path, name) values ('C:/w/p', 'p')")
        store.execute("update sessions set project_id = last_insert_rowid() where session_id = ?", (name(1),))
    t = folder.main(name(2), "/p2", cwd="C:/w/p/")
    t.response("x", context=100)
    t.write()
    index(db, folder.config)
    assert [("C:\\w\\p", "p")] == ask(db, "select path, name from projects")
    assert [("C:\\w\\p",)] * 3 == ask(db, "select project from sessions_overview")


@pytest.mark.parametrize(
    ("path", "repo"),
    [
        ("/w/p/.claude/worktrees/try", "/w/p"),
        ("/w/p/.claude/worktrees/try/src/deep", "/w/p"),
        ("/w/p/.claude/worktrees/a/.claude/worktrees/b", "/w/p"),
        ("/.claude/worktrees/try", "/"),
        ("c:/w/p/.claude/worktrees/try", "C:\\w\\p"),
        ("C:\\w\\p\\.claude\\worktrees\\try\\", "C:\\w\\p"),
        ("\\\\?\\c:\\.claude\\worktrees\\try", "C:\\"),
        ("\\\\host\\w\\.claude\\worktrees\\try", "\\\\host\\w"),
        ("/w/p/.claude/worktrees/", None),
        ("/w/p/.claude/worktrees", None),
        ("/w/p/worktrees/try", None),
        ("/w/p", None),
        ("", None),
    ],
)
def test_a_worktree_tells_its_folder(path: str, repo: str | None) -> None:
    """Whatever lies below it, on Windows in any spelling; a folder that only sounds like one is none."""
    assert repo == worktree_repo(path)


def test_a_worktree_elsewhere_belongs_to_where_it_was_entered_from() -> None:
    """Its path tells, where it can; else the folder before it, if that is one; anything else is passed over."""
    assert "/w/p" == entered_repo("/w/p/.claude/worktrees/a", "/w/p/src")
    assert "/w/p" == entered_repo("/tmp/a", "/w/p/.claude/worktrees/b")
    assert "/w/p" == entered_repo("/tmp/a", "/w/p") == entered_repo(7, "/w/p")
    assert "C:\\w" == entered_repo(None, "c:/w/")
    assert [None] * 4 == [entered_repo("/tmp/a", other) for other in (None, "trimmed", ["/w"], "/\ud800")]


def repos(db: Path) -> dict[str, str | None]:
    """The folder that each session's worktree belongs to."""
    return dict(ask(db, "select session_id, repo from sessions_overview"))


def work(folder: ClaudeFolder, number: int, cwd: str, *states: object) -> Transcript:
    """A session that begins in a folder, and says of its worktrees what is given."""
    t = folder.main(name(number), f"/p{number}", cwd=cwd)
    t.response("x", context=100)
    for state in states:
        t.meta("worktree-state", worktreeSession=state)
    t.write()
    return t


def test_sessions_have_the_folder_of_their_worktree(tmp_path: Path) -> None:
    """By where they began, else by the worktree that they entered last; one that was left, or is nonsense, is none."""
    folder = ClaudeFolder(tmp_path)
    there = {"originalCwd": "/w/q", "worktreePath": "/tmp/t", "worktreeName": "t"}
    work(folder, 1, "/w/p/.claude/worktrees/a", there)
    work(folder, 2, "/w/q", {"originalCwd": "/w/old", "worktreePath": "/tmp/o"}, there, None)
    work(folder, 3, "/w/q", {"original_cwd": "/elsewhere", "worktree_path": "/w/r/.claude/worktrees/b"})
    work(folder, 4, "/w/q", {"originalCwd": "[trimmed]"})
    work(folder, 5, "/w/q", "odd", ["odd"], {"originalCwd": 7})
    work(folder, 6, "/w/q")
    db = new_store(tmp_path / "store")
    index(db, folder.config)
    expected = {name(1): "/w/p", name(2): "/w/q", name(3): "/w/r", name(4): None, name(5): None, name(6): None}
    assert expected == repos(db)
    assert [("/w/p/.claude/worktrees/a",), ("/w/q",)] == ask(db, "select distinct project from sessions_overview")


def test_the_folder_of_a_worktree_comes_with_the_record_that_tells_it(tmp_path: Path) -> None:
    """Of an append too; the main transcripts tell it, not those of agents that had a worktree of their own."""
    folder = ClaudeFolder(tmp_path)
    t = work(folder, 1, "/w/q")
    agent = folder.subagent(name(1), project="/p1", cwd="/w/q/.claude/worktrees/agent-a1")
    agent.response("y", context=50)
    agent.meta("worktree-state", worktreeSession={"originalCwd": "/w/agent"})
    agent.write()
    db = new_store(tmp_path / "store")
    index(db, folder.config)
    assert {name(1): None} == repos(db)
    t.meta("worktree-state", worktreeSession={"originalCwd": "/w/q", "worktreePath": "/tmp/t"})
    t.append()
    index(db, folder.config)
    assert {name(1): "/w/q"} == repos(db)


def test_the_folder_of_a_worktree_stays_where_no_text_is_kept(tmp_path: Path) -> None:
    """Whenever the user says so: names and branches go, and the folder is the same, also when all is read again."""
    folder = ClaudeFolder(tmp_path)
    state = {"originalCwd": "/w/q", "worktreePath": "/tmp/secret-1", "worktreeBranch": "secret-2"}
    work(folder, 1, "/w/q", state)
    folder.crusts("index")
    db = folder.home / ".claude-crusts" / "index.db"
    assert b"secret" in db.read_bytes()
    (db.parent / "config.json").write_text('{"keepText": false}')
    for args in (["index"], ["index", "--rebuild"]):
        assert 0 == folder.crusts(*args).code
        assert {name(1): "/w/q"} == repos(db)
        assert b"secret" not in db.read_bytes()
