"""`crusts doctor`: each check passes, warns and fails where it should, and --fix mends what is safe."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crusts_index.index.pending import look
from crusts_index.index.run import index_roots
from crusts_index.index.summary import Options
from crusts_index.store.open import open_store
from tests.builders import SESSION, ClaudeFolder, Transcript, usage
from tests.picture import new_store

NINE = {
    "crusts version",
    "crusts settings",
    "Claude Code install",
    "Claude Code settings",
    "Session discovery",
    "Hook integration",
    "Status line integration",
    "Calibration data",
    "Trend history",
    "Backup folder",
}
OURS = {
    "Roots",
    "Auto-inject",
    "Store",
    "Permissions",
    "Leftovers",
    "Schema revision",
    "Integrity",
    "Index fresh",
    "Transcripts about to be deleted",
    "Damaged places",
    "Prices",
    "Outputs",
    "Search file",
    "Slash command",
}
CONTEXT = (
    "## Context Usage\n\n**Model:** claude-opus-4-8\n**Tokens:** 20k / 200k (10%)\n\n| System prompt | 3k | 1.5% |\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A home with a config folder and its settings."""
    folder = ClaudeFolder(tmp_path)
    (folder.config / "settings.json").write_text("{}")
    return folder


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A transcript, indexed."""
    t = folder.main()
    t.prompt("go")
    t.response("one", usage=usage(1, output=10))
    t.prompt(f"<local-command-stdout>{CONTEXT}</local-command-stdout>")
    t.write()
    assert 0 == folder.crusts("index").code
    return t


def diagnose(folder: ClaudeFolder, *args: str, **env: str) -> dict[str, Any]:
    """Each check's status and detail, the exit code and what was mended."""
    done = folder.crusts("doctor", "--json", *args, **env)
    said = json.loads(done.out)
    assert (done.code == 1) == (said["overall"] == "fail")
    found = {check["name"]: (check["status"], check["detail"]) for check in said["checks"]}
    return {"code": done.code, "overall": said["overall"], "fixed": said["fixed"], **found}


def home(folder: ClaudeFolder) -> Path:
    """Our folder."""
    return folder.home / ".claude-crusts"


def change(folder: ClaudeFolder, sql: str) -> None:
    """Write to the store behind its back."""
    with closing(sqlite3.connect(home(folder) / "index.db")) as store:
        store.execute(sql)
        store.commit()


def test_everything_in_order(folder: ClaudeFolder, t: Transcript) -> None:
    """All checks are there and pass; looking makes no file."""
    before = sorted(path.name for path in home(folder).iterdir() if not path.name.endswith(("-wal", "-shm")))
    found = diagnose(folder)
    assert NINE | OURS == set(found) - {"code", "overall", "fixed"}
    assert {"pass"} == {found[name][0] for name in NINE | OURS}, found
    assert (0, "pass", []) == (found["code"], found["overall"], found["fixed"])
    after = sorted(path.name for path in home(folder).iterdir() if not path.name.endswith(("-wal", "-shm")))
    assert before == after


def test_the_text_form(folder: ClaudeFolder, t: Transcript) -> None:
    """One line a check and one for all; the same exit code as with --json."""
    done = folder.crusts("doctor")
    assert (0, 25) == (done.code, len(done.out.splitlines()))
    assert "24 in order, 0 to look at, 0 failed: pass" in done.out
    (home(folder) / "index.db").write_bytes(b"no database" * 1000)
    done = folder.crusts("doctor")
    assert 1 == done.code
    assert done.out.splitlines()[-1].endswith(": fail")


def test_a_new_user_is_told_what_to_do(folder: ClaudeFolder) -> None:
    """Nothing indexed, nothing installed: warnings, no failure."""
    (folder.config / "settings.json").unlink()
    found = diagnose(folder)
    assert (0, "warn") == (found["code"], found["overall"])
    for name in ("Claude Code settings", "Hook integration", "Status line integration", "Session discovery", "Store"):
        assert "warn" == found[name][0], name
    assert not home(folder).exists()


def test_no_claude_code_is_a_failure(folder: ClaudeFolder) -> None:
    """The config folder is not there."""
    found = diagnose(folder, CLAUDE_CONFIG_DIR=str(folder.home / "nowhere"))
    assert ("fail", "fail", "fail") == (found["overall"], found["Claude Code install"][0], found["Roots"][0])


def test_settings_that_are_no_json_are_a_failure(folder: ClaudeFolder, t: Transcript) -> None:
    """A BOM is none; what cannot be parsed is, with its place; the other checks go on."""
    (folder.config / "settings.json").write_text("\ufeff{}")
    assert "pass" == diagnose(folder)["Claude Code settings"][0]
    (folder.config / "settings.json").write_text('{"a": }')
    found = diagnose(folder)
    assert ("fail", True) == (found["Claude Code settings"][0], "line 1" in found["Claude Code settings"][1])
    assert "pass" == found["Integrity"][0]


def test_hooks_and_status_line_that_were_dropped(folder: ClaudeFolder, t: Transcript) -> None:
    """Installed passes; gone from the settings since, or another's status line, warns."""
    assert 0 == folder.crusts("hooks", "enable").code
    assert 0 == folder.crusts("statusline", "install").code
    found = diagnose(folder)
    assert ("pass", "pass") == (found["Hook integration"][0], found["Status line integration"][0])
    (folder.config / "settings.json").write_text("{}")
    found = diagnose(folder)
    assert ("warn", "warn") == (found["Hook integration"][0], found["Status line integration"][0])
    (folder.config / "settings.json").write_text('{"statusLine": {"type": "command", "command": "other"}}')
    assert "warn" == diagnose(folder)["Status line integration"][0]


def test_what_is_not_indexed(folder: ClaudeFolder, t: Transcript) -> None:
    """New bytes warn until they are read; --fix reads them."""
    t.prompt("more")
    t.append()
    assert ("warn", True) == _begins(diagnose(folder)["Index fresh"], "1 transcripts are not read to their end")
    found = diagnose(folder, "--fix")
    assert "pass" == found["Index fresh"][0]
    assert any(line.startswith("Read 1 transcript (") for line in found["fixed"])


def test_transcripts_about_to_be_deleted(folder: ClaudeFolder, t: Transcript) -> None:
    """Not read, and within a week of the day on which Claude Code deletes them; that day is in the settings."""
    old = folder.main(SESSION.replace("0001", "0002"))
    old.prompt("old")
    path = old.write()
    os.utime(path, (time.time() - 25 * 86_400,) * 2)
    name = "Transcripts about to be deleted"
    assert ("warn", True) == _begins(diagnose(folder)[name], "1 are deleted within 7 days")
    (folder.config / "settings.json").write_text('{"cleanupPeriodDays": 365}')
    assert "pass" == diagnose(folder)[name][0]
    (folder.config / "settings.json").write_text("{}")
    assert "pass" == diagnose(folder, "--fix")[name][0]


def test_permissions(folder: ClaudeFolder, t: Transcript) -> None:
    """Others can read the store or its folder: warns, and --fix takes it from them."""
    home(folder).chmod(0o755)
    (home(folder) / "index.db").chmod(0o644)
    found = diagnose(folder)
    assert "warn" == found["Permissions"][0]
    assert "pass" == diagnose(folder, "--fix")["Permissions"][0]
    assert (0o700, 0o600) == tuple(
        stat.S_IMODE(path.stat().st_mode) for path in (home(folder), home(folder) / "index.db")
    )


def test_a_damaged_store_is_a_failure(folder: ClaudeFolder, t: Transcript) -> None:
    """Pages that are no pages, and a file that is no store, are told; --fix does no harm to them."""
    db = home(folder) / "index.db"
    with closing(sqlite3.connect(db)) as store:
        store.execute("pragma wal_checkpoint(truncate)")
        pages = store.execute("select rootpage from sqlite_master where name = 'records_by_uuid'").fetchall()
        (size,) = store.execute("pragma page_size").fetchone()
    with db.open("r+b") as file:
        file.seek((pages[0][0] - 1) * size)
        file.write(b"\xff" * size)
    found = diagnose(folder)
    assert ("fail", "fail") == (found["overall"], found["Integrity"][0])
    db.write_bytes(b"no database" * 1000)
    found = diagnose(folder, "--fix")
    assert ("fail", "fail") == (found["overall"], found["Schema revision"][0])
    assert b"no database" * 1000 == db.read_bytes()


def test_a_store_of_another_revision(folder: ClaudeFolder, t: Transcript) -> None:
    """A newer one fails and is left alone."""
    change(folder, "update alembic_version set version_num = '9999'")
    found = diagnose(folder, "--fix")
    assert ("fail", True) == (found["Schema revision"][0], "newer crusts" in found["Schema revision"][1])


def test_views_are_laid_anew(folder: ClaudeFolder, t: Transcript) -> None:
    """A view that is not what its file says: --fix lays them."""
    change(folder, "drop view messages")
    change(folder, "update store_facts set value = 'old' where name = 'views'")
    assert ["Brought the store up to this crusts."] == diagnose(folder, "--fix")["fixed"]
    with closing(sqlite3.connect(home(folder) / "index.db")) as store:
        assert 0 < store.execute("select count(*) from messages").fetchone()[0]


def test_damage_and_missing_prices_warn(folder: ClaudeFolder, t: Transcript) -> None:
    """Damaged lines and models without a price are counted, and there is a way to see which."""
    t.raw(b'{"type":"user","mess\n')
    t.response("x", usage=usage(1, output=1), model="some-unknown-model-9")
    t.append()
    assert 0 == folder.crusts("index").code
    found = diagnose(folder)
    assert ("warn", True) == _begins(found["Damaged places"], "1 damaged or odd places in 1 transcripts")
    assert ("warn", True) == (found["Prices"][0], "some-unknown-model-9" in found["Prices"][1])
    assert 0 == found["code"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_backup_folder_that_cannot_be_written(folder: ClaudeFolder, t: Transcript) -> None:
    """Copies could not be kept: a failure."""
    backups = home(folder) / "backups"
    backups.mkdir(mode=0o500)
    assert "fail" == diagnose(folder)["Backup folder"][0]


def test_a_backup_folder_that_is_a_file(folder: ClaudeFolder, t: Transcript) -> None:
    """Copies could not be kept: a failure."""
    (home(folder) / "backups").write_text("")
    assert "fail" == diagnose(folder)["Backup folder"][0]


def test_looking_sees_what_a_run_would_read(folder: ClaudeFolder, tmp_path: Path) -> None:
    """New, grown, shrunk and forgotten transcripts, by the same rules as a run's."""
    t = folder.main()
    t.prompt("one")
    path = t.write()
    db, roots = new_store(tmp_path), [str(folder.projects)]
    with closing(open_store(db, write=True)) as store:
        assert (1, [path.stat().st_size]) == _unread(store, roots)
        index_roots(store, str(db), roots, Options(jobs=1))
        assert (1, []) == _unread(store, roots)
        t.prompt("two")
        t.append()
        assert (1, [len(t.pieces[1])]) == _unread(store, roots)
        path.write_bytes(t.pieces[0][:-10])
        assert (1, [len(t.pieces[0]) - 10]) == _unread(store, roots)
        store.execute("insert into forgotten values (?, 0)", (SESSION,))
        assert (0, []) == _unread(store, roots)


def _unread(store: sqlite3.Connection, roots: list[str]) -> tuple[int, list[int]]:
    found = look(store, roots)
    return found.files, [one.unread_bytes for one in found.pending]


def _begins(check: tuple[str, str], words: str) -> tuple[str, bool]:
    return check[0], check[1].startswith(words)


def test_a_broken_config_has_a_line(tmp_path: Path) -> None:
    """A config.json that is no JSON fails a check that names it; without one the check passes."""
    folder = ClaudeFolder(tmp_path)
    home = folder.home / ".claude-crusts"
    verdicts = []
    for text in (None, "{"):
        if text is not None:
            home.mkdir(exist_ok=True)
            (home / "config.json").write_text(text)
        out = folder.crusts("doctor", NO_COLOR="1").out
        verdicts.append(next(" ".join(line.split()) for line in out.splitlines() if "crusts settings" in line))
    assert ["defaults hold" in verdicts[0], "cannot be used" in verdicts[1]] == [True, True]
