"""Fixes ranked by what they save, and what writing them does to a project's files."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crusts_index.render.clipboard import osc52
from tests.builders import ClaudeFolder, Outcome, Transcript
from tests.conftest import Demo
from tests.wasteful import LONG, PAGE

CLAUDE_MD = "# Site\n\nRun the tests with make.\n"
SETTINGS = '{\n    "model": "opus",\n    "permissions": {\n        "allow": ["Bash(make:*)"]\n    }\n}\n'
KEPT = "permissions-deny,claudeignore,claudemd-rule"


class Project:
    """A project on disk with a session that read what it should not have."""

    def __init__(self, base: Path) -> None:
        self.folder = ClaudeFolder(base / "home")
        self.path = base / "site"
        self.path.mkdir()
        (self.path / "CLAUDE.md").write_text(CLAUDE_MD)
        (self.path / ".claude").mkdir()
        (self.path / ".claude" / "settings.json").write_text(SETTINGS)
        self.session().write()
        self.backups = base / "home" / ".claude-crusts" / "backups"

    def session(self) -> Transcript:
        t = self.folder.main(project=str(self.path))
        t.prompt("why is the build slow?")
        t.read(f"{self.path}/node_modules/x/index.js", PAGE, context=30_000)
        t.read(f"{self.path}/package-lock.json", PAGE * 2, context=32_000)
        t.response(LONG + "index.js package-lock.json", context=36_000)
        return t

    def run(self, *arguments: str, stdin: str = "", **env: str) -> Outcome:
        """`crusts optimize`, somewhere else than in the project."""
        return self.folder.crusts("optimize", *arguments, stdin=stdin, **env)

    def apply(self, *arguments: str) -> list[dict[str, Any]]:
        """What became of each fix that is written to a file."""
        done = self.run("--apply", "--yes", "--json", "--filter", KEPT, *arguments)
        assert done.out, done.err
        results: list[dict[str, Any]] = json.loads(done.out)["results"]
        return results

    def files(self) -> dict[str, bytes]:
        """Every file of the project."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a session."""
    return Project(tmp_path)


# ---------------------------------------------------------------------- what is proposed


def test_fixes_are_ranked_by_what_they_save(project: Project) -> None:
    """With their targets in the session's project; what saves the same tokens is summed once."""
    found = project.run("--json").json()
    fixes = {fix["kind"]: fix for fix in found["fixes"]}
    assert ["permissions-deny", "claudeignore", "claudemd-rule"] == list(fixes)
    savings = [fix["estimatedSavings"] for fix in found["fixes"]]
    assert savings == sorted(savings, reverse=True)
    assert (savings[0], savings[0], (savings[0] + 1) // 2) == tuple(savings)
    assert savings[0] == found["totalSaveable"] > 3_000
    assert pytest.approx(savings[0] / 2_000, abs=0.01) == found["percentOfContext"]
    assert str(project.path) == found["projectPath"]
    deny = fixes["permissions-deny"]
    assert f"{project.path}/.claude/settings.json" == deny["applyTarget"]
    assert ["Read(**/package-lock.json)", "Read(**/node_modules/**)"] == deny["applyContent"].splitlines()
    assert ["package-lock.json", "node_modules/"] == fixes["claudeignore"]["applyContent"].splitlines()
    assert "do not heed" in fixes["claudeignore"]["description"]


def test_filter_and_minimum(project: Project) -> None:
    """Only the kinds named, only what saves enough; a wish in CLAUDE.md is told whatever it saves."""
    assert ["claudeignore"] == [f["kind"] for f in project.run("--json", "--filter", "claudeignore").json()["fixes"]]
    assert ["claudemd-rule"] == [f["kind"] for f in project.run("--json", "--min-savings", "90000").json()["fixes"]]
    done = project.run("--filter", "nonsense")
    assert 2 == done.code
    assert "no kind of fix is called nonsense" in done.err


def test_what_is_there_already_is_not_proposed(project: Project) -> None:
    """Rules in any settings file that holds, lines in .claudeignore, the heading in CLAUDE.md."""
    user = project.folder.config / "settings.json"
    user.write_text(json.dumps({"permissions": {"deny": ["Read(**/node_modules/**)"]}}))
    (project.path / ".claudeignore").write_text("node_modules/\npackage-lock.json\n")
    (project.path / "CLAUDE.md").write_text("# files to avoid reading\n")
    found = project.run("--json").json()["fixes"]
    assert [("permissions-deny", "Read(**/package-lock.json)")] == [(f["kind"], f["action"]) for f in found]


def test_oversized_instructions_are_measured_as_they_are_now(project: Project) -> None:
    """What is above the threshold, file by file."""
    (project.path / "CLAUDE.md").write_text("Do it well and so. " * 400)
    (fix,) = [f for f in project.run("--json").json()["fixes"] if f["kind"] == "claudemd-oversized"]
    assert (1_900 - 1_500, False) == (fix["estimatedSavings"], fix["autoApplicable"])
    assert f"{project.path}/CLAUDE.md: about 1,900 tokens" in fix["action"]


def test_a_project_that_is_not_here_is_no_target(tmp_path: Path) -> None:
    """Nothing is written anywhere, least of all where the command is run; another folder can be named."""
    folder = ClaudeFolder(tmp_path / "home")
    t = folder.main(project="/nowhere/site")
    t.prompt("look")
    t.read("/nowhere/site/dist/x.js", PAGE, context=30_000)
    t.response(LONG + "x.js", context=32_000)
    t.write()
    here, other = tmp_path / "here", tmp_path / "other"
    here.mkdir()
    other.mkdir()
    done = folder.crusts("optimize", "--apply", "--yes", "--json", cwd=here)
    assert [] == list(here.iterdir())
    assert all(not fix["autoApplicable"] for fix in done.json()["fixes"])
    assert "/nowhere/site is not on this machine" in done.err
    named = folder.crusts("optimize", "--apply", "--yes", "--json", "--project-path", str(other), cwd=here).json()
    assert {"applied"} == {result["status"] for result in named["results"]}
    assert [] == list(here.iterdir())
    assert "dist/" in (other / ".claudeignore").read_text().splitlines()
    missing = folder.crusts("optimize", "--project-path", str(tmp_path / "none"))
    assert (1, "") == (missing.code, missing.out)


def test_without_apply_nothing_is_written(project: Project) -> None:
    """Looking changes nothing."""
    before = project.files()
    assert 0 == project.run().code
    assert before == project.files()
    assert not project.backups.exists()


# ---------------------------------------------------------------------- what is written


def test_apply_adds_and_keeps_everything(project: Project) -> None:
    """The user's text and settings stay as they are, byte by byte, with the addition at their end."""
    results = project.apply()
    assert ["applied"] * 3 == [result["status"] for result in results]
    files = project.files()
    settings = json.loads(files[".claude/settings.json"])
    assert {"model": "opus", "permissions": {"allow": ["Bash(make:*)"], "deny": settings["permissions"]["deny"]}} == (
        settings
    )
    assert ["Read(**/package-lock.json)", "Read(**/node_modules/**)"] == settings["permissions"]["deny"]
    assert files[".claude/settings.json"].startswith(b'{\n    "model": "opus",\n')
    assert files["CLAUDE.md"].startswith(CLAUDE_MD.encode() + b"\n## Files to avoid reading\n\n- package-lock.json\n")
    assert ["package-lock.json", "node_modules/"] == files[".claudeignore"].decode().splitlines()[1:]
    assert [True, False, True] == ["backup" in result for result in results]
    assert {CLAUDE_MD, SETTINGS} == {path.read_text() for path in project.backups.iterdir()}


def test_apply_twice_changes_nothing_more(project: Project) -> None:
    """The second run has nothing left to propose; nothing is backed up again."""
    project.apply()
    before, copies = project.files(), sorted(project.backups.iterdir())
    assert [] == project.apply()
    assert (before, copies) == (project.files(), sorted(project.backups.iterdir()))


def test_line_ends_stay_as_they_are(project: Project) -> None:
    """CRLF files get CRLF lines; a last line without an end gets one; a BOM stays."""
    (project.path / "CLAUDE.md").write_bytes(b"\xef\xbb\xbf# Site\r\n\r\nRun make.")
    (project.path / ".claudeignore").write_bytes(b"*.log")
    project.apply()
    files = project.files()
    assert files["CLAUDE.md"].startswith(b"\xef\xbb\xbf# Site\r\n\r\nRun make.\r\n\r\n## Files to avoid reading\r\n")
    assert b"\n" not in files["CLAUDE.md"].replace(b"\r\n", b"")
    assert files[".claudeignore"].startswith(b"*.log\n\n# what is installed")


def test_a_linked_claude_md_stays_a_link(project: Project, tmp_path: Path) -> None:
    """Where the user says yes to what it points to, that is changed, with its mode kept; --yes alone does not."""
    real = tmp_path / "notes.md"
    real.write_text(CLAUDE_MD)
    real.chmod(0o640)
    (project.path / "CLAUDE.md").unlink()
    (project.path / "CLAUDE.md").symlink_to(real)
    passed_over = project.run("--apply", "--yes", "--filter", "claudemd-rule")
    assert f"a link to {real}" in passed_over.err
    assert CLAUDE_MD == real.read_text()
    project.run("--apply", "--filter", "claudemd-rule", stdin="y\n")
    assert (project.path / "CLAUDE.md").is_symlink()
    assert real.read_text().startswith(CLAUDE_MD + "\n## Files to avoid reading\n")
    assert 0o640 == real.stat().st_mode & 0o777


def test_a_read_only_target_fails_and_the_others_go_on(project: Project) -> None:
    """Exit code 1, the file as it was, the other fixes applied."""
    (project.path / "CLAUDE.md").chmod(0o444)
    done = project.run("--apply", "--yes", "--filter", KEPT)
    assert 1 == done.code
    assert CLAUDE_MD == (project.path / "CLAUDE.md").read_text()
    assert "claudemd-rule failed" in done.err
    assert "read-only" in done.err
    assert 2 == done.err.count(" applied to ")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"{ not json", id="no JSON"),
        pytest.param(b'{"permissions": {"deny": "all"}}', id="a deny that is no list"),
        pytest.param(b'{"permissions": []}', id="permissions that are no object"),
        pytest.param(b'// mine\n{"model": "opus"}', id="comments"),
        pytest.param(b"\xff\xfe{}", id="not UTF-8"),
    ],
)
def test_settings_that_cannot_be_understood_are_left_alone(project: Project, damage: bytes) -> None:
    """The fix fails, the file keeps its bytes."""
    path = project.path / ".claude" / "settings.json"
    path.write_bytes(damage)
    results = {result["target"]: result["status"] for result in project.apply()}
    assert "failed" == results[str(path)]
    assert damage == path.read_bytes()
    assert 2 == list(results.values()).count("applied")


@pytest.mark.parametrize("moment", ["replace", "fsync"])
def test_killed_before_the_rename_nothing_is_lost(project: Project, moment: str) -> None:
    """The file is as it was, its copy is kept, and the next run does the work."""
    before = project.files()
    code = (
        f"import os, sys\nreal = os.{moment}\ncount = 0\n"
        f"def die(*a, **k):\n    global count\n    count += 1\n"
        # The first call in each case is about the copy or about the store, not about the settings file.
        f"    if any('settings.json' in str(x) for x in a) or ({moment!r} == 'fsync' and count > 1):\n"
        f"        os.kill(os.getpid(), 9)\n    return real(*a, **k)\n"
        f"os.{moment} = die\nfrom crusts_index.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    assert 0 == project.folder.crusts("index").code
    arguments = ["optimize", "--no-index", "--apply", "--yes", "--filter", "permissions-deny"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=project.folder.env(),
        cwd=project.folder.home,
        capture_output=True,
        check=False,
    )
    assert -9 == done.returncode, done.stderr
    kept = {name: data for name, data in project.files().items() if not name.endswith(".tmp")}
    assert before == kept
    assert [SETTINGS] == [path.read_text() for path in project.backups.iterdir()]
    assert ["applied"] * 3 == [result["status"] for result in project.apply()]
    assert SETTINGS in [path.read_text() for path in project.backups.iterdir()]


def test_the_newest_ten_copies_are_kept(project: Project) -> None:
    """Of each file, told apart by its full path."""
    for number in range(12):
        (project.path / "CLAUDE.md").write_text(f"# Site {number}\n")
        (project.path / ".claude" / "settings.json").write_text(SETTINGS)  # else there is nothing left to do
        project.apply()
    copies = sorted(path.read_text() for path in project.backups.iterdir() if path.name.startswith("CLAUDE.md."))
    assert sorted(f"# Site {number}\n" for number in range(2, 12)) == copies


def test_backups_can_be_put_elsewhere(project: Project, tmp_path: Path) -> None:
    """CRUSTS_BACKUP_DIR_OVERRIDE names the folder."""
    project.run("--apply", "--yes", "--filter", "claudemd-rule", CRUSTS_BACKUP_DIR_OVERRIDE=str(tmp_path / "kept"))
    assert [CLAUDE_MD] == [path.read_text() for path in (tmp_path / "kept").iterdir()]
    assert not project.backups.exists()


# ---------------------------------------------------------------------- asking


@pytest.mark.parametrize(
    ("answers", "applied"),
    [("y\nn\nyes\n", [0, 2]), ("n\nn\nn\n", []), ("", []), ("Y\n", [0]), ("whatever\n\n y \n", [2])],
)
def test_each_fix_is_asked_for(project: Project, answers: str, applied: list[int]) -> None:
    """Only y and yes are a yes; no answer is a no."""
    done = project.run("--apply", "--filter", KEPT, stdin=answers)
    assert 0 == done.code, done.err
    assert 3 == done.err.count("[y/N]")
    changed = [
        "deny" in (project.path / ".claude" / "settings.json").read_text(),
        (project.path / ".claudeignore").exists(),
        "avoid" in (project.path / "CLAUDE.md").read_text(),
    ]
    assert [place in applied for place in range(3)] == changed


def test_json_cannot_ask(project: Project) -> None:
    """--apply --json needs --yes, so that nothing is written unasked."""
    before = project.files()
    done = project.run("--apply", "--json")
    assert (2, "") == (done.code, done.out)
    assert before == project.files()


# ---------------------------------------------------------------------- the clipboard


def focused(project: Project) -> str:
    """Give the project's session something to compact; the command that does it."""
    t = project.session()
    t.prompt("perfect, thanks")
    t.response("Good.", context=37_000)
    t.write()
    fixes = project.run("--json").json()["fixes"]
    return str(next(fix["action"] for fix in fixes if fix["kind"] == "compact-focus"))


def test_the_command_is_copied_to_the_system_clipboard(project: Project, tmp_path: Path) -> None:
    """By whatever program the system has for it."""
    command = focused(project)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("xclip", "pbcopy"):
        (tools / name).write_text(f"#!/bin/sh\ncat > {tmp_path}/clipboard\n")
        (tools / name).chmod(0o755)
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "DISPLAY": ":0", "WAYLAND_DISPLAY": ""}
    found = project.run("--apply", "--yes", "--json", "--filter", "compact-focus", **env).json()
    assert ["copied"] == [result["status"] for result in found["results"]]
    assert command == (tmp_path / "clipboard").read_text()


def test_over_ssh_the_terminal_is_asked(project: Project) -> None:
    """With the OSC 52 sequence, on the terminal alone."""
    command = focused(project)
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "crusts_index", "optimize", "--apply", "--yes", "--filter", "compact-focus"],
        env=project.folder.env(SSH_CONNECTION="1 2 3 4", TERM="xterm"),
        cwd=project.folder.home,
        stdout=subprocess.PIPE,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    os.close(theirs)
    said = os.read(ours, 65_536).decode()
    os.close(ours)
    assert 0 == done.returncode, said
    assert osc52(command) in said
    assert "\x1b" not in done.stdout.decode()


def test_without_any_clipboard_the_command_is_still_shown(project: Project) -> None:
    """The fix fails, and says where to copy it from; nothing else does."""
    command = focused(project)
    done = project.run("--apply", "--yes", "--filter", "compact-focus", PATH="/nonexistent")
    assert 0 == done.code
    assert f"    {command}" in done.out.splitlines()
    assert "no clipboard here" in done.err


def test_what_is_too_long_for_a_terminal_is_not_sent() -> None:
    """Terminals cut what is longer, and would keep half of it."""
    assert osc52("x" * 60_000) is None
    assert "\x1b]52;c;aMOp\x07" == osc52("hé")


def test_golden(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """What a person reads, at 100 columns, and what a program does."""
    golden("optimize.txt", demo.crusts("optimize", "--no-index", "d3300003", COLUMNS="100").out)
    found = demo.crusts("optimize", "--no-index", "d3300003", "--json").json()
    golden("optimize.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")
