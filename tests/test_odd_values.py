"""Dates, numbers and files that no sane person gives: one clear line, whoever reads them, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import SESSION, ClaudeFolder, Outcome

ODD_TIMES = (
    *("9999999999999999999d", "9" * 5000 + "d", "99999999w", "1e9h", "-5d", "0d", "-0d", "1.5d", "٣d", "²d", "d", ""),
    *("0000-01-01", "0001-01-01", "00010101", "9999-12-31", "99991231", "10000-01-01", "99999999", "2026-02-30"),
    *("2026-13-01", "-2026-01-01", "２０２６-01-01", "0001-01-01T00:00", "0001-01-01T00:00+23:59", "NaN", "inf"),
    *("9999-12-31T23:59:59.999", "9999-12-31T23:59-23:59", "2026-01-01T25:00", "1", str(2**63), str(-(2**63)), "0x10"),
)
ODD_NUMBERS = ("0", "-1", "٣", "²", "1.5", "1e3", "NaN", "inf", "", " ", "9" * 20, str(2**63), str(2**64), "9" * 5000)
TIMED = {
    "--since": ("usage --by day", "readout", "readout --full", "search go", "waste --all", "lost --all", "accuracy"),
    "--until": ("usage", "usage --by file", "usage --by tool", "search go", "waste --all", "lost --all"),
    "--before": ("forget --yes",),
}
COUNTED = {
    "--limit": ("list", "usage", "search go", "trend", "lost", "sql select+1", "hooks auto-inject log"),
    "--last": ("analyze", "models", "timeline", "status", "watch"),
    "--until": ("waste", "analyze", "timeline", "fix"),
    "--days": ("readout",),
    "--from": ("diff --to 2",),
    "--to": ("diff --from 1",),
    "--jobs": ("index",),
    "--interval": ("watch",),
    "--seconds": ("sql select+1",),
    "--timeout": (f"bench compact {SESSION}",),
    "--threshold": ("hooks auto-inject enable",),
    "--min-gap": ("hooks auto-inject enable",),
    "--cold-usd": ("hooks auto-inject enable",),
    "--min-savings": ("optimize",),
}
FAR = ("Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ClaudeFolder:
    """A session with two calls, in the store."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("odd"))
    t = folder.main()
    t.prompt("go on")
    t.read("/home/ada/site/a.py", "x = 1\n", context=21_000)
    t.response("There.", context=22_000)
    t.write()
    assert 0 == folder.crusts("index").code
    return folder


def is_one_clear_line(done: Outcome) -> bool:
    """Answered, or refused as wrong usage in one line of ours."""
    lines = done.err.splitlines()
    is_ours = all(line.startswith("crusts: ") for line in lines) and "a fault of crusts" not in done.err
    return is_ours and (done.code in (0, 1) if done.code != 2 else len(lines) == 1 and not done.out)


@pytest.mark.long
@pytest.mark.parametrize("zone", FAR)
@pytest.mark.parametrize("option", TIMED)
def test_odd_times_are_told_or_taken(small: ClaudeFolder, option: str, zone: str) -> None:
    """Beyond the calendar, negative, zero, other digits, in zones at both ends of the day."""
    for command in TIMED[option]:
        for text in ODD_TIMES if command == TIMED[option][0] or zone == "UTC" else ODD_TIMES[:5]:
            done = small.crusts(*command.split(), f"{option}={text}", "--no-index", TZ=zone)
            assert is_one_clear_line(done), (command, text, done)


@pytest.mark.long
def test_a_project_report_over_odd_times(small: ClaudeFolder) -> None:
    """Dates at both ends of the calendar stand in its head."""
    for zone in FAR:
        for text in ("0001-01-01", "99999d", "9999-12-31"):
            for form in ("md", "html"):
                done = small.crusts("report", "-o", "-", "--format", form, f"--since={text}", TZ=zone)
                assert is_one_clear_line(done), (zone, text, done)


@pytest.mark.long
@pytest.mark.parametrize("option", COUNTED)
def test_odd_numbers_are_told_or_taken(small: ClaudeFolder, option: str) -> None:
    """Wrong usage by name, in the words of no library, before anything is looked at."""
    for command in COUNTED[option]:
        words = [word.replace("+", " ") for word in command.split()]
        for text in ODD_NUMBERS:
            if option == "--timeout" and text in ("0", "1.5", "1e3"):
                continue  # a wait as asked for
            done = small.crusts(*words, f"{option}={text}", "--no-index")
            assert is_one_clear_line(done), (command, text, done)
            assert "Input should" not in done.err
            assert "Value error" not in done.err


def test_a_period_that_ends_before_it_begins_is_wrong_usage(small: ClaudeFolder) -> None:
    """Rather than one in which nothing happened."""
    for command in ("usage", "search go", "waste --all", "lost --all", "report -o -"):
        done = small.crusts(*command.split(), "--since=2026-11-30", "--until=2026-11-29")
        assert (2, "crusts: --since 2026-11-30 is not before --until 2026-11-29\n") == (done.code, done.err)
        assert 2 != small.crusts(*command.split(), "--since=2026-11-30", "--until=2026-11-30").code


def test_help_shows_no_bounds_of_a_library(small: ClaudeFolder) -> None:
    """`[1<=x<=1000000000]` tells nobody anything."""
    for command in ("list", "sql", "readout", "watch", "hooks auto-inject enable", "bench compact", "diff", "index"):
        assert "<=" not in small.crusts(*command.split(), "--help").out


ODD_JSON = ("9" * 5000, "1e999", "-1e999", "NaN", "-1", "1e308", str(2**63), str(2**64), '"٣"', "[[]]", "{}", "true")


@pytest.mark.long
@pytest.mark.parametrize("number", ODD_JSON)
def test_odd_numbers_in_config_and_environment(small: ClaudeFolder, number: str) -> None:
    """What makes no sense gives way to the default."""
    names = ("staleReadThreshold", "resolutionLookback")
    config = (
        f'{{"autocompactBufferTokens": {number}, "contextWindows": {{"opus": {number}}},'
        f' "autoInject": {{"enabled": true, "threshold": {number}, "minGapMs": {number}}},'
        f' "wasteThresholds": {{{", ".join(f"{json.dumps(name)}: {number}" for name in names)}}}}}'
    )
    home = small.home / ".claude-crusts"
    (home / "config.json").write_text(config)
    settings = small.config / "settings.json"
    settings.write_text(f'{{"cleanupPeriodDays": {number}, "env": {{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": {number}}}}}')
    odd = dict.fromkeys(
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "COLUMNS", "LINES"), number
    )
    try:
        for command in (
            "analyze",
            "waste",
            "status",
            "statusline",
            "doctor",
            "hooks status",
            "list",
            "trend",
            "auto-inject",
        ):
            done = small.crusts(*command.split(), **odd)
            assert is_one_clear_line(done), (command, done)
    finally:
        (home / "config.json").unlink()
        settings.unlink()


DEEP = {depth: b'{"hooks":' + b"[" * depth + b"]" * depth + b"}" for depth in (301, 330, 500, 900, 100_000)}
DEEP |= {-depth: b'{"a":' * depth + b"1" + b"}" * depth for depth in (301, 330, 500, 900, 100_000)}
WRITERS = ("hooks enable", "hooks disable", "statusline install", "statusline uninstall", "statusline install --wrap")
READERS = (
    "hooks status",
    "statusline status",
    "doctor",
    "analyze",
    "optimize",
    "index",
    "list",
    "status",
    "statusline",
)


@pytest.mark.long
@pytest.mark.parametrize("depth", DEEP)
def test_settings_nested_deeper_than_any_stack_are_left_alone(tmp_path: Path, depth: int) -> None:
    """Whoever reads them says so in one line or goes on without; whoever would write keeps every byte."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(project=str(tmp_path / "site"))
    t.prompt("go on")
    t.response("There.", context=22_000)
    t.write()
    (tmp_path / "site" / ".claude").mkdir(parents=True)
    files = [folder.config / "settings.json", folder.config / ".claude.json", folder.home / ".claude.json"]
    files += [
        tmp_path / "site" / name for name in (".mcp.json", ".claude/settings.json", ".claude/settings.local.json")
    ]
    for path in files:
        path.write_bytes(DEEP[depth])
    for command in (*WRITERS, "hooks auto-inject enable", "optimize --apply --yes", *READERS):
        done = folder.crusts(*command.split())
        assert is_one_clear_line(done), (command, done)
        if command in WRITERS:
            assert (1, 1) == (done.code, done.err.count("\n")), (command, done)
            assert "settings.json: nested too deeply, so it is left alone" in done.err
    assert [DEEP[depth]] * len(files) == [path.read_bytes() for path in files]


@pytest.mark.long
@pytest.mark.parametrize("depth", DEEP)
def test_our_own_files_nested_too_deeply(tmp_path: Path, depth: int) -> None:
    """config.json is told about and kept beside when it is written to; a log or a note counts as none."""
    folder = ClaudeFolder(tmp_path)
    folder.main().write()
    home = folder.home / ".claude-crusts"
    home.mkdir()
    for name in ("config.json", "statusline.json", "auto-inject.log"):
        (home / name).write_bytes(DEEP[depth])
    for command in (*READERS, "hooks auto-inject log", "auto-inject", "readout", "usage"):
        done = folder.crusts(*command.split())
        assert is_one_clear_line(done), (command, done)
        assert "config.json: nested too deeply" in done.err or command == "auto-inject", (command, done)
    assert DEEP[depth] == (home / "config.json").read_bytes()
    assert 0 == folder.crusts("hooks", "enable").code
    assert DEEP[depth] == (home / "config.json.corrupt").read_bytes()


def test_what_a_stack_can_bear_is_changed_like_any_other_file(tmp_path: Path) -> None:
    """Of the deepest settings that are taken nothing is lost."""
    folder = ClaudeFolder(tmp_path)
    path = folder.config / "settings.json"
    for deep in (b"[" * 299 + b"]" * 299, b'{"a":' * 299 + b"1" + b"}" * 299):
        path.write_bytes(b'{"model":"opus","deep":' + deep + b"}")
        for command in ("hooks enable", "statusline install", "hooks status", "statusline uninstall", "hooks disable"):
            assert 0 == folder.crusts(*command.split()).code
        assert b'{"model":"opus","deep":' + deep + b"}" == path.read_bytes()
