"""Where transcripts are looked for (D3)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crusts_index.claude.roots import Root, config_dir, project_slug
from crusts_index.claude.roots import find_roots as find
from crusts_index.errors import CrustsError
from crusts_index.store.config import write_config
from crusts_index.store.settings import resolve_settings, split_flags

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100.jsonl"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder without any config dir."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def environ(home: Path, **more: str) -> dict[str, str]:
    """An environment with this home folder."""
    return {"HOME": str(home), **more}


def find_roots(paths: list[str], environ: dict[str, str]) -> list[Root]:
    """The roots of a run with these --path, in this environment."""
    flags = split_flags([word for path in paths for word in ("--path", path)])[0]
    settings = resolve_settings(flags, environ)
    return find(settings.roots, settings.roots_from, environ)


def make_config_dir(path: Path) -> Path:
    """A config dir with an empty projects folder."""
    (path / "projects").mkdir(parents=True)
    return path


def test_defaults_are_used_where_they_exist(home: Path) -> None:
    """With nothing named, ~/.claude and ~/.config/claude are roots if they are there."""
    assert find_roots([], environ(home)) == []
    claude = make_config_dir(home / ".claude")
    assert find_roots([], environ(home)) == [Root(str(claude), str(claude / "projects"), explicit=False)]
    other = make_config_dir(home / ".config" / "claude")
    assert [root.config_dir for root in find_roots([], environ(home))] == [str(claude), str(other)]


def test_xdg_config_home_is_a_default_place(home: Path, tmp_path: Path) -> None:
    """$XDG_CONFIG_HOME/claude is read beside the others; it is not read twice if it is ~/.config."""
    xdg = make_config_dir(tmp_path / "xdg" / "claude")
    found = find_roots([], environ(home, XDG_CONFIG_HOME=str(tmp_path / "xdg")))
    assert [root.config_dir for root in found] == [str(xdg)]
    make_config_dir(home / ".config" / "claude")
    assert len(find_roots([], environ(home, XDG_CONFIG_HOME=str(home / ".config")))) == 1


def test_path_beats_environment_beats_defaults(home: Path, tmp_path: Path) -> None:
    """--path > CLAUDE_CONFIG_DIR > defaults: what is named replaces the rest."""
    make_config_dir(home / ".claude")
    named, given = make_config_dir(tmp_path / "named"), make_config_dir(tmp_path / "given")
    both = environ(home, CLAUDE_CONFIG_DIR=str(named))
    assert [root.config_dir for root in find_roots([], both)] == [str(named)]
    assert find_roots([str(given)], both) == [Root(str(given), str(given / "projects"), explicit=True)]


def test_environment_is_a_list_with_tilde(home: Path) -> None:
    """CLAUDE_CONFIG_DIR may name several folders, with ~ and blanks; an empty one names none."""
    one, two = make_config_dir(home / "one"), make_config_dir(home / "two")
    found = find_roots([], environ(home, CLAUDE_CONFIG_DIR=" ~/one , ~/two ,"))
    assert [root.config_dir for root in found] == [str(one), str(two)]
    claude = make_config_dir(home / ".claude")
    for empty in ("", " ", ","):
        assert [r.config_dir for r in find_roots([], environ(home, CLAUDE_CONFIG_DIR=empty))] == [str(claude)]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("~/a,b", ["a,b"]),
        ("~/a,b/", ["a,b"]),
        (" ~/a,b ,, ~/c ", ["a,b", "c"]),
        ("~/c,~/a,b,~/c/,~/d, e,f,", ["c", "a,b", "d, e,f"]),
        ("~/a,~/b", ["a", "b"]),
        ("~/a,~/a,b", ["a", "a,b"]),
        ("~/g,", ["g,"]),
        ("~/a,~/h ", ["a", "h "]),
        ("~/a,b/projects,~/c/projects/", ["a,b", "c"]),
    ],
)
def test_a_folder_may_have_a_comma_in_its_name(home: Path, value: str, named: list[str]) -> None:
    """Neighbours of the list that make a folder that is there are that folder, the longest first."""
    for name in ("a", "b", "a,b", "c", "d, e,f", "g,", "h "):
        make_config_dir(home / name)
    found = find_roots([], environ(home, CLAUDE_CONFIG_DIR=value))
    assert [str(home / name) for name in named] == [root.config_dir for root in found]
    assert str(home / named[0]) == config_dir(environ(home, CLAUDE_CONFIG_DIR=value))


def test_a_relative_folder_is_one_of_where_one_stands(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with a comma, and in a list."""
    one, two = make_config_dir(home / "x,y"), make_config_dir(home / "z")
    monkeypatch.chdir(home)
    found = find_roots([], environ(home, CLAUDE_CONFIG_DIR="x,y,./z"))
    assert [str(one), str(two)] == [root.config_dir for root in found]
    assert [str(two)] == [root.config_dir for root in find_roots(["z/"], environ(home))]


def test_projects_folder_may_be_named_itself(home: Path) -> None:
    """A root may be the projects folder: its config dir is the folder above it."""
    claude = make_config_dir(home / ".claude")
    expected = [Root(str(claude), str(claude / "projects"), explicit=True)]
    assert find_roots([str(claude / "projects")], environ(home)) == expected
    assert find_roots([str(claude / "projects") + "/"], environ(home)) == expected
    assert find_roots([], environ(home, CLAUDE_CONFIG_DIR="~/.claude/projects")) == expected


def test_renamed_projects_folder(home: Path) -> None:
    """A copy of a projects folder under another name is known by the transcripts in its folders."""
    folder = home / "backup" / "-src-app"
    folder.mkdir(parents=True)
    (folder / SESSION).write_text("")
    assert find_roots([str(home / "backup")], environ(home)) == [Root(None, str(home / "backup"), explicit=True)]


def test_folder_of_one_project_is_refused(home: Path) -> None:
    """The folder of one project is no root, and is not silently read as an empty one."""
    (home / "-src-app").mkdir()
    (home / "-src-app" / SESSION).write_text("")
    with pytest.raises(CrustsError, match="folder of one project"):
        find_roots([str(home / "-src-app")], environ(home))


def test_config_dir_without_sessions(home: Path) -> None:
    """A config dir in which nothing ran so far is a root, though its projects folder does not exist."""
    (home / "fresh").mkdir()
    (home / "fresh" / "history.jsonl").write_text("")
    expected = [Root(str(home / "fresh"), str(home / "fresh" / "projects"), explicit=True)]
    assert find_roots([str(home / "fresh")], environ(home)) == expected


@pytest.mark.parametrize("source", ["--path", "CLAUDE_CONFIG_DIR", "path in config.json"])
def test_missing_named_root_is_an_error(home: Path, source: str) -> None:
    """What was named and is not there is an error that names it and where it comes from."""
    make_config_dir(home / ".claude")
    missing = str(home / "gone")
    paths = [missing] if source == "--path" else []
    listed = f"~/.claude,{missing}" if source == "CLAUDE_CONFIG_DIR" else ""
    write_config(str(home / ".claude-crusts"), {"path": ["~/.claude", missing]})
    with pytest.raises(CrustsError) as caught:
        find_roots(paths, environ(home, CLAUDE_CONFIG_DIR=listed, CRUSTS_HOME=str(home / ".claude-crusts")))
    assert missing in str(caught.value)
    assert f"(from {source})" in str(caught.value)
    assert "name a" in str(caught.value)


def test_file_as_root_is_an_error(home: Path) -> None:
    """A file is no root."""
    (home / "file").write_text("")
    with pytest.raises(CrustsError, match="is not a folder"):
        find_roots([str(home / "file")], environ(home))


def test_each_real_folder_comes_once(home: Path) -> None:
    """Links and repetitions of one folder are one root."""
    claude = make_config_dir(home / ".claude")
    (home / "link").symlink_to(claude)
    paths = [str(claude), str(home / "link"), str(claude / "projects"), str(home / "." / ".claude")]
    assert [root.config_dir for root in find_roots(paths, environ(home))] == [str(claude)]


def test_config_dir_for_settings(home: Path) -> None:
    """settings.json lies in the first config dir, which need not exist."""
    assert config_dir(environ(home)) == str(home / ".claude")
    make_config_dir(home / ".config" / "claude")
    assert config_dir(environ(home)) == str(home / ".config" / "claude")
    make_config_dir(home / ".claude")
    assert config_dir(environ(home)) == str(home / ".claude")
    assert config_dir(environ(home, CLAUDE_CONFIG_DIR="~/none,~/.claude")) == str(home / "none")
    assert config_dir(environ(home, CLAUDE_CONFIG_DIR="~/none/projects")) == str(home / "none")


def test_project_slug() -> None:
    """Every character but ASCII letters and digits becomes a hyphen, one for each UTF-16 unit."""
    assert project_slug("/a/b_c.d") == "-a-b-c-d"
    assert project_slug("/caf\u00e9/\U0001f600x") == "-caf----x"
    assert project_slug("/cafe\u0301") == project_slug("/caf\u00e9")
    assert len(project_slug("/" + "a" * 150 + "/" + "b" * 100)) == 200


@pytest.mark.parametrize("module", ["roots", "payloads", "surroundings"])
def test_quick_modules_import_little(module: str) -> None:
    """What runs before each prompt imports none of the slow modules of the standard library."""
    slow = "{'typing', 'pathlib', 'dataclasses', 'inspect', 'ast', 'tempfile', 'sqlite3'}"
    code = f"import sys, crusts_index.claude.{module}; print(sorted({slow} & set(sys.modules)))"
    command = [sys.executable, "-S", "-E", "-c", code]
    package = Path(__file__).parents[1]
    result = subprocess.run(command, capture_output=True, text=True, cwd=package, check=True, env={**os.environ})
    assert result.stdout == "[]\n"
