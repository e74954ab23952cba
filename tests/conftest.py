"""What several tests share: the demo's store, and golden files (`--force-golden` writes them anew)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

from crusts_index.claude.demo import write_demo
from tests.builders import ClaudeFolder, Outcome
from tests.demo_recorder import heavy
from tests.process import always_apart
from tests.profiles import examples

# A test that names no number of examples draws by the same rules as those that do.
settings.register_profile("tests", examples(100))
settings.load_profile("tests")

GOLDEN = Path(__file__).parent / "golden"
DEMO_NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--force-golden` writes what is printed now to the golden files; `--processes` distrusts runs inside."""
    parser.addoption("--force-golden", action="store_true", help="write the golden files anew")
    parser.addoption("--processes", action="store_true", help="run the command as a process of its own every time")


@pytest.fixture(autouse=True)
def _apart(request: pytest.FixtureRequest) -> Iterator[None]:
    """In a test marked `process` each run of the command is a process of its own."""
    if request.node.get_closest_marker("process") or request.config.getoption("--processes"):
        with always_apart():
            yield
    else:
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with tests/golden/<name>."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if request.config.getoption("--force-golden"):
            GOLDEN.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.read_text(encoding="utf-8") == text

    return compare


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A home with an empty config folder; a module that wants another says so itself."""
    return ClaudeFolder(tmp_path)


class IndexedFolder(ClaudeFolder):
    """Indexes to the end before each command: by itself a report gives up after two seconds."""

    def crusts(self, *args: str, stdin: str | bytes = "", cwd: Path | None = None, **env: str) -> Outcome:
        """Run the command, on a store that is up to date."""
        if args[0] != "index":
            done = super().crusts("index", cwd=cwd, **env)
            assert done.code == 0, done.err
        return super().crusts(*args, stdin=stdin, cwd=cwd, **env)


class Demo:
    """The demo's folder and a store of it with prices that never change."""

    def __init__(self, base: Path, now: datetime) -> None:
        self.folder = heavy(base)  # the demo's files name their own folder, so token counts follow it
        write_demo(self.folder, now)
        self._home = ClaudeFolder(base / "home")
        self.db = base / "home" / ".claude-crusts" / "index.db"
        assert self.crusts("index").code == 0
        with closing(sqlite3.connect(self.db)) as store, store:
            store.execute(
                "update prices set input_usd = 4, cache_read_usd = 0.4, cache_write_5m_usd = 5,"
                " cache_write_1h_usd = 8, output_usd = 20, web_search_usd = 10"
            )

    def env(self) -> dict[str, str]:
        """The environment of a run on the demo."""
        return self._home.env(CLAUDE_CONFIG_DIR=str(self.folder))

    def crusts(self, *args: str, stdin: str = "", **env: str) -> Outcome:
        """Run the command on the demo; its folder shows as /demo."""
        done = self._home.crusts(*args, stdin=stdin, CLAUDE_CONFIG_DIR=str(self.folder), **env)
        return Outcome(done.code, done.out.replace(str(self.folder), "/demo"), done.err)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo as of DEMO_NOW."""
    return Demo(tmp_path_factory.mktemp("demo").resolve(), DEMO_NOW)
