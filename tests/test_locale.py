"""Words, paths and output beyond ASCII, whatever the locale says they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.builders import ClaudeFolder

PLAIN_C = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LOCALES = [PLAIN_C, {"LC_ALL": "POSIX"}, {"LC_ALL": "C.UTF-8"}]


def odd_folder(home: Path) -> ClaudeFolder:
    """One session of a project, in a home folder, with words beyond ASCII everywhere."""
    folder = ClaudeFolder(home)
    t = folder.main(project="/home/ada/naïve/日本")
    t.prompt("why is the façade 日本?")
    t.response("déjà vu", context=100)
    t.write()
    return folder


@pytest.mark.long
@pytest.mark.parametrize("locale", LOCALES, ids=["C", "POSIX", "UTF-8"])
def test_arguments_are_utf8_in_any_locale(locale: dict[str, str], tmp_path: Path) -> None:
    """Search, --project, --path, --db and SQL find what they name, in folders of any name, and print it as it is."""
    folder = odd_folder(tmp_path / "zoë 日本")
    config, home = str(tmp_path / "zoë 日本" / ".claude"), str(tmp_path / "hôme")
    env = {**locale, "CRUSTS_HOME": home, "CLAUDE_CONFIG_DIR": config}
    assert 0 == folder.crusts("index", **env).code
    assert Path(home, "index.db").exists()
    for word in ("façade", "日本", "déjà"):
        assert word in folder.crusts("search", word, **env).out
    named = ["--project", "NAïVE", "--path", config, "--db", home + "/index.db"]
    assert ["/home/ada/naïve/日本"] == [
        row["project"] for row in folder.crusts("list", *named, "--json", **env).json()["sessions"]
    ]
    assert "日本" in folder.crusts("sql", "select '日本' as said from sessions_overview", **env).out
    for command in ("analyze", "readout", "status", "doctor", "verify"):
        done = folder.crusts(command, **env)
        assert (0, "") == (done.code, done.err)


def test_a_name_that_is_no_utf8_ends_nothing(tmp_path: Path) -> None:
    """Its bytes can be neither kept nor printed: that is said, and what else there is gets read."""
    folder = odd_folder(tmp_path)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    os.makedirs(odd + "/.claude/projects/-w")
    os.makedirs(f"{tmp_path}/.claude/skills/" + os.fsdecode(b"\xe9"))
    (tmp_path / ".claude" / "skills" / os.fsdecode(b"\xe9") / "SKILL.md").write_text("x")
    env = {"CLAUDE_CONFIG_DIR": f"{tmp_path}/.claude,{odd}/.claude", "CRUSTS_HOME": odd + "/crusts"}
    done = folder.crusts("index", **env)
    assert (0, 1) == (done.code, done.err.count("its name is not UTF-8"))
    for command in (["list"], ["analyze"], ["search", odd], ["list", "--project", odd], ["sql", f"select '{odd}'"]):
        assert 0 == folder.crusts(*command, **env).code
    assert 0 == folder.crusts("index", "--rebuild", **env).code
    assert "façade" in folder.crusts("search", "façade", cwd=Path(odd), **env).out


@pytest.mark.parametrize("command", [["readout"], ["list", "--json"], ["search", "façade"], ["analyze"], ["status"]])
def test_output_that_takes_ascii_alone_gets_question_marks(command: list[str], tmp_path: Path) -> None:
    """An encoding that lacks a character makes no command fail."""
    folder = odd_folder(tmp_path)
    done = folder.crusts(*command, PYTHONIOENCODING="ascii")
    assert 0 == done.code
    assert done.out.isascii()
