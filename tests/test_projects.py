"""Which folder a project is, however it is spelled (D3, D22)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.folders import last_part, project_path
from crusts_index.store.open import open_store
from tests.builders import ClaudeFolder
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
