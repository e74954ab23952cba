"""Settings: which source wins, what is refused, and how config.json is kept."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.store import settings
from crusts_index.store.config import read_config, write_config
from crusts_index.store.settings import resolve_settings, split_flags
from tests.builders import ClaudeFolder


def resolve(*argv: str, **environ: str) -> settings.Settings:
    """Settings from words of a command line and an environment of its own."""
    return resolve_settings(split_flags(list(argv))[0], environ)


def test_flag_before_environment_before_config_before_default(tmp_path: Path) -> None:
    """The store's file is the first that is named, in that order."""
    home = str(tmp_path)
    assert f"{home}/index.db" == resolve(CRUSTS_HOME=home).db
    write_config(home, {"db": "/config.db"})
    assert "/config.db" == resolve(CRUSTS_HOME=home).db
    assert "/env.db" == resolve(CRUSTS_HOME=home, CRUSTS_DB="/env.db").db
    assert "/flag.db" == resolve("--db", "/flag.db", CRUSTS_HOME=home, CRUSTS_DB="/env.db").db


def test_roots_come_from_the_first_source_that_names_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--path replaces CLAUDE_CONFIG_DIR, a comma list; that replaces config.json; else none is named."""
    home = str(tmp_path)
    monkeypatch.setenv("HOME", "/h")
    default = resolve(CRUSTS_HOME=home)
    assert ((), "") == (default.roots, default.roots_from)
    write_config(home, {"path": ["/c"]})
    assert ("/c",) == resolve(CRUSTS_HOME=home).roots
    listed = resolve(CRUSTS_HOME=home, CLAUDE_CONFIG_DIR="/a, /b,,/a")
    assert (("/a", "/b"), "CLAUDE_CONFIG_DIR") == (listed.roots, listed.roots_from)
    assert (
        "/x",
        "/y",
    ) == resolve("--path=/x", "--path", "/y", CRUSTS_HOME=home, CLAUDE_CONFIG_DIR="/a").roots


def test_switches_and_empty_values(tmp_path: Path) -> None:
    """Switches default to off, NO_COLOR counts unless empty, an empty project is none."""
    off = resolve(CRUSTS_HOME=str(tmp_path), NO_COLOR="", CRUSTS_DB="")
    assert (
        False,
        False,
        True,
        False,
        None,
    ) == (off.json, off.verbose, off.refresh, off.no_color, off.project)
    on = resolve("--json", "-v", "--no-index", "--no-color", "--project", "web", CRUSTS_HOME=str(tmp_path))
    assert (True, True, False, True, "web") == (on.json, on.verbose, on.refresh, on.no_color, on.project)
    assert resolve(CRUSTS_HOME=str(tmp_path), NO_COLOR="1").no_color


def test_settings_are_frozen(tmp_path: Path) -> None:
    """Nobody changes them on the way."""
    with pytest.raises(AttributeError):
        resolve(CRUSTS_HOME=str(tmp_path)).db = "/other.db"


def test_other_words_are_left_in_their_order() -> None:
    """Only common options are taken out; after -- nothing is."""
    flags, rest = split_flags(["a", "--days", "3", "--json", "--", "--db", "x"])
    assert flags.json
    assert flags.db is None
    assert ["a", "--days", "3", "--", "--db", "x"] == rest
    with pytest.raises(WrongUsage, match="--db needs a value"):
        split_flags(["--db"])


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../etc/passwd", "/usr/share/zoneinfo/UTC", "zone.tab", "a\0b"])
def test_an_unknown_zone_is_wrong_usage(zone: str, tmp_path: Path) -> None:
    """The C library would take it for UTC without a word."""
    with pytest.raises(WrongUsage, match="unknown zone"):
        resolve("--timezone", zone, CRUSTS_HOME=str(tmp_path))


GOOD = ["UTC", "UTC0", "Asia/Kolkata", ":Asia/Kolkata", "XST-5", "<+0530>-5:30", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST"]
GOOD += ["/usr/share/zoneinfo/UTC", ":/usr/share/zoneinfo/UTC"]
BAD = [
    "Mars/Olympus",
    "Foo",
    "Asia/kolkatta",
    ":XST-5",
    "/etc/passwd",
    "../etc/passwd",
    "UTC+",
    "AB-5",
    "\x1b[31m",
    "é",
]


@pytest.mark.parametrize("zone", GOOD + BAD)
def test_a_bad_tz_is_told_and_is_utc(zone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TZ in any form that the C library reads holds; for all else it would take UTC without a word, so that is said."""
    assert (zone if zone in GOOD else "UTC") == resolve(CRUSTS_HOME=str(tmp_path), TZ=zone).timezone
    told = capsys.readouterr().err
    assert (f"crusts: TZ: unknown zone {zone!r}; using UTC" in told) == (zone in BAD)
    assert told.count("\n") == (zone in BAD)


def test_a_bad_tz_is_told_once_a_run(tmp_path: Path) -> None:
    """Not once a row, nor once a command of a page of them; the days are those of UTC."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(start=datetime(2026, 11, 5, 0, 30, tzinfo=UTC))
    for _ in range(3):
        t.response("y", context=100)
    t.write()
    for command in (["usage", "--by", "day", "--json"], ["overview"]):
        done = folder.crusts(*command, TZ="EST/Mars")
        assert (0, 1) == (done.code, done.err.count("TZ: unknown zone 'EST/Mars'; using UTC"))
        if command[0] == "usage":
            assert ["2026-11-05"] == [row["day"] for row in done.json()["rows"]]


def test_the_zone_is_put_in_place_for_python_and_sqlite(tmp_path: Path) -> None:
    """After loading, local time is the named zone's in Python and in SQL alike."""
    code = (
        "import sqlite3, time\nfrom crusts_index.store.settings import load_settings, split_flags\n"
        "load_settings(split_flags(['--timezone', 'UTC'])[0])\n"
        "sql = \"select datetime(0, 'unixepoch', 'localtime')\"\n"
        "print(time.localtime(0).tm_hour, sqlite3.connect(':memory:').execute(sql).fetchone()[0])"
    )
    environ = dict(os.environ, CRUSTS_HOME=str(tmp_path), TZ="XST-5")
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert "0 1970-01-01 00:00:00\n" == done.stdout


def test_a_bad_zone_in_config_is_told_and_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A slip in the file does not stop a run, and is said once; TZ, in whatever form, comes before the file."""
    write_config(str(tmp_path), {"timezone": "Nowhere"})
    assert resolve(CRUSTS_HOME=str(tmp_path)).timezone is None
    assert "unknown timezone 'Nowhere'" in capsys.readouterr().err
    assert resolve(CRUSTS_HOME=str(tmp_path)).timezone is None
    assert "" == capsys.readouterr().err
    assert "CET-1CEST" == resolve(CRUSTS_HOME=str(tmp_path), TZ="CET-1CEST").timezone


@pytest.mark.parametrize("content", [b"{nope", b"[1]", b"\xff\xfe", b"", b"[" * 100_000])
def test_a_corrupt_config_is_told_and_ignored(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run goes on with the defaults and one line on stderr; what it says of text is not known, so none is kept."""
    (tmp_path / "config.json").write_bytes(content)
    assert {"keepText": False} == read_config(str(tmp_path))
    assert 1 == capsys.readouterr().err.count("\n")


def test_a_config_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Some editors put one there."""
    (tmp_path / "config.json").write_bytes(b'\xef\xbb\xbf{"keepText": false}')
    assert {"keepText": False} == read_config(str(tmp_path))


def test_writing_keeps_what_others_wrote(tmp_path: Path) -> None:
    """Unknown keys stay, in their order, at every depth; None removes a key; the file is private."""
    home = tmp_path / "new" / "home"
    write_config(str(home), {"z": 1, "autoInject": {"threshold": 60, "theirs": [1]}, "old": "x"})
    write_config(str(home), {"autoInject": {"threshold": 70}, "old": None, "é": "ü"})
    text = (home / "config.json").read_text("utf-8")
    assert {"z": 1, "autoInject": {"threshold": 70, "theirs": [1]}, "é": "ü"} == json.loads(text)
    assert ["z", "autoInject", "é"] == list(json.loads(text))
    assert 0o600 == (home / "config.json").stat().st_mode & 0o777
    assert 0o700 == home.stat().st_mode & 0o777
    assert ["config.json"] == [path.name for path in home.iterdir()]


def test_writing_over_a_corrupt_config_keeps_a_copy(tmp_path: Path) -> None:
    """What could not be read is not lost."""
    (tmp_path / "config.json").write_text("{mine")
    write_config(str(tmp_path), {"a": 1})
    assert {"a": 1} == read_config(str(tmp_path))
    assert "{mine" == (tmp_path / "config.json.corrupt").read_text()


def test_a_linked_config_stays_a_link(tmp_path: Path) -> None:
    """Dotfiles kept elsewhere are written where they are."""
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "c.json").write_text('{"a": 1}')
    (tmp_path / "config.json").symlink_to(tmp_path / "dotfiles" / "c.json")
    write_config(str(tmp_path), {"b": 2})
    assert (tmp_path / "config.json").is_symlink()
    assert {"a": 1, "b": 2} == json.loads((tmp_path / "dotfiles" / "c.json").read_text())


def test_a_config_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    """The home is a file: the message names the path."""
    (tmp_path / "home").write_text("")
    with pytest.raises(CrustsError, match=r"cannot write .*config\.json"):
        write_config(str(tmp_path / "home"), {"a": 1})


def test_this_process_keeps_its_own_zone() -> None:
    """Resolving alone changes nothing."""
    before = (os.environ.get("TZ"), time.tzname)
    resolve("--timezone", "UTC", CRUSTS_HOME="/nonexistent")
    assert before == (os.environ.get("TZ"), time.tzname)
