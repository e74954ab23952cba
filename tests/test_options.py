"""The command line around the commands: common options, times, exit codes, what is loaded when."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crusts_index.cli import app, options, plain
from crusts_index.cli.commands import load
from crusts_index.cli.declared import Group
from crusts_index.errors import NotQuick, WrongUsage
from crusts_index.store.settings import SWITCHES, VALUED, Settings
from crusts_index.store.when import parse_until, parse_when

NOW = 1_800_000_000_000
DAY = 86_400_000


def at(text: str) -> int:
    """UTC milliseconds of an ISO 8601 time in UTC."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def show(given: Settings, since: options.Since = None) -> None:
    """Print the settings that reached a command."""
    start = options.since(since)
    print(f"{given.db} {given.project} {given.json} {given.verbose} {','.join(given.roots)}")
    print(start)


def inner(given: Settings) -> None:
    """Print the settings that reached a command of a group."""
    print(given.db)


group = Group("Holds one.", {"inner": inner})

TABLE = {
    "show": (f"{__name__}:show", "Show them."),
    "group": (f"{__name__}:group", "A group."),
}


@pytest.fixture(autouse=True)
def a_home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the developer's own settings."""
    monkeypatch.setenv("CRUSTS_HOME", str(tmp_path))
    for name in ("CRUSTS_DB", "CLAUDE_CONFIG_DIR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def run(*argv: str) -> int:
    """Run the command line by typer over the table of this file; returns the exit code."""
    return app.run(list(argv), TABLE)


def run_plain(*argv: str) -> int:
    """The same without typer."""
    return plain.run(list(argv), lambda name: load(name, TABLE))


@pytest.mark.parametrize(
    "argv",
    [
        ["--db", "/d", "--project", "p", "--json", "-v", "--path", "/a", "--path", "/b", "show"],
        ["show", "--db", "/d", "--project", "p", "--json", "-v", "--path", "/a", "--path", "/b"],
        [
            "--path",
            "/a",
            "--db=/other",
            "--json",
            "show",
            "--verbose",
            "--path=/b",
            "--db",
            "/d",
            "--project",
            "p",
        ],
    ],
)
def test_common_options_stand_before_and_after_the_name(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Both places add up; where both name one value, the later counts. With typer or without."""
    for way in (run, run_plain):
        assert 0 == way(*argv)
        assert "/d p True True /a,/b" == capsys.readouterr().out.splitlines()[0]


def test_common_options_reach_commands_of_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    """Before the group, after it, and after its command."""
    for argv in (["--db=/d", "group", "inner"], ["group", "--db=/d", "inner"], ["group", "inner", "--db=/d"]):
        assert 0 == run(*argv)
        assert "/d\n" == capsys.readouterr().out
    assert 0 == run_plain("--db=/d", "group", "inner") == run_plain("group", "inner", "--db=/d")
    assert "/d\n/d\n" == capsys.readouterr().out
    with pytest.raises(NotQuick):
        run_plain("group", "--db=/d", "inner")


def test_the_quick_path_knows_the_same_common_options() -> None:
    """What the full command line declares, the quick path's own reading takes, and no more."""
    declared = {
        name for param in app.build({}).params if not param.expose_value for name in param.opts if param.name != "help"
    }
    assert {*VALUED, *SWITCHES} == declared


def test_help_lists_commands_without_importing_them() -> None:
    """The list comes from the table: no command's module is loaded for it."""
    code = (
        "import sys\nfrom crusts_index.cli import app\napp.run(['--help'])\n"
        "print(sorted(m for m in sys.modules if m.startswith('crusts_index.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    known = [f"crusts_index.cli.{name}" for name in ("app", "commands", "declared", "plain")]
    assert str(known) == done.stdout.splitlines()[-1]


def test_help_names_the_commands_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its one line, and no other is found."""
    assert 0 == run("--help")
    shown = capsys.readouterr().out
    assert "show   Show them." in shown
    with pytest.raises(WrongUsage, match="no such command 'later'"):
        run("later")


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """A bare `crusts` says what there is, exit 0."""
    assert 0 == run()
    assert capsys.readouterr().out.startswith("Usage: crusts")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sho", "no such command 'sho': did you mean show?; `crusts --help` tells more"),
        ("show --zzzz", "no such option: --zzzz; `crusts show --help` tells more"),
    ],
)
def test_wrong_usage_is_told_like_any_other_error(words: str, said: str) -> None:
    """A mistyped command with a hint, an option that is not there: one line, nothing of what reads the options."""
    with pytest.raises(WrongUsage) as told:
        run(*words.split())
    assert said == str(told.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30", at("2026-11-30")),
        ("20261130", at("2026-11-30")),
        ("7d", NOW - 7 * DAY),
        ("24h", NOW - DAY),
        ("2w", NOW - 14 * DAY),
        ("2026-11-30T10:00:00Z", at("2026-11-30T10:00:00")),
        ("2026-11-30T10:00:00.250+02:00", at("2026-11-30T08:00:00.250")),
        (" 2026-11-30 10:00 ", at("2026-11-30T10:00:00")),
    ],
)
def test_times_as_people_type_them(text: str, expected: int, utc: None) -> None:
    """Dates, times with and without offset, and spans back from now."""
    assert expected == parse_when(text, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday-ish",
        "2026-13-40",
        "1e400",
        "7",
        "d",
        "-7d",
        "7.5d",
        "2026-13-01",
        "2026-1-1",
        "2026-W01-1",
        "2026-11",
        "11/30/2026",
        "2026-11-30T",
        "2026-11-30T25:00",
        "9" * 40 + "x",
        "２０２６１１３０",
    ],
)
def test_anything_else_is_wrong_usage(text: str) -> None:
    """The message repeats what was given and shows what can be."""
    for parse in (parse_when, parse_until):
        with pytest.raises(WrongUsage, match="2026-11-30"):
            parse(text, NOW)


def test_until_includes_its_day_and_splits_time_without_a_gap(utc: None) -> None:
    """A bare date ends at the next midnight; any other bound is that very moment."""
    assert at("2026-12-01") == parse_until("2026-11-30", NOW) == parse_until("20261130", NOW)
    assert at("2026-11-30T10:00:00") == parse_until("2026-11-30T10:00:00Z", NOW)
    assert parse_until("1d", NOW) == NOW - DAY


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is UTC."""
    yield from _zone(monkeypatch, "UTC0")


@pytest.fixture
def with_summer_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time has a summer time: UTC+1, from the last Sunday of March to that of October UTC+2."""
    yield from _zone(monkeypatch, "CET-1CEST,M3.5.0,M10.5.0/3")


def _zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


def test_today_and_yesterday_are_days_of_the_user(with_summer_time: None) -> None:
    """As dates: from midnight, and as --until to the next one, also on the day after summer time began."""
    now = at("2026-03-30T10:00:00")
    assert at("2026-03-29T22:00:00") == parse_when("today", now) == parse_until("Yesterday", now)
    assert at("2026-03-28T23:00:00") == parse_when("yesterday", now)
    assert at("2026-03-30T22:00:00") == parse_until("today", now)


def test_days_are_as_long_as_they_are_in_the_users_zone(with_summer_time: None) -> None:
    """The day on which summer time begins has 23 hours, the day on which it ends 25."""
    for day, hours in (("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-30", 24)):
        assert hours * 3_600_000 == parse_until(day, NOW) - parse_when(day, NOW)
    assert at("2026-11-29T23:00:00") == parse_when("2026-11-30", NOW)


@pytest.mark.long
def test_bad_values_end_with_exit_code_2(tmp_path: Path) -> None:
    """One line on stderr that names the option, whichever part of the program found out."""
    environ = dict(os.environ, CRUSTS_HOME=str(tmp_path), PYTHONPATH=str(Path(__file__).parent.parent))
    code = (
        "import sys\nfrom crusts_index import __main__\nfrom crusts_index.cli import commands\n"
        "from tests import test_options\ncommands.run.__defaults__ = (test_options.TABLE,)\n"
        "sys.exit(__main__.main(sys.argv[1:]))"
    )
    for argv in (["show", "--since", "soon"], ["show", "--timezone", "Mars"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *argv], env=environ, capture_output=True, text=True, check=False
        )
        assert (2, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
        assert done.stderr.startswith(f"crusts: {argv[1]}: ")
