"""Where a bench runs and on what: its corpora, made once, its stores, and what it says of the machine."""

import json
import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench import timing
from tests.bench.corpus import Json, make_corpus
from tests.bench.timing import Took


class Sizes(NamedTuple):
    """How much of everything."""

    megabytes: int = 1000
    large: int = 4000
    many: int = 10_000
    """Transcripts of a store in which nothing is new."""
    some: int = 4_000
    """Transcripts of a store to which lines are appended."""
    appended: int = 150
    """Of these, how many get a line."""
    rounds: int = 5
    """Of a first index; short processes run three times as often."""


FULL = Sizes()
QUICK = Sizes(megabytes=100, large=400, many=1_000, some=400, appended=15, rounds=3)
TINY = Sizes(megabytes=1, large=2, many=20, some=10, appended=2, rounds=1)
"""For the test that the bench itself works; its figures mean nothing."""


class Measure(NamedTuple):
    """One line of the table: a figure beside a reference measured in the same run, and their ratio."""

    name: str
    figure: str
    reference: str = ""
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the target holds; None without one."""
        if self.ratio is None or (self.at_least is None and self.at_most is None):
            return None
        return (self.at_least is None or self.ratio >= self.at_least) and (
            self.at_most is None or self.ratio <= self.at_most
        )


class Bench:
    """A folder with corpora and stores."""

    def __init__(self, folder: Path, sizes: Sizes, *, large: bool = False) -> None:
        self.folder, self.sizes, self.large = folder, sizes, large

    def corpus(self, megabytes: int | None = None, files: int | None = None) -> Path:
        """A config folder with made-up transcripts, made if it is not there yet."""
        folder = self.folder / (f"{files}-transcripts" if files else f"{megabytes}-mb")
        if not (folder / "manifest.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            make_corpus(folder, megabytes, files=files)
        return folder

    def environment(self, corpus: Path, home: str) -> dict[str, str]:
        """What makes crusts read that corpus and keep its store in a home of that name."""
        return {"CRUSTS_HOME": str(self.folder / "homes" / home), "CLAUDE_CONFIG_DIR": str(corpus), "TZ": "UTC"}

    def forget(self, home: str) -> None:
        """Throw a home with its store away."""
        shutil.rmtree(self.folder / "homes" / home, ignore_errors=True)

    def store(self, home: str) -> Path:
        """The store in a home."""
        return self.folder / "homes" / home / "index.db"

    def index(self, corpus: Path, home: str, *args: str) -> Took:
        """Run `crusts index`."""
        return timing.run(timing.program("index", *args), self.environment(corpus, home))

    def first_index(self, corpus: Path, home: str, *args: str) -> Took:
        """Run `crusts index` without a store."""
        self.forget(home)
        return self.index(corpus, home, *args)

    def search(self, corpus: Path, home: str, *args: str) -> Took:
        """Run `crusts search`."""
        return timing.run(timing.program("search", *args), self.environment(corpus, home))


def manifest(corpus: Path) -> Json:
    """What the maker of a corpus says is in it."""
    found: Json = json.loads((corpus / "manifest.json").read_text())
    return found


def transcripts(corpus: Path) -> list[Path]:
    """Its main transcripts, in the order of their paths."""
    return sorted((corpus / "projects").glob("*/*.jsonl"))


def append_line(path: Path) -> int:
    """Append a line like the transcript's last one of a user, under a uuid of its own; gives back its bytes."""
    lines = path.read_bytes().splitlines()
    said = next((line for line in reversed(lines) if b'"type":"user"' in line), lines[-1])
    record = json.loads(said)
    record["uuid"] = f"{os.urandom(4).hex()}-0000-4000-8000-{os.urandom(6).hex()}"
    line = json.dumps(record).encode() + b"\n"
    with path.open("ab") as file:
        file.write(line)
    return len(line)


def machine() -> Iterator[str]:
    """What the figures were measured on."""
    yield f"{platform.system()} {platform.release()}, {os.cpu_count()} cores ({_processor()})"
    yield f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    yield f"load of the last 1, 5 and 15 minutes: {load} (ratios are paired, yet two workers need two free cores)"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()
