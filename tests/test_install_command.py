"""`crusts install-command`: the slash command is written whole, once, and nothing of the user's is lost."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.builders import ClaudeFolder


def place(folder: ClaudeFolder) -> Path:
    """Where the command is written for the user."""
    return folder.config / "commands" / "crusts.md"


def backups(folder: ClaudeFolder) -> list[Path]:
    """Copies of what stood there."""
    return sorted((folder.home / ".claude-crusts" / "backups").glob("crusts.md.*"))


def test_it_is_written_once(folder: ClaudeFolder) -> None:
    """The second run changes nothing, not even the time of the file; nothing but the file is made beside it."""
    assert "type /crusts" in folder.crusts("install-command").out
    before = place(folder).stat()
    assert "Already there" in folder.crusts("install-command").out
    assert before.st_mtime_ns == place(folder).stat().st_mtime_ns
    assert [] == backups(folder)
    assert ["crusts.md"] == [path.name for path in place(folder).parent.iterdir()]


def test_it_is_a_command_that_claude_code_reads(folder: ClaudeFolder) -> None:
    """Front matter with a description, and leave to run what the text says to run."""
    folder.crusts("install-command")
    text = place(folder).read_text()
    _, head, body = text.split("---\n", 2)
    assert re.search(r"^description: \S", head, re.MULTILINE)
    allowed = set(re.findall(r"Bash\((crusts \w+):\*\)", head))
    assert {"crusts analyze", "crusts waste", "crusts fix"} == allowed
    assert set(re.findall(r"`(crusts (?:analyze|waste|fix))\b", body)) <= allowed


def test_the_commands_that_it_names_exist(folder: ClaudeFolder) -> None:
    """A command that was renamed would leave the text behind."""
    folder.crusts("install-command")
    for name in set(re.findall(r"crusts (\w+) --json", place(folder).read_text())):
        assert 0 == folder.crusts(name, "--help").code


def test_what_stood_there_is_kept(folder: ClaudeFolder) -> None:
    """A command of the user's by that name is copied before it is replaced, and the copy is named."""
    place(folder).parent.mkdir()
    place(folder).write_text("mine\n")
    out = folder.crusts("install-command").out
    (copy,) = backups(folder)
    assert "mine\n" == copy.read_text()
    assert str(copy) in out


def test_into_a_project(folder: ClaudeFolder) -> None:
    """--project writes into the folder where the user stands, and not into the config folder."""
    project = folder.home / "site"
    project.mkdir()
    assert 0 == folder.crusts("install-command", "--project", cwd=project).code
    assert (project / ".claude" / "commands" / "crusts.md").exists()
    assert not place(folder).exists()


def test_into_a_named_folder(folder: ClaudeFolder, tmp_path: Path) -> None:
    """--path names the config folder; one that is not there is an error."""
    other = ClaudeFolder(tmp_path / "other")
    assert 0 == folder.crusts("install-command", "--path", str(other.config)).code
    assert place(other).exists()
    assert 1 == folder.crusts("install-command", "--path", str(tmp_path / "nowhere")).code


def test_a_link_stays_a_link(folder: ClaudeFolder) -> None:
    """Who keeps the file elsewhere keeps it there."""
    real = folder.home / "dotfiles.md"
    real.write_text("mine\n")
    place(folder).parent.mkdir()
    place(folder).symlink_to(real)
    assert 0 == folder.crusts("install-command").code
    assert place(folder).is_symlink()
    assert "/crusts" not in real.read_text()[:3]
    assert "crusts analyze" in real.read_text()


def test_it_can_be_taken_away(folder: ClaudeFolder) -> None:
    """Only ours; a changed one is copied first; removing nothing is no error."""
    folder.crusts("install-command")
    assert "Removed" in folder.crusts("install-command", "--remove").out
    assert not place(folder).exists()
    assert "There is none" in folder.crusts("install-command", "--remove").out
    folder.crusts("install-command")
    place(folder).write_text(place(folder).read_text() + "\nAnd be brief.\n")
    assert {"path", "changed", "backup", "schema_version"} == set(
        folder.crusts("install-command", "--remove", "--json").json()
    )
    assert backups(folder)[-1].read_text().endswith("And be brief.\n")
    place(folder).write_text("mine\n")
    done = folder.crusts("install-command", "--remove")
    assert (1, True) == (done.code, "left alone" in done.err)
    assert place(folder).exists()


def test_a_read_only_file_is_left_alone(folder: ClaudeFolder) -> None:
    """One line says what to do, and the file is as it was."""
    place(folder).parent.mkdir()
    place(folder).write_text("mine\n")
    os.chmod(place(folder), 0o444)
    done = folder.crusts("install-command")
    assert (1, 1) == (done.code, len(done.err.splitlines()))
    assert "read-only" in done.err
    assert "mine\n" == place(folder).read_text()
