"""`crusts completion`: what real shells offer after Tab, and that the scripts say what the commands say."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from crusts_index.cli.app import build
from crusts_index.cli.commands import COMMANDS
from crusts_index.cli.words import read_words
from crusts_index.render.completion import SCRIPTS, Command, Option, bash
from tests.builders import SESSION, ClaudeFolder

OTHER = "5e551001-0000-4000-8000-000000000002"
SHELLS = ("bash", "zsh", "fish", "pwsh")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ClaudeFolder:
    """A home with two sessions in the store, the command on the path, and a script for each shell."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("completion"))
    for session in (SESSION, OTHER):
        t = folder.main(session)
        t.prompt("hello")
        t.clock.now = t.clock.now.replace(hour=10 if session == OTHER else 11)
        t.prompt("more")
        t.write()
    assert 0 == folder.crusts("index").code
    program = folder.home / "bin" / "crusts"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m crusts_index "$@"\n')
    program.chmod(0o755)
    for shell in SHELLS:
        (folder.home / f"crusts.{shell}").write_text(folder.crusts("completion", shell).out)
    (folder.home / "a folder").mkdir()
    return folder


def environment(folder: ClaudeFolder) -> dict[str, str]:
    """Our command comes first on the path."""
    return folder.env(PATH=f"{folder.home / 'bin'}:{os.environ['PATH']}", TERM="dumb", COLUMNS="200")


def run(folder: ClaudeFolder, *words: str) -> str:
    """What a program prints; it must not complain."""
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment(folder), cwd=folder.home, check=False, timeout=60
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout


def in_bash(folder: ClaudeFolder, line: str) -> list[str]:
    """What bash offers for the last word of a line: its words broken up as readline does."""
    words = [word for word in re.split(r"\s+|(=)", line) if word]
    if line.endswith(" "):
        words.append("")
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"source '{folder.home}/crusts.bash'; COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1));"
        " _crusts; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    return [word for word in run(folder, "bash", "--norc", "-c", script).split("\n") if word]


def in_fish(folder: ClaudeFolder, line: str) -> list[str]:
    """What fish offers, descriptions left out."""
    out = run(folder, "fish", "--no-config", "-c", f"source '{folder.home}/crusts.fish'; complete -C '{line}'")
    return sorted(entry.split("\t")[0] for entry in out.splitlines())


needs_fish = pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
CASES = [
    ("crusts usa", ["usage"]),
    ("crusts --json usa", ["usage"]),
    ("crusts --project list usa", ["usage"]),
    ("crusts usage --by m", ["model", "month"]),
    ("crusts usage --json --by=m", ["model", "month"]),
    ("crusts usage --db x --by pro", ["project"]),
    ("crusts usage --unt", ["--until"]),
    ("crusts hooks en", ["enable"]),
    ("crusts completion zs", ["zsh"]),
    ("crusts analyze 5e55", [SESSION, OTHER]),
    ("crusts usage 5e55", []),
    ("crusts search x --session 5e55", [SESSION, OTHER]),
    ("crusts analyze --until ", []),
]


@needs_bash
@pytest.mark.parametrize(("line", "offered"), CASES, ids=[case[0] for case in CASES])
def test_bash(folder: ClaudeFolder, line: str, offered: list[str]) -> None:
    """Commands, subcommands, options, values of options and session ids, wherever the options stand."""
    assert offered == in_bash(folder, line)


@needs_bash
def test_bash_offers_all_commands_and_options(folder: ClaudeFolder) -> None:
    """On nothing all commands, on a dash all options, the common ones included; folders for --path."""
    words = read_words()
    assert [command.name for command in words.commands] == in_bash(folder, "crusts ")
    usage = next(command for command in words.commands if command.name == "usage")
    named = [name for option in usage.options for name in option.names]
    assert {"--by", "--path", "--json", "-v"} <= set(named)
    assert named == in_bash(folder, "crusts usage -")
    assert ["a folder"] == in_bash(folder, "crusts list --path a")


@needs_fish
@pytest.mark.parametrize(("line", "offered"), CASES, ids=[case[0] for case in CASES])
def test_fish(folder: ClaudeFolder, line: str, offered: list[str]) -> None:
    """As in bash. A value behind = comes with its option before it."""
    found = [word.partition("=")[2] or word for word in in_fish(folder, line)]
    assert sorted(offered) == found


def at_terminal(folder: ClaudeFolder, typed: list[str], *shell: str) -> str:
    """Type into a shell at a terminal, piece by piece once it is quiet, and give back all that it showed."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder.home)
        os.execvpe(shell[0], list(shell), environment(folder) | {"TERM": "xterm", "PS1": "> "})
    shown = ""
    for piece in [*typed, "\x03", "exit\n"]:
        os.write(terminal, piece.encode())
        until = time.monotonic() + 20
        quiet = 0
        while quiet < 4 and time.monotonic() < until:
            if select.select([terminal], [], [], 0.25)[0]:
                try:
                    shown += os.read(terminal, 65536).decode("utf-8", "replace")
                    quiet = 0
                except OSError:
                    quiet = 4
            else:
                quiet += 1
    os.close(terminal)
    os.waitpid(child, 0)
    return re.sub(r"[^\n]\x08", "", re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>]|\r", "", shown))


@pytest.mark.long
@needs_bash
def test_bash_at_a_terminal(folder: ClaudeFolder) -> None:
    """Typed by a person: Tab completes the command and then the value of its option."""
    setup = f"source '{folder.home}/crusts.bash'\n"
    shown = at_terminal(folder, [setup, "crusts usa\t--b\tda\t"], "bash", "--norc", "--noprofile", "-i")
    assert "crusts usage --by day" in shown


@needs_zsh
def test_zsh_at_a_terminal(folder: ClaudeFolder) -> None:
    """Commands, option names with their descriptions, values, and session ids."""
    setup = f"autoload -U compinit; compinit -u -D; source '{folder.home}/crusts.zsh'\n"
    typed = [setup, "crusts usa\t", "--b\t", "da\t", "\x15crusts usage --by=mon\t", "\x15crusts hooks en\t"]
    typed += ["\x15crusts analyze 5e55\t\t", "\x15crusts usage --\t"]
    shown = at_terminal(folder, typed, "zsh", "-f", "-i")
    for wanted in ("crusts usage --by day", "--by=month", "hooks enable", SESSION, OTHER, "What a row stands for"):
        assert wanted in " ".join(shown.split()), shown


@pytest.mark.parametrize(
    ("shell", "check"), [("bash", "bash -n"), ("zsh", "zsh -n"), ("fish", "fish --no-execute")], ids=SHELLS[:3]
)
def test_the_scripts_parse(folder: ClaudeFolder, shell: str, check: str) -> None:
    """Each shell takes its script."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    assert "" == run(folder, *check.split(), str(folder.home / f"crusts.{shell}"))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_cannot_drift(folder: ClaudeFolder, shell: str) -> None:
    """Every command and every long option stands in each script; two runs give the same bytes."""
    script = (folder.home / f"crusts.{shell}").read_text()
    assert script == folder.crusts("completion", shell).out
    for name in COMMANDS:
        assert re.search(rf"['\"/ ]{re.escape(name)}['\": ]", script), name
    for option in _all_options(read_words()):
        bare = option[2:] if shell == "fish" else option
        assert bare in script, option
    assert "@" not in script.replace("${COMP", "").replace("$@", "").replace("@(", "").replace("@{", "").replace(
        "[@]", ""
    )


def _all_options(command: Command) -> set[str]:
    found = {name for option in command.options for name in option.names if name.startswith("--")}
    return found.union(*(_all_options(inner) for inner in command.commands))


def test_every_command_there_is_has_its_words() -> None:
    """The words are those of the table's commands, with summaries."""
    words = read_words()
    assert list(COMMANDS) == [command.name for command in words.commands]
    assert all(command.help for command in words.commands)


def test_the_words_are_those_that_typer_takes() -> None:
    """Each command's options and subcommands, in the order of its help, which typer makes."""

    def compare(words: Command, command: Any) -> None:
        context = typer.Context(command)
        options = [param for param in command.get_params(context) if param.param_type_name == "option"]
        assert [param.opts for param in options] == [option.names for option in words.options]
        assert [param.is_flag for param in options] == [not option.takes_value for option in words.options]
        inner = command.list_commands(context) if hasattr(command, "list_commands") else []
        assert inner == [one.name for one in words.commands]
        for one in words.commands:
            compare(one, command.get_command(context, one.name))

    compare(read_words(), build())


def test_ids(folder: ClaudeFolder, tmp_path: Path) -> None:
    """One a line, the last active first; nothing, and no complaint, without a store."""
    assert f"{SESSION}\n{OTHER}\n" == folder.crusts("completion", "ids").out
    empty = ClaudeFolder(tmp_path)
    done = empty.crusts("completion", "ids")
    assert (0, "", "") == (done.code, done.out, done.err)
    (tmp_path / ".claude-crusts").mkdir(exist_ok=True)
    (tmp_path / ".claude-crusts" / "index.db").write_bytes(b"no database" * 999)
    done = empty.crusts("completion", "ids")
    assert (0, "", "") == (done.code, done.out, done.err)


def test_an_unknown_shell_is_wrong_usage(folder: ClaudeFolder) -> None:
    """Exit code 2 and the names of those there are; powershell is pwsh."""
    done = folder.crusts("completion", "tcsh")
    assert (2, True) == (done.code, "bash, zsh, fish or pwsh" in done.err)
    assert folder.crusts("completion", "powershell").out == (folder.home / "crusts.pwsh").read_text()


def test_help_texts_cannot_break_a_script() -> None:
    """Quotes and the like in a help text stay inside their quotes."""
    text = "don't `run` $(this) \"or\" that; it's\\"
    option = Option(["--odd"], text, takes_value=True, choices=["a'b"], wants="choice")
    inner = Command("x", text, [option], [], wants_session=True, commands=[])
    root = Command("crusts", "", [option], [], wants_session=False, commands=[inner])
    done = subprocess.run(
        ["bash", "-c", bash(root) + "\necho fine"], capture_output=True, text=True, check=False, timeout=60
    )
    assert ("fine\n", "") == (done.stdout, done.stderr)
    assert set(SHELLS) == set(SCRIPTS)


def test_every_place_of_a_session_is_completed_by_ids() -> None:
    """Also where it has another name: both of compare, and report --compare."""
    commands = {one.name: one for one in read_words().commands}
    assert commands["compare"].wants_session
    assert ["session"] == [one.takes for one in commands["report"].options if "--compare" in one.names]
