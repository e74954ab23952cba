"""`crusts tui`: every command by its name about the selected session, in a terminal and from a pipe."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crusts_index.cli.commands import COMMANDS
from crusts_index.cli.shell import OWN
from crusts_index.cli.suggest import place_of, suggestions
from crusts_index.cli.words import read_words
from crusts_index.render.completion import Command
from tests.builders import SESSION, ClaudeFolder, Outcome
from tests.terminal import Terminal, terminal

OTHER = "7e551001-0000-4000-8000-000000000002"


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """Two sessions; the one last active, SESSION, is nearly full and has read a file twice."""
    folder = ClaudeFolder(tmp_path)
    for session, minutes in ((OTHER, 90), (SESSION, 30)):
        t = folder.main(session, start=datetime.now(UTC) - timedelta(minutes=minutes))
        t.prompt("why is it slow?")
        for step in range(3):
            t.read("/home/ada/site/build.py", "import os\n" * 900, context=150_000 + step * 3_000, output=50)
        t.response("It walks the tree twice.", context=160_000, output=100)
        t.write()
    assert 0 == folder.crusts("index").code
    return folder


def piped(folder: ClaudeFolder, *lines: str, arguments: tuple[str, ...] = (), **env: str) -> Outcome:
    """The shell with these lines on stdin."""
    return folder.crusts("tui", *arguments, stdin="".join(f"{line}\n" for line in lines), **env)


def test_lines_of_a_pipe_are_commands_about_the_selected_session(folder: ClaudeFolder) -> None:
    """Each line prints what the command itself prints for that session, in the order of the lines."""
    done = piped(folder, "status", "# nothing", "", "select 7e55", "crusts status", "models --json", "quit", "list")
    assert 0 == done.code
    newest, other = (folder.crusts("status", session).out for session in (SESSION, OTHER))
    models = folder.crusts("models", OTHER, "--json").out
    assert newest + other + models == done.out
    assert f"crusts: selected {OTHER}\n" == done.err


def test_an_error_does_not_end_it_and_is_the_exit_code(folder: ClaudeFolder) -> None:
    """Unknown commands, wrong usage, errors and odd quotation; the last one that failed decides."""
    lines = ("nonsense", 'analyze "x', "diff --from 5 --to 999", "select nobody", "status")
    done = piped(folder, *lines)
    assert 1 == done.code
    assert folder.crusts("status", SESSION).out == done.out
    assert "no such command 'nonsense'" in done.err
    assert "no closing quotation" in done.err
    assert "no session begins with 'nobody'" in done.err
    assert "Traceback" not in done.err
    assert 2 == piped(folder, "select nobody", "analyze --nonsense", "status").code
    assert 0 == piped(folder).code


def test_the_session_named_is_selected(folder: ClaudeFolder) -> None:
    """By the start of its id or its place; one that is not there is an error at once."""
    for arguments in (("7e55",), ("--last", "2")):
        assert folder.crusts("status", OTHER).out == piped(folder, "status", arguments=arguments).out
    missing = piped(folder, "status", arguments=("nobody",))
    assert (1, "") == (missing.code, missing.out)


def test_common_options_are_kept_for_each_command(folder: ClaudeFolder, tmp_path: Path) -> None:
    """The store, the format and the rest hold for every line, and a line's own only for that line."""
    db = str(tmp_path / "other.db")
    done = piped(folder, "status", "sql 'select 1 as one'", arguments=("--json", "--db", db))
    assert 0 == done.code, done.err
    status, rows = map(json.loads, done.out.splitlines())
    assert (SESSION, [[1]]) == (status["sessionId"], rows["rows"])
    assert Path(db).exists()
    zones = piped(
        folder,
        "usage --by day --timezone Asia/Tokyo --json",
        "sql \"select datetime(0, 'unixepoch', 'localtime') as t\"",
    )
    assert "1970-01-01 00:00:00" in zones.out


def test_a_session_on_the_line_comes_first(folder: ClaudeFolder) -> None:
    """An id, --last or --all on the line means what it says; `compare` takes the selected one beside another."""
    done = piped(folder, "status 7e55", "status --last 2")
    assert folder.crusts("status", OTHER).out * 2 == done.out
    assert folder.crusts("waste", "--all").out == piped(folder, "waste --all").out
    assert folder.crusts("compare", SESSION, OTHER).out == piped(folder, "compare 7e55").out
    bench = piped(folder, "bench compact --timeout 0 --json")
    assert (2, SESSION) == (bench.code, json.loads(bench.out)["sessionId"])


def test_nothing_is_forgotten_that_was_not_named(folder: ClaudeFolder) -> None:
    """`forget` never takes the selected session by itself."""
    done = piped(folder, "forget", "forget --yes")
    assert 0 != done.code
    assert 2 == len(folder.crusts("list", "--json").json()["sessions"])


def test_a_command_that_reads_stdin_does_not_take_the_lines(folder: ClaudeFolder) -> None:
    """`statusline` and `calibrate` read stdin; the lines behind them are still commands."""
    done = piped(folder, "statusline", "calibrate", "status")
    assert done.out.endswith(folder.crusts("status", SESSION).out)


def test_select_and_help_list_what_there_is(folder: ClaudeFolder) -> None:
    """In a pipe select only lists; help names every command, `help waste` is that of the command."""
    listed = piped(folder, "select").out
    assert ["5e551001*", "7e551001"] == [line.split()[1] for line in listed.splitlines()[2:4]]
    told = piped(folder, "?").out
    assert set(COMMANDS) - {"tui"} | set(OWN) <= {line.split()[0] for line in told.splitlines()[1:]}
    assert "--top" in piped(folder, "help waste").out or "Usage: crusts waste" in piped(folder, "help waste").out
    assert "clipboard" in piped(folder, "help copy").out


@pytest.mark.parametrize("line", ["copy", "copy 0", "copy x", "copy 1 2"])
def test_copy_takes_one_number(folder: ClaudeFolder, line: str) -> None:
    """Anything else is wrong usage."""
    assert 2 == piped(folder, line).code


def test_without_a_session_it_still_starts(tmp_path: Path) -> None:
    """An empty machine: one note, and commands run as they would by themselves."""
    done = piped(ClaudeFolder(tmp_path), "list", "copy 1")
    assert "No sessions yet" in done.out
    assert "no session is selected" in done.err
    assert 1 == done.code


# ---------------------------------------------------------------------- in a terminal


def ready(screen: Terminal, session: str = "5e551001") -> None:
    """Wait for the prompt on the last line."""
    screen.wait_for(lambda shown: shown.rstrip().endswith(f"crusts:{session}>"))


@pytest.mark.long
def test_a_person_selects_runs_and_leaves(folder: ClaudeFolder) -> None:
    """Picker, prompt, Ctrl-C clears the line, Ctrl-D leaves; the history is kept for us alone and comes back."""
    with terminal(folder, "tui") as screen:
        ready(screen)
        screen.type("status", "Enter")
        screen.wait_for("CRUSTS: 80.")
        ready(screen)
        screen.type("nonsense", "C-c")
        ready(screen)
        screen.type("select", "Enter")
        screen.wait_for("number or id:")
        screen.type("2", "Enter")
        ready(screen, "7e551001")
        screen.type("C-d")
        assert 0 == screen.end()
    history = folder.home / ".claude-crusts" / "tui_history"
    assert 0o600 == stat.S_IMODE(history.stat().st_mode)
    assert ["+status", "+select"] == [line for line in history.read_text().splitlines() if line.startswith("+")]
    with terminal(folder, "tui", size=(40, 20)) as screen:
        ready(screen)
        screen.type("Up", "Up")
        screen.wait_for("crusts:5e551001> status")
        screen.type("Enter")
        ready(screen)
        screen.type("q", "Enter")
        assert 0 == screen.end()


@pytest.mark.long
def test_tab_completes_commands_options_and_sessions(folder: ClaudeFolder) -> None:
    """One word left is written out; several are listed with what they are."""
    with terminal(folder, "tui", "--no-color") as screen:
        ready(screen)
        for typed, expected in (
            ("ana", "> analyze"),
            ("models 7", f"> models {OTHER}"),
            ("waste --verb", "> waste --verbose"),
            ("usage --by proj", "> usage --by project"),
            ("help compl", "> help completion"),
        ):
            screen.type(typed, "Tab")
            screen.wait_for(expected)
            screen.type("C-c")
            screen.wait_for(lambda shown: shown.rstrip().endswith("5e551001>"))
        screen.type("hooks ", "Tab")
        screen.wait_for("auto-inject")


@pytest.mark.long
def test_a_command_can_be_interrupted(folder: ClaudeFolder) -> None:
    """Ctrl-C ends what runs, also a live view, and the shell goes on."""
    with terminal(folder, "tui") as screen:
        ready(screen)
        screen.type("watch --interval 200", "Enter")
        screen.wait_for("160,100 of 200,000")
        screen.type("C-c")
        screen.wait_for("Watched 5e551001")
        ready(screen)
        screen.type("bench compact", "Enter")
        screen.wait_for("waiting for /compact")
        screen.type("C-c")
        ready(screen)
        screen.type("status", "Enter")
        screen.wait_for("CRUSTS: 80.")


def test_copy_asks_the_terminal_over_ssh(folder: ClaudeFolder) -> None:
    """Over ssh the terminal's own clipboard takes the block that `fix` prints under the number."""
    command = folder.crusts("fix", SESSION, "--json").json()["actions"][0]["do"]
    with terminal(folder, "tui", SSH_TTY="/dev/pts/0") as screen:
        screen.tmux("set", "-g", "set-clipboard", "on")
        ready(screen)
        screen.type("copy 1", "Enter")
        screen.wait_for("asked the terminal to copy block 1")
        assert command == screen.tmux("show-buffer")


def test_no_history_is_kept_where_no_text_may_be(folder: ClaudeFolder) -> None:
    """keepText: false: what was typed is forgotten with the shell."""
    (folder.home / ".claude-crusts" / "config.json").write_text('{"keepText": false}')
    with terminal(folder, "tui") as screen:
        ready(screen)
        screen.type("# secret", "Enter")
        screen.wait_for(lambda shown: shown.count("5e551001>") == 2)
        screen.type("Up")
        screen.wait_for(lambda shown: shown.count("# secret") == 2)
        screen.type("C-c")
        screen.wait_for(lambda shown: shown.count("5e551001>") == 3)
        screen.type("C-d")
        assert 0 == screen.end()
    assert not (folder.home / ".claude-crusts" / "tui_history").exists()


# ---------------------------------------------------------------------- what can be typed


@pytest.fixture(scope="module")
def root() -> Command:
    """The words of the command line."""
    return read_words()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wat", ["watch"]),
        ("hooks auto-inject en", ["enable"]),
        ("usage --by mo", ["model", "month"]),
        ("usage --by=mo", ["--by=model", "--by=month"]),
        ("analyze 5", [SESSION]),
        ("analyze --last 2 7", [OTHER]),
        ("search x --session 7", [OTHER]),
        ("analyze --last ", []),
        ("analyze --nonsense=", []),
        ("watch --int", ["--interval"]),
        ("watch --no-c", ["--no-color"]),
        ("nonsense x", []),
    ],
)
def test_suggestions_fit_the_place(root: Command, line: str, expected: list[str]) -> None:
    """Commands, subcommands, options, their values and sessions, each where it can stand."""
    words = line.split()
    current = "" if line.endswith(" ") else words.pop()
    assert expected == [one.word for one in suggestions(root, words, current, lambda: [SESSION, OTHER])]


def test_paths_are_left_to_the_terminal(root: Command) -> None:
    """An option that takes a folder or file asks for one."""
    assert [("x", "folder")] == [(one.word, one.kind) for one in suggestions(root, ["list", "--path"], "x", list)]


def test_the_place_of_a_line_is_found(root: Command) -> None:
    """Options take their values with them, and behind `--` nothing is an option."""
    place = place_of(root, ["bench", "compact", "--timeout", "5", "--all", "5e55", "--", "--x"])
    assert (("bench", "compact"), ("5e55", "--x")) == (place.names, place.positionals)
    assert {"--timeout", "--all"} == place.options
    assert place.command.wants_session
    assert place_of(root, ["analyze", "--last"]).waiting is not None
