"""The entry point: quick path or full command line, and what each kind of failure looks like from outside."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Demo

ROOT = Path(__file__).parent.parent
Crusts = Callable[..., tuple[int, str, str]]  # arguments -> exit code, stdout, stderr

# A quick module that does what its first argument says.
MODULE = """
import sys
from crusts_index.errors import CrustsError, NotQuick, WrongUsage
def run(argv):
    what = argv[0] if argv else ""
    if what == "refuse": raise CrustsError("no store\\nhere\\x1b[2J")
    if what == "misuse": raise WrongUsage("no such day")
    if what == "break": raise RuntimeError("a slip of ours")
    if what == "decline": raise NotQuick
    if what == "missing": import no_such_module_at_all
    if what == "denied": open("/dev/null/file")
    if what == "interrupt": raise KeyboardInterrupt
    print("quick", *argv, "typer" in sys.modules)
    return 0
"""


@pytest.fixture
def crusts(tmp_path: Path) -> Crusts:
    """Run the entry point with the module above behind `readout` (a report) and `statusline` (a hook)."""
    (tmp_path / "told.py").write_text(MODULE)
    code = (
        "import sys\nfrom crusts_index import __main__\n"
        "__main__.QUICK = {'readout': 'told', 'statusline': 'told', 'index': 'told', 'status': 'gone.away'}\n"
        "sys.exit(__main__.main())"
    )
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(tmp_path)]), CRUSTS_HOME=str(tmp_path))

    def run(*argv: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *argv],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_quick_command_runs_without_typer(crusts: Crusts) -> None:
    """The name comes first and a module is there: nothing slow is imported. A module may decline."""
    assert (0, "quick a b False\n", "") == crusts("readout", "a", "b")
    assert (0, "quick --hook False\n", "") == crusts("index", "--hook")


@pytest.mark.parametrize(
    "argv", [["--timezone", "UTC", "readout"], ["readout", "--help"], ["readout", "decline"], ["status"]]
)
def test_all_else_takes_the_full_command_line(crusts: Crusts, argv: list[str]) -> None:  # type: ignore[no-untyped-def]
    """Options before the name, --help, a module that declines, a module that is not there."""
    code, out, err = crusts(*argv)
    assert "quick" not in out
    assert "Traceback" not in err
    assert code in (0, 2)


def test_each_failure_has_its_code_and_one_line(crusts: Crusts) -> None:
    """Could not: 1. Wrong usage: 2. Interrupted: 130, silent. Control characters do not survive."""
    assert (1, "", "crusts: no store here\n") == crusts("readout", "refuse")
    assert (2, "", "crusts: no such day\n") == crusts("readout", "misuse")
    assert (1, "", "crusts: /dev/null/file: Not a directory\n") == crusts("readout", "denied")
    assert (130, "", "") == crusts("readout", "interrupt")


@pytest.mark.parametrize("what", ["refuse", "misuse", "break", "denied", "missing"])
def test_a_hook_target_never_fails(crusts: Crusts, what: str) -> None:
    """Claude Code runs it: exit 0 and one line on stderr, even for a fault of ours."""
    code, out, err = crusts("statusline", what)
    assert (0, "", 1) == (code, out, err.count("\n"))


def test_a_fault_of_a_report_is_not_hidden(crusts: Crusts) -> None:
    """It is named in one line, with its traceback for whoever asks; a missing dependency is no missing module."""
    code, out, err = crusts("readout", "break")
    assert (1, "", 1) == (code, out, err.count("\n"))
    assert err.startswith("crusts: RuntimeError: a slip of ours (told.py:")
    assert "Traceback" in crusts("readout", "break", "--verbose")[2]
    assert "no_such_module_at_all" in crusts("readout", "missing")[2]


READ_IN_PART = (
    *("", "--help", "--version", "list --help", "overview", "list", "list --json", "usage --by session", "analyze"),
    *("waste --all", "timeline", "lost", "trend --format csv", "sql --schema", "readout", "tui", "watch", "index"),
)


def unread(demo: Demo, line: str) -> tuple[int, bytes]:
    """Exit code and stderr of a command line whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "crusts_index", *line.split()]
    with open(writer, "wb") as out:
        done = subprocess.run(
            command, cwd=ROOT, env=demo.env(), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, check=False
        )
    return done.returncode, done.stderr


@pytest.mark.process
def test_a_reader_who_has_seen_enough_is_no_failure(demo: Demo) -> None:
    """`crusts … | head -1`: exit 0 and nothing on stderr, whatever the command, and whenever the reader went."""
    for line in READ_IN_PART:
        assert (0, b"") == unread(demo, line), line


@pytest.mark.process
def test_a_failure_stays_one_without_a_reader(demo: Demo) -> None:
    """What could not be done, or was asked wrongly, has its exit code and its line on stderr."""
    for line, expected in (("analyze nonesuch", 1), ("list --since never", 2), ("nonesuch", 2)):
        code, err = unread(demo, line)
        assert (expected, 1) == (code, err.count(b"\n")), line


@pytest.mark.process
@pytest.mark.parametrize("line", ["--help", "--version", "list", "list --json", "usage", "sql --schema"])
def test_a_full_disk_behind_stdout_is_one_line(demo: Demo, line: str) -> None:
    """Output that cannot be written is an error, not a success."""
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "crusts_index", *line.split()]
        done = subprocess.run(command, cwd=ROOT, env=demo.env(), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (1, 1) == (done.returncode, done.stderr.count(b"\n"))
    assert b"No space left" in done.stderr
