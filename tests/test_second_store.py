"""A store of revision 0001 becomes one of 0002: nothing that it says is lost, whatever happens on the way (D4)."""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crusts_index.errors import NotQuick
from crusts_index.index.extent import SUMS
from crusts_index.index.plan import PARSER
from crusts_index.index.sums import settle_all_sums
from crusts_index.resources import resource_path
from crusts_index.store.laid import watched
from crusts_index.store.open import HEAD, open_store, transaction
from crusts_index.store.upgrade import ensure, revision
from crusts_index.transcript import words
from tests import stores
from tests.builders import ClaudeFolder
from tests.picture import ask, assert_sound, one
from tests.stores.lived import CODE, LONG, change, lay
from tests.terminal import PATIENCE
from tests.test_faults import small_disk

LIVED = stores.FOLDER / "0001-lived.db"
NO_TEXT = stores.FOLDER / "0001-no-text.db"
KILLS = 30
ENSURE = "import sys; from crusts_index.store.upgrade import ensure; ensure(sys.argv[1])"

ANEW = {
    "alembic_version": {"version_num"},
    "store_facts": {"name", "value"},
    "records": {"parent_uuid"},
    "texts": {"text"},
    "messages": {"preview"},
    "tool_uses": {"input_hash", "result_hash"},
}
"""Columns that are told otherwise now; each has a test of its own."""

Rows = list[tuple[Any, ...]]


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A store of 0001 to be upgraded."""
    return Path(shutil.copy(LIVED, tmp_path / "index.db"))


@pytest.fixture(scope="module")
def migration() -> ModuleType:
    """The script that does it."""
    path = resource_path("migrations", "versions", "0002_second_store.py")
    spec = importlib.util.spec_from_file_location("second_store", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def columns(db: Path, name: str) -> list[str]:
    """Those of a table or view."""
    return [row[0] for row in ask(db, "select name from pragma_table_info(?)", name)]


def shown(db: Path, name: str, names: list[str]) -> list[str]:
    """Columns of all rows, in no order of their own."""
    rows = ask(db, f'select {", ".join(f"{quoted}" for quoted in map(_quoted, names))} from "{name}"')
    return sorted(repr([round(value, 9) if isinstance(value, float) else value for value in row]) for row in rows)


def _quoted(name: str) -> str:
    return f'"{name}"'


def names_in(db: Path) -> set[str]:
    """Tables and views."""
    return {row[0] for row in ask(db, "select name from sqlite_master where type in ('table', 'view')")}


def run(code: str, *args: object, **options: Any) -> subprocess.Popen[bytes]:
    """A process that runs the code."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stderr=subprocess.PIPE, **options)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """How it ended, and what it said on stderr."""
    _, err = process.communicate(timeout=10 * PATIENCE)
    return process.returncode, err


# ---------------------------------------------------------------- nothing is lost


@pytest.mark.parametrize("old", [LIVED, NO_TEXT], ids=["lived", "no text"])
def test_tables_and_views_say_what_they_said(old: Path, tmp_path: Path) -> None:
    """Every column of every table and view of 0001 that is there by that name has the values that it had."""
    path = Path(shutil.copy(old, tmp_path / "index.db"))
    ensure(path)
    assert (HEAD, "0001") == (revision(path), one(tmp_path / "index.db.0001.bak", "select * from alembic_version"))
    assert_sound(path)
    before = names_in(old)
    assert before <= names_in(path)
    for name in sorted(before):
        kept = [column for column in columns(old, name) if column not in ANEW.get(name, ())]
        kept = [column for column in kept if (name, column) != ("removals", "tool_use_id")]
        assert set(kept) <= set(columns(path, name)), name
        if not kept:
            continue
        assert (name, shown(old, name, kept)) == (name, shown(path, name, kept))


def test_the_store_is_laid_as_a_new_one(lived: Path, tmp_path: Path) -> None:
    """Tables and indexes are those of a store that was never of 0001, and few pages of it lie idle."""
    ensure(lived)
    ensure(tmp_path / "new.db")
    made = "select name, sql from sqlite_master where type in ('table', 'index') order by name"
    new, old = ([(name, (sql or "").split()) for name, sql in ask(db, made)] for db in (tmp_path / "new.db", lived))
    assert new == old
    assert one(lived, "pragma freelist_count") < one(lived, "pragma page_count") / 5


def test_sums_are_there_at_once(lived: Path) -> None:
    """Reports find them as an index run would have left them."""
    ensure(lived)
    made = {name: ask(lived, f"select * from {name} order by 1, 2, 3") for name in SUMS}
    assert made["stored_call_sums"]
    assert made["stored_curves"]
    with closing(open_store(lived, write=True)) as store, transaction(store):
        settle_all_sums(store)
    assert made == {name: ask(lived, f"select * from {name} order by 1, 2, 3") for name in SUMS}
    total = "select sum({}), sum(output_tokens), sum(retained) from {}"
    assert ask(lived, total.format("1", "api_calls")) == ask(lived, total.format("calls", "call_sums"))


def test_texts(lived: Path) -> None:
    """Prompts, answers and summaries are whole; of all else 80 characters are left, as the reader keeps now."""
    before = dict(ask(lived, "select * from texts"))
    ensure(lived)
    after = dict(ask(lived, "select * from texts"))
    whole = {
        row[0]
        for row in ask(
            lived,
            "select b.id from blocks b join records r on r.id = b.record_id"
            " where b.kind in ('text', 'attachment') and (r.is_prompt or r.is_summary or r.type = 'assistant')",
        )
    }
    assert {id: text if id in whole else text[:80] for id, text in before.items()} == after
    assert {len(LONG.strip()), len("short")} <= {len(text.strip()) for text in after.values()}
    assert any(len(before[id]) > 80 for id in before.keys() - whole)
    assert one(lived, "select count(*) from texts where text like 'def walk%' and length(text) = 80") > 0


def test_parents_are_kept_where_they_are_asked_for(lived: Path) -> None:
    """Of what can open a branch, of last prompts, and where no record of that uuid stands before it."""
    before = ask(
        lived,
        "select id, case when opens or type = 'last-prompt' or not exists (select 1 from records p"
        " where p.transcript_id = r.transcript_id and p.uuid = r.parent_uuid and p.id < r.id) then parent_uuid end"
        " from records r order by id",
    )
    ensure(lived)
    assert before == ask(lived, "select id, parent_uuid from records order by id")
    assert 10 < sum(parent is not None for _, parent in before) < len(before)


def test_equal_hashes_stay_equal(lived: Path) -> None:
    """The same input and the same result are told by 48 bits of the old 64."""
    same = (
        "select a.id, b.id from tool_uses a join tool_uses b on a.{0}_hash = b.{0}_hash and a.id < b.id order by 1, 2"
    )
    before = [ask(lived, same.format(what)) for what in ("input", "result")]
    ensure(lived)
    assert before == [ask(lived, same.format(what)) for what in ("input", "result")]
    assert all(before)
    assert one(lived, "select max(input_hash) < 1 << 48 and min(input_hash) >= 0 from tool_uses")


def test_ids_go_without_their_prefix(lived: Path) -> None:
    """One that has another, or begins with `=`, stands behind `=`; what is taken out is named by the same key."""
    ensure(lived)
    keys = {row[0] for row in ask(lived, "select use_key from stored_tool_uses")}
    assert {"=odd", "nowhere"} <= {key.removeprefix("=") if key == "==odd" else key for key in keys}
    assert ("==req_1", "=42") in ask(lived, "select request_id, message_id from stored_responses")
    assert one(lived, "select use_key from removals") in keys


def test_retained_calls_and_gone_sessions_stay(lived: Path) -> None:
    """What has no bytes any more has its place, its usage and its last record as before."""
    sql = "select id, last_record_id, call_id, transcript_id, input_tokens from responses where id < 0 order by id"
    before = ask(lived, sql)
    gone = "select count(*) from records r join transcripts t on t.id = r.transcript_id where t.gone"
    rows = one(lived, gone)
    ensure(lived)
    assert before == ask(lived, sql)
    assert rows == one(lived, gone)
    assert len(before) > 5
    assert rows > 10


def test_placeholders_and_answers_cut_off_are_told(lived: Path) -> None:
    """A response is flagged whose blocks kept their estimates, though it logged an output."""
    inexact = "select distinct r.response_id from blocks b join records r on r.id = b.record_id where not b.is_exact"
    before = {
        row[0] for row in ask(lived, f"{inexact} and r.response_id in (select id from responses where has_usage)")
    }
    ensure(lived)
    assert before == {row[0] for row in ask(lived, "select id from responses where is_placeholder")}
    assert 1 == one(lived, "select count(*) from responses where is_aborted")
    assert before


def test_blocks_get_their_measure_roughly(lived: Path) -> None:
    """Soft and marks are made of the characters; that they are rough is shown until the new parser has read them."""
    ensure(lived)
    rows = ask(lived, "select kind, chars, soft, marks, extra, is_rough from blocks")
    assert {1} == {row[5] for row in rows}
    assert all(0.8 * chars - 1 < soft < chars and 0 < marks < soft for _, chars, soft, marks, *_ in rows if chars > 80)
    assert [(0, 0, 1_500)] == [row[2:5] for row in rows if row[0] == "image"]
    assert {1} == {row[0] for row in ask(lived, "select is_rough from messages")}


def test_words_are_those_of_the_reader(migration: ModuleType) -> None:
    """The script has its own list and hash, since a released one never changes: they give what the reader gives.

    Who adds a word to those that are usual must give the rows that have it its new number by a script.
    """
    assert words.USUAL == migration.USUAL
    made = migration.Words()
    for word in (*words.USUAL, "", "mcp__github__search", "\U0001f9ea", "claude-opus-9"):
        assert words.word_id(word) == made.id(word)
    assert made.id(None) is None


def test_modes_are_those_of_the_view(lived: Path, migration: ModuleType) -> None:
    """Speed, geo and tier make the words by which a call is priced, as the view makes them."""
    ensure(lived)
    said = (None, "standard", "fast", "global", "us", "default", "batch", "", " a  b ")
    with closing(sqlite3.connect(lived)) as store:
        store.execute(
            "delete from stored_calls where id <> (select min(id) from stored_calls where response_id is null)"
        )
        (call,) = store.execute("select id from stored_calls").fetchone()
        for mode in [(a, b, c) for a in said for b in said for c in said]:
            made = [migration.Words().id(word) for word in mode]
            pairs = [(id, word) for id, word in zip(made, mode, strict=True) if word is not None]
            store.executemany("insert or ignore into words (id, word) values (?, ?)", pairs)
            store.execute(
                "update stored_responses set speed = ?, geo = ?, service_tier = ? where id = ?", (*made, call)
            )
            assert store.execute("select speed from api_calls").fetchall() == [(migration._mode(*mode),)], mode


# ---------------------------------------------------------------- damaged stores


@pytest.mark.parametrize(
    "damage",
    [
        "update api_calls set input_tokens = input_tokens + 7, output_tokens = 3, speed = 'slow lane', model = 'other'",
        "update api_calls set thinking_tokens = null, cache_write_1h_tokens = 1, web_searches = 2 where id % 3 = 0",
        "update api_calls set is_advisor = 1 - is_advisor, speed = null",
        "delete from responses where id in (select response_id from api_calls where id > 0 order by id limit 5)",
        "delete from responses",
    ],
)
def test_what_was_billed_stays_to_the_token(lived: Path, damage: str) -> None:
    """Also where no response of a call says its usage, or there is none any more: calls, tokens and costs are equal."""
    with closing(sqlite3.connect(lived)) as store, store:
        store.execute(damage)
        store.execute("update api_calls set context_tokens = input_tokens + cache_read_tokens + cache_write_tokens")
    names = [name for name in columns(lived, "api_calls") if name != "transcript_id"]
    before, costs = shown(lived, "api_calls", names), shown(lived, "calls", ["model", "time_ms", "cost_usd"])
    told = columns(lived, "cost_by_day")
    days = shown(lived, "cost_by_day", told)
    ensure(lived)
    assert before == shown(lived, "api_calls", names)
    assert costs == shown(lived, "calls", ["model", "time_ms", "cost_usd"])
    assert days == shown(lived, "cost_by_day", told)


def test_orphans_of_before_are_no_hindrance(lived: Path) -> None:
    """Rows that lacked what they refer to may go on lacking it, under the tables' new names."""
    with closing(sqlite3.connect(lived)) as store, store:
        store.execute("update api_calls set price_id = 4711")
        store.execute("delete from threads where id = (select max(thread_id) from responses)")
        store.execute("delete from blocks where id = (select min(block_id) from texts)")
    assert ensure(lived)


def test_views_of_the_user_stay(lived: Path) -> None:
    """One over a table that is a view now goes on answering; one that cannot any more does no harm."""
    with closing(sqlite3.connect(lived)) as store, store:
        store.execute("create view mine as select model, sum(output_tokens) as n from api_calls group by 1 order by 1")
        store.execute("create view prompts as select id from records where is_prompt order by 1")
        store.execute("create view stale as select tool_use_id from removals")
    before = [ask(lived, f"select * from {name}") for name in ("mine", "prompts")]
    ensure(lived)
    assert before == [ask(lived, f"select * from {name}") for name in ("mine", "prompts")]
    assert "stale" in names_in(lived)


# ---------------------------------------------------------------- how far it is


def test_it_tells_how_far_it_is(lived: Path) -> None:
    """Who watches is told bytes of the store, never fewer than before; nothing is done twice."""
    told: list[tuple[int, int]] = []
    sizes: list[int] = []

    class Watching:
        def __enter__(self) -> Any:
            return lambda done, total: told.append((done, total))

        def __exit__(self, *_: object) -> None:
            told.append((-1, -1))

    def watch(size: int) -> Any:
        sizes.append(size)
        return Watching()

    size = lived.stat().st_size
    with watched(watch):
        ensure(lived)
        ensure(lived)
    assert [size] == sizes
    assert (-1, -1) == told.pop()
    assert {size} == {total for _, total in told}
    assert all(one <= other for (one, _), (other, _) in pairwise(told))
    assert len(told) > 20
    assert told[-1][0] <= size


def test_whoever_cannot_wait_leaves_the_store_as_it_is(lived: Path) -> None:
    """What the watcher raises comes out, before anything is written."""

    def watch(_: int) -> Any:
        raise NotQuick

    with watched(watch), pytest.raises(NotQuick):
        ensure(lived)
    assert "0001" == revision(lived)
    assert not list(lived.parent.glob("*.bak*"))


SHOWN = """
import sys
from crusts_index.cli import commands, progress
progress.WORTH_SECONDS = 0.0
sys.exit(commands.run(["usage", "--no-index", "--json", "--db", sys.argv[1]]))
"""


@pytest.mark.long
def test_a_terminal_shows_it_and_a_pipe_does_not(lived: Path) -> None:
    """A bar on stderr for people, nothing for programs; stdout has the answer alone."""
    env = ClaudeFolder(lived.parent / "home").env(TERM="xterm", PYTHONPATH=os.pathsep.join(sys.path))
    env.pop("NO_COLOR")
    other = Path(shutil.copy(lived, lived.with_name("other.db")))
    quiet = run(SHOWN, lived, stdout=subprocess.PIPE, env=env)
    out, err = quiet.communicate(timeout=PATIENCE)
    assert (0, False, False) == (quiet.returncode, b"bringing" in err, b"\x1b" in err)
    screen, end = os.openpty()
    with subprocess.Popen([sys.executable, "-c", SHOWN, other], stdout=subprocess.PIPE, stderr=end, env=env) as seen:
        os.close(end)
        said = b""
        while part := _read(screen):
            said += part
        assert seen.stdout is not None
        assert out == seen.stdout.read()
    os.close(screen)
    assert b"bringing the store up to date" in said


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 1 << 16)
    except OSError:  # nobody writes any more
        return b""


# ---------------------------------------------------------------- the new parser, for those that cannot wait


@pytest.fixture
def early(tmp_path: Path) -> tuple[ClaudeFolder, Path]:
    """A folder of four sessions, and its store as an early parser left it: what it got of them is one token off."""
    folder = ClaudeFolder(tmp_path)
    for number in range(4):
        t = folder.main(f"5e551001-0000-4000-8000-{number:012d}")
        for turn in range(3):
            t.prompt(f"turn {turn}")
            t.read(f"/home/ada/{turn}.py", CODE, context=1_000 * turn + 9)
        path = t.write()
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    db = folder.home / ".claude-crusts" / "index.db"
    assert 0 == folder.crusts("index").code
    with closing(sqlite3.connect(db)) as store, store:
        store.execute("update transcripts set parser = 2")
        store.execute("update stored_responses set output_tokens = output_tokens + 1")
    return folder, db


def parsers(db: Path) -> list[int]:
    """By which parser each transcript was read, the oldest first."""
    return [row[0] for row in ask(db, "select parser from transcripts order by mtime_ns")]


def test_a_report_answers_from_what_an_early_parser_read(
    early: tuple[ClaudeFolder, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads again no more than a little, the latest first and whole transcripts, and says what it is behind."""
    folder, db = early
    size = one(db, "select max(size) from transcripts")
    new = PARSER
    monkeypatch.setattr("crusts_index.index.run.MOST_AGAIN", size // 2)
    tokens = "select sum(output_tokens) from api_calls"
    before = one(db, tokens)
    done = folder.crusts("usage", "--json")
    assert (0, [2] * 4, before) == (done.code, parsers(db), one(db, tokens))
    assert "behind by" in done.err
    monkeypatch.setattr("crusts_index.index.run.MOST_AGAIN", size)
    folder.crusts("usage", "--json")
    assert [2, 2, 2, new] == parsers(db)
    folder.crusts("usage", "--json")
    assert [2, 2, new, new] == parsers(db)
    assert 0 == folder.crusts("index").code
    assert [new] * 4 == parsers(db)
    assert 0 == one(db, "select sum(is_rough) from blocks")
    assert "" == folder.crusts("usage", "--json").err


def test_a_hook_reads_its_session_again_only_where_that_is_little(
    early: tuple[ClaudeFolder, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A larger one stays as it is, new bytes and all, until somebody has the time."""
    folder, db = early
    t = folder.main("5e551001-0000-4000-8000-000000000001")
    assert t.path is not None
    payload = f'{{"session_id": "{t.session}", "transcript_path": "{t.path}", "hook_event_name": "Stop"}}'
    new = PARSER
    monkeypatch.setattr("crusts_index.index.run.MOST_AGAIN", 10)
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    assert [2] * 4 == parsers(db)
    monkeypatch.undo()
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    assert [2, new, 2, 2] == parsers(db)


@pytest.mark.parametrize(("most", "left"), [(1 << 30, HEAD), (1_000, "0001")])
def test_a_hook_upgrades_a_small_store_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, left: str
) -> None:
    """Claude Code waits for it: a larger one stays, in one line, and everything else that it waits for answers."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("go on")
    t.response("gone on", context=50_000)
    path = t.write()
    (home := tmp_path / ".claude-crusts").mkdir()
    db = Path(shutil.copy(LIVED, home / "index.db"))
    monkeypatch.setattr("crusts_index.quick.index.MOST_UPGRADED", most)
    payload = f'{{"session_id": "{t.session}", "transcript_path": "{path}", "hook_event_name": "Stop"}}'
    done = folder.crusts("index", "--hook", stdin=payload)
    assert (0, left) == (done.code, revision(db))
    assert (done.err.count("\n"), "crusts index" in done.err) == ((0, False) if left == HEAD else (1, True))
    line = folder.crusts("statusline", stdin=payload)
    assert 0 == line.code
    assert "25%" in line.out or "5%" in line.out
    assert left == revision(db)


def test_a_plain_index_upgrades_where_it_can_be_shown(tmp_path: Path) -> None:
    """The quick path leaves it to the full command line, which reads on with what is new."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main("5e551001-0000-4000-8000-000000000077")
    t.prompt("go on")
    t.response("gone on", context=50_000)
    t.write()
    (home := tmp_path / ".claude-crusts").mkdir()
    db = Path(shutil.copy(LIVED, home / "index.db"))
    done = folder.crusts("index")
    assert (0, HEAD) == (done.code, revision(db))
    assert 1 == one(db, "select count(*) from sessions where session_id = ?", t.session)
    assert_sound(db)


def test_live_transcripts_are_read_again_and_gone_ones_stay_rough(tmp_path: Path) -> None:
    """The next index reads what is on disk by the new parser; calls, tokens and costs stay, retained ones too."""
    folder = ClaudeFolder(tmp_path)
    lay(folder)
    change(folder)
    (home := tmp_path / ".claude-crusts").mkdir()
    db = Path(shutil.copy(LIVED, home / "index.db"))
    with closing(sqlite3.connect(db)) as store, store:
        for column in ("path", "root"):
            store.execute(f"update transcripts set {column} = replace({column}, '/home/ada', ?)", (str(tmp_path),))
    billed = [
        "model",
        "timestamp",
        "request_id",
        "retained",
        *(name for name in columns(db, "calls") if "_tokens" in name),
    ]
    before, days = shown(db, "calls", billed), shown(db, "cost_by_day", ["day", "cost_usd"])
    assert 0 == folder.crusts("index").code
    assert before == shown(db, "calls", billed)
    assert days == shown(db, "cost_by_day", ["day", "cost_usd"])
    rough = "select distinct gone, is_rough from blocks b join transcripts t on t.id = b.id >> 40 order by 1"
    assert [(0, 0), (1, 1)] == ask(db, rough)
    assert_sound(db)


# ---------------------------------------------------------------- killed, no space, no power


def made_large(path: Path, times: int) -> Path:
    """The store with the records, blocks and texts of a gone session many times over, so that it takes a while."""
    shutil.copy(LIVED, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("pragma synchronous = off")
        store.execute("begin")
        (low, high) = store.execute(
            "select min(r.id), max(r.id) from records r join transcripts t on t.id = r.transcript_id where t.gone"
        ).fetchone()
        store.execute(
            "create temp table numbers as with recursive n(k) as (select 1 union all select k + 1 from n"
            f" where k < {times}) select k from n"
        )
        for table, keys in (
            ("records", ("id", "response_id")),
            ("blocks", ("id", "record_id", "tool_use_id")),
            ("texts", ("block_id",)),
        ):
            names = [row[1] for row in store.execute(f"pragma table_info({table})")]
            said = [
                f"{name} + (k << 20)" if name in keys and name not in ("response_id", "tool_use_id") else name
                for name in names
            ]
            store.execute(
                f"insert into {table} ({', '.join(names)}) select {', '.join(said)} from {table}, temp.numbers"
                f" where {keys[0]} between ? and ? order by k, {keys[0]}",
                (low, high),
            )
        store.execute("commit")
        store.execute("pragma journal_mode = wal")
    return path


SAID = {
    name: f"select count(*), sum(output_tokens), sum(cost_usd) from {name}" for name in ("calls", "cost_by_day")
} | {name: f"select count(*) from {name}" for name in ("records", "blocks", "texts", "tool_uses", "responses")}


def said(db: Path) -> dict[str, Rows]:
    """What must not change, by names that both revisions have."""
    return {name: ask(db, sql) for name, sql in SAID.items()}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 0001 of about 25 MB."""
    return made_large(tmp_path_factory.mktemp("large") / "index.db", 1_500)


def assert_old_or_new(db: Path, wanted: dict[str, Rows]) -> str:
    """The store is whole, of one of the two revisions, and says what it said; the revision."""
    assert_sound(db)
    found = one(db, "select version_num from alembic_version")
    assert found in ("0001", HEAD)
    assert wanted == said(db)
    return str(found)


@pytest.mark.long
def test_killed_at_any_moment(large: Path, tmp_path: Path) -> None:
    """kill -9 at 30 random moments: the old store or the new one, whole; and the next run ends at the new one."""
    wanted = said(large)
    chance = random.Random(2)
    begun = time.monotonic()
    assert (0, b"") == ended(run(ENSURE, shutil.copy(large, tmp_path / "first.db")))
    span = time.monotonic() - begun
    ends: list[str] = []
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        db = Path(shutil.copy(large, folder / "index.db"))
        process = run(ENSURE, db)
        time.sleep(span * (0.1 + 0.9 * chance.random()))
        process.kill()
        ended(process)
        ends.append(assert_old_or_new(db, wanted))
        if number % 5 == 0:
            ensure(db)
            assert HEAD == assert_old_or_new(db, wanted)
        shutil.rmtree(folder)
    assert "0001" in ends


@pytest.mark.long
def test_power_lost_at_any_moment(large: Path, tmp_path: Path) -> None:
    """The file and its log as they are on disk at some moment are the old store or the new one."""
    wanted = said(large)
    db = Path(shutil.copy(large, tmp_path / "index.db"))
    process = run(ENSURE, db)
    copies: list[Path] = []
    while process.poll() is None:
        time.sleep(0.15)
        process.send_signal(signal.SIGSTOP)
        folder = tmp_path / f"copy{len(copies)}"
        folder.mkdir()
        for side in ("", "-wal", "-journal"):
            if Path(f"{db}{side}").exists():
                shutil.copy(f"{db}{side}", folder / f"index.db{side}")
        copies.append(folder / "index.db")
        process.send_signal(signal.SIGCONT)
    assert (0, b"") == ended(process)
    ends = [assert_old_or_new(copy, wanted) for copy in copies]
    assert ["0001", HEAD] == sorted({*ends, assert_old_or_new(db, wanted)})
    assert sorted(ends) == ends


@pytest.mark.long
@pytest.mark.parametrize("part", [0.3, 0.9, 1.05, 1.2])
def test_files_that_may_not_grow(large: Path, tmp_path: Path, part: float) -> None:
    """No room for the copy, or for the new tables: one line, the store as it was; with room it is done."""
    wanted = said(large)
    db = Path(shutil.copy(large, tmp_path / "index.db"))
    most = int(part * large.stat().st_size)
    code = ENSURE.replace(
        "ensure(sys.argv[1])",
        "from crusts_index.errors import CrustsError\n"
        "try: ensure(sys.argv[1])\nexcept CrustsError as error: sys.exit(str(error))",
    )
    process = run(code, db, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    failed, err = ended(process)
    if failed:
        assert 1 == err.count(b"\n"), err
        assert "0001" == assert_old_or_new(db, wanted)
    ensure(db)
    assert HEAD == assert_old_or_new(db, wanted)


@pytest.mark.long
def test_a_full_disk(large: Path, tmp_path: Path) -> None:
    """A disk with room for the copy and not for the rest: one line, the store as it was."""
    wanted = said(large)
    size = large.stat().st_size
    with small_disk(tmp_path / "disk", f"{size * 5 // 2 >> 10}k"):
        db = Path(shutil.copy(large, tmp_path / "disk" / "index.db"))
        assert b"no space left" in ended(run(ENSURE, db))[1]
        assert "0001" == assert_old_or_new(db, wanted)
        assert 0 == subprocess.run(["mount", "-o", "remount,size=1g", str(db.parent)], check=True).returncode
        ensure(db)
        assert HEAD == assert_old_or_new(db, wanted)
