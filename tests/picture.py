"""What a store says, free of surrogate ids and of what may differ between histories: for comparing stores.

db = new_store(tmp_path)
index(db, folder.config)
assert picture(db) == picture(other), differences(db, other)
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import crusts_index.index
from crusts_index.index.run import Options, Summary, index_files, index_roots
from crusts_index.store.open import open_store
from crusts_index.store.upgrade import ensure
from tests.builders import ClaudeFolder, Transcript

_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where hundreds of small stores cost no disk; None: where temporary files are."""

Picture = dict[str, list[tuple[Any, ...]]]

# Not facts of the transcripts: surroundings, prices, the history of runs, and what only the reader needs (D4).
APART = frozenset(
    ["alembic_version", "store_facts", "runs", "prices", "models", "weights", "surroundings", "fold_states", "words"]
)
PRIVATE = {
    "transcripts": frozenset(["mtime_ns", "inode", "head_hash", "tail_hash", "meta_mtime_ns", "size"]),
    "api_calls": frozenset(("price_id",)),
    "call_sums": frozenset(("price_id",)),
    "tool_uses": frozenset(("use_key",)),
    "sessions": frozenset(("id",)),
    "projects": frozenset(("id",)),
}
PAST = frozenset(["gone", "superseded", "retained"])
"""Columns that say what happened to the files since; a clean run cannot know it (D4)."""

_PRICES = re.compile("usd|price")
_PAST = re.compile("gone|superseded|retained")
_RECORDS = frozenset(
    [
        "record_id",
        "use_record_id",
        "result_record_id",
        "first_record_id",
        "last_record_id",
        "block_id",
        "prior_read_id",
        "prior_edit_id",
        "first_id",
        "last_id",
    ]
)


@cache
def _blank() -> bytes:
    """A store with nothing in it, made once a test run."""
    with tempfile.TemporaryDirectory(prefix="crusts-blank-") as folder:
        path = Path(folder) / "index.db"
        ensure(path)
        return path.read_bytes()


def new_store(folder: Path, name: str = "index.db") -> Path:
    """A store with nothing in it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for side in ("-wal", "-shm"):
        Path(f"{path}{side}").unlink(missing_ok=True)
    path.touch(0o600)
    path.write_bytes(_blank())
    return path


def index(db: Path, *roots: Path, jobs: int = 1, keep_text: bool = True) -> Summary:
    """Index config folders in this process, as `crusts index` does."""
    options = Options(jobs=jobs, keep_text=keep_text)
    with closing(open_store(db, write=True)) as store:
        return index_roots(store, str(db), [str(root / "projects") for root in roots], options)


def index_named(db: Path, *files: Path) -> Summary:
    """Index the sessions of the named transcripts in this process, as `crusts index --file` does."""
    with closing(open_store(db, write=True)) as store:
        return index_files(store, str(db), [str(file) for file in files], Options(jobs=1))


def read(folder: ClaudeFolder, *transcripts: Transcript) -> Path:
    """Write the transcripts and index their folder into a store beside it."""
    for transcript in transcripts:
        transcript.write()
    db = folder.home / "index.db"
    if not db.exists():
        new_store(folder.home)
    index(db, folder.config)
    return db


def ask(db: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with closing(sqlite3.connect(db)) as store:
        return store.execute(sql, values).fetchall()


def one(db: Path, sql: str, *values: Any) -> Any:
    """The only row of a query; its only value where it has one column."""
    rows = ask(db, sql, *values)
    assert len(rows) == 1, rows
    return rows[0][0] if len(rows[0]) == 1 else rows[0]


def set_prices(db: Path, models: Iterable[str]) -> None:
    """A list price for each model, so that what things cost can be compared too."""
    with closing(sqlite3.connect(db)) as store, store:
        store.executemany(
            "insert into prices (model, input_usd, cache_read_usd, cache_write_5m_usd, cache_write_1h_usd, output_usd,"
            " source) values (?, ?, ?, 6.25, 10, 25, 'test')",
            [(model, 4 + place, 0.1 * (place + 3)) for place, model in enumerate(models)],
        )


def picture(db: Path, base: Path | str = "", *, past: bool = True, views: bool = True, prices: bool = False) -> Picture:
    """All that the store says, table by table and view by view, as sorted rows of `column=value`.

    Paths are told from `base`. Without `past` what a clean run cannot know is left out, without `prices` what comes of
    them.
    """
    with closing(sqlite3.connect(db)) as store:
        names = _Names(store, os.path.realpath(base) if base else "")
        tables = [_shown(row[0]) for row in store.execute("select name from sqlite_master where type = 'table'")]
        shown = {name: _rows(store, name, names, past) for name in tables if _is_fact(name)}
        if views:
            found = [row[0] for row in store.execute("select name from sqlite_master where type = 'view'")]
            left_out = [pattern for pattern, is_kept in ((_PRICES, prices), (_PAST, past)) if not is_kept]
            shown |= {f"view {name}": _view_rows(store, name, names, left_out) for name in found if name not in tables}
        return shown


def differences(one: Picture, other: Picture) -> str:
    """What only one of two pictures holds, a line a row; short."""
    lines = []
    for name in sorted(one.keys() | other.keys()):
        left, right = Counter(one.get(name, [])), Counter(other.get(name, []))
        only_left, only_right = sorted((left - right), key=str), sorted((right - left), key=str)
        for ours, theirs in zip(only_left, only_right, strict=False):
            pairs = [f"{a} | {b}" for a, b in zip(ours, theirs, strict=False) if a != b]
            lines.append(f"{name} {ours[0]}: " + "; ".join(pairs))
        both = min(len(only_left), len(only_right))
        lines += [f"{name} only first: {' '.join(map(str, row))}" for row in only_left[both:]]
        lines += [f"{name} only second: {' '.join(map(str, row))}" for row in only_right[both:]]
    return "\n".join(lines[:40])


def assert_same(one: Picture, other: Picture) -> None:
    """Fail, naming the rows that differ."""
    assert one == other, "\n" + differences(one, other)


def assert_sound(db: Path) -> None:
    """The file is whole, all references hold, and every text is well-formed Unicode."""
    with closing(sqlite3.connect(db)) as store:
        assert [("ok",)] == store.execute("pragma integrity_check").fetchall()
        assert [] == store.execute("pragma foreign_key_check").fetchall()


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one example, gone behind it."""
    with tempfile.TemporaryDirectory(prefix="crusts-", dir=_IN_MEMORY) as name:
        yield Path(name)


@contextmanager
def small_stretches(size: int) -> Iterator[None]:
    """Stretches and transactions of `size` bytes, so that small transcripts have many."""
    before: list[tuple[Any, str, int]] = []
    for info in pkgutil.iter_modules(crusts_index.index.__path__, "crusts_index.index."):
        module = importlib.import_module(info.name)
        for name in ("STRETCH_BYTES", "GROUP_BYTES"):
            if hasattr(module, name):
                before.append((module, name, getattr(module, name)))
                setattr(module, name, size)
    assert {"STRETCH_BYTES", "GROUP_BYTES"} == {name for _, name, _ in before}
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


class _Names:
    """Natural names for surrogate ids."""

    def __init__(self, store: sqlite3.Connection, base: str) -> None:
        self.base = base
        self.transcripts = {row[0]: self.path(row[1]) for row in store.execute("select id, path from transcripts")}
        self.sessions = dict(store.execute("select id, session_id from sessions"))
        self.projects = {row[0]: self.path(row[1]) for row in store.execute("select id, path from projects")}
        self.retained = {
            row[0]: f"retained {self.transcripts.get(row[1])} {row[2:]}"
            for row in store.execute(
                "select id, transcript_id, request_id, message_id, record_session, first_ms, is_advisor, ordinal"
                " from responses where id < 0"
            )
        }
        members: dict[int, list[str]] = {}
        for response, call in store.execute("select id, call_id from responses where call_id is not null"):
            members.setdefault(call, []).append(self.record(response))
        self.calls = {call: " + ".join(sorted(found)) for call, found in members.items()}

    def path(self, value: Any) -> Any:
        if isinstance(value, str) and self.base and self.base in value:
            return value.replace(self.base, "~")
        return value

    def record(self, value: Any) -> Any:
        if value is None:
            return None
        if value < 0:
            return self.retained.get(value, "pasted")
        return f"{self.transcripts.get(value >> 40, f'no transcript {value >> 40}')}@{value & (1 << 40) - 1}"

    def thread(self, value: Any) -> Any:
        if value is None:
            return None
        return f"{self.transcripts.get(value >> 20, f'no transcript {value >> 20}')}#{value & (1 << 20) - 1}"

    def call(self, value: Any) -> Any:
        return None if value is None else self.calls.get(value, f"no response of call {value}")

    def namer(self, table: str, column: str) -> Callable[[Any], Any]:
        if column == "id":
            kinds = {"transcripts": self.transcripts.get, "threads": self.thread, "api_calls": self.call}
            return kinds.get(table, self.record)
        if column == "tool_use_id":
            return self.record if table == "blocks" else _same
        if column == "session_id":
            return self.sessions.get if table in ("transcripts", "context_reports") else _same
        by_name: dict[str, Callable[[Any], Any]] = {
            "transcript_id": self.transcripts.get,
            "thread_id": self.thread,
            "project_id": self.projects.get,
            "response_id": self.record,
            "usage_id": self.record,
            "call_id": self.call,
        }
        return by_name.get(column, self.record if column in _RECORDS else self.path)

    def key(self, column: str) -> Callable[[Any], Any]:
        """How the values of a view's column are named."""
        named: dict[str, Callable[[Any], Any]] = {
            "session_key": self.sessions.get,
            "transcript_key": self.transcripts.get,
            "thread_key": self.thread,
            "call_key": self.call,
            "transcript_id": self.transcripts.get,
            "thread_id": self.thread,
            "response_id": self.record,
            "usage_id": self.record,
            "call_id": self.call,
            "id": self.call,
        }
        return named.get(column, self.record if column.endswith("_key") else self.path)


def _same(value: Any) -> Any:
    return value


def _shown(table: str) -> str:
    """What shows a table's rows as they are meant: of a narrow one its view."""
    return "api_calls" if table == "stored_calls" else table.removeprefix("stored_")


def _is_fact(table: str) -> bool:
    return table not in APART and not table.startswith("sqlite_")


def _rows(store: sqlite3.Connection, table: str, names: _Names, past: bool) -> list[tuple[Any, ...]]:
    columns = [row[1] for row in store.execute(f'pragma table_info("{table}")')]
    left_out = PRIVATE.get(table, frozenset()) | (frozenset() if past else PAST)
    kept = [column for column in columns if column not in left_out]
    namers = [(column, names.namer(table, column)) for column in kept]
    listed = ", ".join(f'"{column}"' for column in kept)
    rows = store.execute(f'select {listed} from "{table}"')
    return _sorted(
        tuple(f"{column}={name(value)!r}" for (column, name), value in zip(namers, row, strict=True)) for row in rows
    )


def _view_rows(
    store: sqlite3.Connection, view: str, names: _Names, left_out: list[re.Pattern[str]]
) -> list[tuple[Any, ...]]:
    """A view's rows, their surrogate keys by what they name."""
    cursor = store.execute(f'select * from "{view}"')
    columns = [column[0] for column in cursor.description]
    shown = [
        (place, column, names.key(column))
        for place, column in enumerate(columns)
        if not any(pattern.search(column) for pattern in left_out)
    ]
    return _sorted(tuple(f"{column}={name(row[place])!r}" for place, column, name in shown) for row in cursor)


def _sorted(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows)
