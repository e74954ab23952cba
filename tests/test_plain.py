"""Plain command lines, read without typer: the same values, the same words where something is wrong, and no typer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crusts_index
from crusts_index import __main__ as entry
from crusts_index.cli import app, commands, plain
from crusts_index.cli.declared import Argument, Command, Group, Option, Parameter, parameters
from crusts_index.errors import CrustsError, NotQuick
from crusts_index.store.settings import COMMON, Flags
from tests.builders import SESSION, ClaudeFolder
from tests.profiles import examples

OTHER = "7e550000-0000-4000-8000-000000000002"
WORDS = ("5e55", "a b", "7d", "2026-11-30", "-", "é", "x=y", "@file", "*", "SELECT")
NUMBERS = ("1", "7", "365", "00042", " 9")
ODD = ("", "--", "---", "-x", "-vv", "--help", "-h", "--hel", "--js", "--json=1", "--db=", "--zzz", "-v=1", "--limit=0")
BAD = ("0", "-1", "1.5", "1e3", "nan", "99999999999999999999", "soon", "TABLE", "Html", "１")


def every(found: dict[str, Any] | None = None, name: str = "") -> Iterator[tuple[str, Command]]:
    """Each command by its full name; a group that is a command by itself is one too."""
    for word, one in ({word: commands.load(word) for word in commands.COMMANDS} if found is None else found).items():
        full = f"{name} {word}".strip()
        if isinstance(one, Group):
            yield from every(dict(one.commands), full)
        else:
            yield full, one


COMMANDS = dict(every())
BY_NAME = pytest.mark.parametrize("name", COMMANDS)


def values_of(one: Parameter) -> st.SearchStrategy[str]:
    """Words that the parameter takes."""
    if one.choices:
        return st.sampled_from(one.choices)
    if isinstance(one.said, Option) and one.said.reads is not None:
        least = [word for word in NUMBERS if _takes(one, word)]
        return st.sampled_from(least or ["200", "5000"])
    return st.sampled_from(WORDS)


def _takes(one: Parameter, word: str) -> bool:
    try:
        one.read(word)
    except CrustsError:
        return False
    return True


def option(names: list[str], value: st.SearchStrategy[str] | None) -> st.SearchStrategy[list[str]]:
    """An option as it may be typed: with its value behind it, or behind a sign of equality."""
    if value is None:
        return st.sampled_from(names).map(lambda name: [name])
    apart = st.tuples(st.sampled_from(names), value).map(list)
    long = [name for name in names if name.startswith("--")]
    return apart | st.tuples(st.sampled_from(long), value).map(lambda pair: ["=".join(pair)])


def options_of(command: Command) -> list[tuple[list[str], st.SearchStrategy[str] | None, bool]]:
    """Its options and the common ones: names, values, and whether it must be there."""
    known = [one for one in parameters(command) if isinstance(one.said, Option)]
    found = [(list(one.said.names), None if one.kind is bool else values_of(one), one.default is ...) for one in known]
    taken = {name for names, _, _ in found for name in names}
    common = [(names.split(), st.sampled_from(WORDS) if value else None, False) for names, value, _ in COMMON]
    return found + [one for one in common if not taken.intersection(one[0])]


@st.composite
def well_formed(draw: st.DrawFn, command: Command) -> list[str]:
    """Words behind the command's name that make sense, in any order."""
    parts: list[list[str]] = []
    for names, value, is_needed in options_of(command):
        if is_needed or draw(st.integers(0, 3)) == 0:
            parts += draw(st.lists(option(names, value), min_size=1, max_size=2))
    parts = draw(st.permutations(parts))
    for one in parameters(command):
        if isinstance(one.said, Argument):
            least, most = int(one.default is ...), 3 if one.is_list else 1
            given_words = draw(st.lists(values_of(one), min_size=least, max_size=most))
            for word in given_words:
                parts.insert(draw(st.integers(0, len(parts))), [word])
            if not given_words:
                break
    return [word for part in parts for word in part]


@st.composite
def any_line(draw: st.DrawFn, command: Command) -> list[str]:
    """Words of which some make sense, and some may not."""
    names = [name for names, _, _ in options_of(command) for name in names]
    odd = st.sampled_from([*names, *(f"{name}=1" for name in names), *(name[:-1] for name in names), *ODD, *BAD])
    words = draw(well_formed(command))
    for word in draw(st.lists(odd | st.sampled_from(WORDS), max_size=3)):
        words.insert(draw(st.integers(0, len(words))), word)
    return words


Read = tuple[dict[str, object], dict[str, object]]


def plainly(name: str, words: list[str]) -> Read:
    """What the plain reading makes of a line: the common options and the command's values."""
    command, flags, values = plain.parse([*name.split(), *words], commands.load)
    assert COMMANDS[name] is command
    return vars(flags), {one.name: one.default for one in parameters(command)} | values


def by_typer(name: str, words: list[str], patch: pytest.MonkeyPatch) -> Read | None:
    """What typer makes of it; None where it runs nothing."""
    seen: list[Read] = []

    def note(command: Command, flags: Flags, values: dict[str, object]) -> int:
        assert COMMANDS[name] is command
        seen.append((vars(flags), values))
        return 0

    with patch.context() as patched:
        patched.setattr(app, "call", note)
        try:
            app.run([*name.split(), *words])
        except CrustsError:
            return None
    return seen[0] if seen else None


@BY_NAME
@given(data=st.data())
@examples(6)
def test_a_plain_line_is_read_as_typer_reads_it(
    name: str, data: st.DataObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line that makes sense is plain, and each parameter and common option has the value that typer gives it."""
    words = data.draw(well_formed(COMMANDS[name]))
    assert by_typer(name, words, monkeypatch) == plainly(name, words)


@BY_NAME
@given(data=st.data())
@examples(12)
def test_what_is_odd_is_left_to_typer(name: str, data: st.DataObject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any words the plain reading makes what typer makes of them, or nothing at all."""
    words = data.draw(any_line(COMMANDS[name]))
    try:
        read = plainly(name, words)
    except NotQuick:
        return
    assert by_typer(name, words, monkeypatch) == read


@BY_NAME
def test_no_odd_word_is_plain(name: str) -> None:
    """Help, abbreviations, joined switches, empty values, `--`: each alone makes a line one for typer."""
    for word in ODD:
        with pytest.raises(NotQuick):
            plainly(name, [word])


@pytest.mark.parametrize(
    "line",
    [
        *("", "--help", "--version", "-v", "usage --by", "usage --by da", "usage --by --json", "usage one", "--json"),
        *("compare a", "compare a b c", "search", "diff --from 1", "diff --from 1 --to -1", "usage -- x", "nonsense"),
        *("hooks", "hooks nonsense", "hooks --json status", "statusline --format x", "bench", "--db", "--db= usage"),
        *("report -o=x", "report -ox", "usage --limit=1e3", "usage --since -7d", "forget -yv", "sql --limit 0"),
    ],
)
def test_lines_that_are_not_plain(line: str) -> None:
    """Missing words, words too many, names that are none, groups by themselves."""
    with pytest.raises(NotQuick):
        plain.parse(line.split(" ") if line else [], commands.load)


def test_a_shell_that_completes_meets_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variable in the environment changes what a line means."""
    monkeypatch.setenv("_CRUSTS_COMPLETE", "complete_bash")
    with pytest.raises(NotQuick):
        plain.parse(["usage"], commands.load)


@pytest.mark.parametrize(
    "line",
    [
        *("usage --by da", "usage --limit 0", "usage --limit", "usage more", "usage --lim 3", "usage --json=1"),
        *("compare a", "search", "diff --from x --to 2", "report --format pdf", "nonsense", "usag", "--db", "bench no"),
        *("usage --since soon", "usage --since 1d --until 2d", "usage --timezone Mars", "waste --since 7d"),
        *("waste --until soon", "lost --until 1d", "lost --all x", "diff --from 2 --to 1", "optimize --filter no"),
        *("trend --output x", "completion tcsh", "forget", "sql --report no", "statusline install --format {no}"),
        *("readout --days 1 --since 1d", "optimize --apply --json", "bench compare a b", "list --path gone"),
    ],
)
def test_what_is_wrong_is_told_in_the_same_words(
    folder: ClaudeFolder, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether typer finds out or a command does, and whether typer was asked first or last."""
    told = folder.crusts(*line.split())
    monkeypatch.setattr(commands, "run", app.run)
    monkeypatch.setattr(entry, "QUICK", {})
    assert told == folder.crusts(*line.split())
    assert (told.code, told.err.count("\n")) in ((1, 1), (2, 1))


REPORTS = (
    *("index", "readout", "usage", "usage --by day --format csv", "usage --json", "list", "list --json", "models"),
    *("analyze", "analyze --json", "waste", "waste --all", "fix", "optimize", "timeline", "diff --from 1 --to 3"),
    *(f"compare {SESSION} {OTHER}", "trend", "trend --by week", "lost", "lost --all", "calibrate --report"),
    *("accuracy", "report --format md", "search slow", "sql select+1", "sql --report usage", "doctor", "verify"),
    *("hooks status", "statusline status", "install-command", "completion ids", "completion bash", "--json usage"),
)


LEAN = (
    "readout --detail /dev/null",
    "usage",
    "list",
    "models",
    "analyze",
    "waste",
    "fix",
    "timeline",
    "trend",
    "lost --all",
    "usage --json",
)
DEAR = {
    *("typer", "rich", "sqlalchemy", "alembic", "tabulate", "msgspec", "genai_prices", "importlib.metadata"),
    *("pathlib", "shutil", "inspect", "dataclasses", "subprocess", "hashlib", "csv", "textwrap"),
}


@pytest.fixture
def told(folder: ClaudeFolder) -> ClaudeFolder:
    """A folder with something to say to each report."""
    for session in (OTHER, SESSION):
        t = folder.main(session)
        t.prompt("why is the build slow?")
        for step in range(3):
            t.read("/home/ada/site/build.py", "import os\n" * 400, context=150_000 + step * 3_000, output=50)
        t.boundary()
        t.response("It walks the tree twice.", context=21_000, output=100)
        t.write()
    return folder


def run_code(folder: ClaudeFolder, code: str) -> str:
    """What a process says on stderr."""
    environ = folder.env(PYTHONPATH=os.pathsep.join(sys.path))
    words = [sys.executable, "-c", code]
    return subprocess.run(words, cwd=folder.home, env=environ, capture_output=True, text=True, check=False).stderr


@pytest.mark.long
@pytest.mark.parametrize("line", LEAN)
def test_a_report_imports_little(told: ClaudeFolder, line: str) -> None:
    """From a store that is up to date it answers without all that takes long to import; three without `typing` too."""
    assert 0 == told.crusts("index").code
    code = f"import sys\nfrom crusts_index import __main__\ncode = __main__.main({line.split()!r})\n"
    dear = DEAR | ({"typing", "re"} if line in ("readout --detail /dev/null", "usage", "list") else set())
    code += f"print(code, *{dear!r} & sys.modules.keys(), file=sys.stderr)"
    assert "0\n" == run_code(told, code)


def test_no_plain_line_imports_typer(told: ClaudeFolder) -> None:
    """Each report, in one process one after the other, ends without typer and what comes with it."""
    code = (
        "import sys\nfrom crusts_index import __main__\n"
        f"for line in {REPORTS!r}:\n"
        "    code = __main__.main([word.replace('+', ' ') for word in line.split()])\n"
        "    there = {'typer', 'click', 'rich'} & set(sys.modules)\n"
        "    print(line, code, *there, file=sys.stderr)\n"
    )
    said = run_code(told, code)
    ends = [line for line in said.splitlines() if line.rpartition(" ")[0] in REPORTS]
    assert [f"{line} 0" for line in REPORTS] == ends, said


@pytest.mark.process
def test_a_report_ends_at_once_and_whole(told: ClaudeFolder) -> None:
    """It does not take the interpreter down, and says all that it has to say first, or that it could not."""
    assert 0 == told.crusts("index").code
    rows = told.crusts("usage", "--by", "session", "--json").json()["rows"]
    assert {SESSION, OTHER} == {row["session"] for row in rows}
    with open("/dev/full", "wb") as full:
        words = [sys.executable, "-m", "crusts_index", "usage"]
        done = subprocess.run(words, env=told.env(), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (1, b"crusts: cannot write the answer: No space left on device\n") == (done.returncode, done.stderr)


def test_one_module_knows_typer() -> None:
    """Commands declare what can be typed in words of our own; only `cli/app` makes typer's of them."""
    package = Path(crusts_index.__file__).parent
    named = re.compile(r"^\s*(?:from|import) typer\b", re.MULTILINE)
    users = [path for path in package.rglob("*.py") if named.search(path.read_text("utf-8"))]
    assert [package / "cli" / "app.py"] == users
