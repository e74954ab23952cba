"""`crusts sql`: reads and nothing else, ends, and documents what there is to read."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from crusts_index.cli import sql
from crusts_index.store import query
from crusts_index.store.schema import metadata
from tests.conftest import Demo, IndexedFolder


def test_a_result_as_json_csv_and_table(demo: Demo) -> None:
    """JSON is {columns, rows}; CSV has a header; bytes show as a uuid or hexadecimal digits."""
    asked = "select 1 as a, 'x' as b, null as c, x'00112233445566778899aabbccddeeff' as d, x'01ff' as e"
    told = demo.crusts("sql", "--json", asked).json()
    assert ["a", "b", "c", "d", "e"] == told["columns"]
    assert [[1, "x", None, "00112233-4455-6677-8899-aabbccddeeff", "01ff"]] == told["rows"]
    assert told == demo.crusts("sql", "--format", "json", asked).json()
    assert "a,b\n1,x\n" == demo.crusts("sql", "--format", "csv", "select 1 as a, 'x' as b").out
    assert ["a  b", "-  -", "1  x"] == demo.crusts("sql", "select 1 as a, 'x' as b").out.splitlines()


@pytest.mark.parametrize(
    "statement",
    [
        "delete from records",
        "insert into forgotten values ('x', 1)",
        "update sessions set session_id = 'x'",
        "drop table records",
        "create table x (y)",
        "create temp table x (y)",
        "create view x as select 1",
        "pragma user_version",
        "pragma journal_mode = delete",
        "attach 'x.db' as x",
        "vacuum into 'x.db'",
        "begin",
        "reindex",
        "select load_extension('x')",
        "with x as (select 1) delete from records",
        "select 1; delete from records",
        "alter table records add column x",
        "analyze",
    ],
)
def test_nothing_but_reading(demo: Demo, tmp_path: Path, statement: str) -> None:
    """Anything else is refused with one line and exit 1, and leaves everything as it was."""
    before = demo.db.read_bytes()
    done = demo.crusts("sql", "--no-index", statement)
    assert (1, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert before == demo.db.read_bytes()
    assert not list(tmp_path.iterdir())


def test_a_statement_that_does_not_end_is_stopped(demo: Demo) -> None:
    """After --seconds, with one line that names the option."""
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    done = demo.crusts("sql", "--seconds", "0.2", endless)
    assert (1, True, 1) == (done.code, "--seconds" in done.err, done.err.count("\n"))


def test_rows_end_at_the_limit(demo: Demo) -> None:
    """--limit rows are shown, and a note says that there are more; none when there are not."""
    many = "with recursive n(i) as (select 1 union all select i + 1 from n limit 10) select i from n"
    cut, whole = (demo.crusts("sql", "--json", "--limit", str(n), many) for n in (3, 10))
    assert ([[1], [2], [3]], True) == (cut.json()["rows"], "--limit" in cut.err)
    assert (10, "") == (len(whole.json()["rows"]), whole.err)


def test_what_sqlite_does_not_understand(demo: Demo) -> None:
    """Its message on one line, exit 1; no statement is wrong usage."""
    for statement in ("selec 1", "select * from nothing", "select zeroblob(900000000)"):
        done = demo.crusts("sql", statement)
        assert (1, 1) == (done.code, done.err.count("\n")), statement
    assert 2 == demo.crusts("sql", "").code


def test_a_statement_from_stdin(demo: Demo) -> None:
    """Without an argument, or with -, it is read from stdin."""
    for args in ((), ("-",)):
        assert [[42]] == demo.crusts("sql", "--json", *args, stdin="select 42").json()["rows"]


@pytest.mark.parametrize("name", query.names())
def test_a_reports_sql_can_be_asked_as_it_stands(demo: Demo, name: str) -> None:
    """--report prints the file of queries/; a report over all sessions runs with every parameter null."""
    printed = demo.crusts("sql", "--report", name).out
    assert name == "status" or query.sql(name).partition("\n")[0] in printed
    if name.partition("_")[0] in ("list", "models", "problems", "readout", "usage"):
        done = demo.crusts("sql", "--json", stdin=query.sql(name))
        assert done.code == 0, done.err


COMMANDS = (
    *("analyze", "fix", "timeline", "diff", "report", "compare", "waste", "lost", "trend", "models", "optimize"),
    *(
        "status",
        "list",
        "usage",
        "readout",
        "accuracy",
        "calibrate",
        "bench",
        "overview",
        "search",
        "forget",
        "rereads",
    ),
)


@pytest.mark.process
@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="there is no sqlite3 shell")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_sql_runs_in_the_shell(demo: Demo, name: str) -> None:
    """As it is printed, with parameters unset, and with a date as text."""
    printed = demo.crusts("sql", "--report", name).out
    for setting in ("", """.parameter set :since "'2000-01-01'"\n""", """.parameter set :until "'2000-01-01'"\n"""):
        done = subprocess.run(
            ["sqlite3", "-bail", str(demo.db)], input=setting + printed, capture_output=True, text=True, check=False
        )
        assert (0, "") == (done.returncode, done.stderr)


def test_a_time_may_be_text() -> None:
    """Milliseconds stay; a bare date is midnight in the user's zone, as `until` the end of its day; Z is UTC."""
    with closing(sqlite3.connect(":memory:")) as store:
        for name, given, wanted in (
            ("since", 5, 5),
            ("since", None, None),
            ("since", "1970-01-02T00:00:00Z", 86_400_000),
        ):
            text = sql._with_dates(next(sql._TIMES.finditer(f":{name}")))
            assert (wanted,) == store.execute(f"select {text}", {name: given}).fetchone()
        day = [
            store.execute(
                f"select {sql._with_dates(next(sql._TIMES.finditer(':' + name)))}", {name: "2026-10-01"}
            ).fetchone()[0]
            for name in ("since", "until")
        ]
    assert (int(datetime(2026, 10, 1).timestamp()) * 1000, 86_400_000) == (day[0], day[1] - day[0])  # noqa: DTZ001


def test_a_report_that_is_not_there(demo: Demo) -> None:
    """One line that names those there are."""
    done = demo.crusts("sql", "--report", "nothing")
    assert (1, True) == (done.code, "usage_tools" in done.err)


def test_the_schema_documents_every_table_and_view(demo: Demo) -> None:
    """Every column of every table has its words, and every view its comment; 80 columns hold them."""
    told = demo.crusts("sql", "--schema", "--json").json()
    assert {name for name, _ in query.view_scripts()} == {view["name"] for view in told["views"]}
    assert all(view["doc"].startswith(view["name"] + ":") for view in told["views"])
    assert set(metadata.tables) == {table["name"] for table in told["tables"]}
    assert all(column["doc"] for table in told["tables"] for column in table["columns"])
    text = demo.crusts("sql", "--schema", COLUMNS="80").out
    assert max(map(len, text.splitlines())) <= 80
    for table in metadata.tables.values():
        assert all(f"  {column.name} " in text for column in table.columns), table.name


def test_untrusted_text_in_a_table(tmp_path: Path) -> None:
    """What a transcript says reaches the terminal as text alone."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("\x1b[31mred\x1b[0m\u202e")
    t.write()
    out = folder.crusts("sql", "select preview from messages").out
    assert "red" in out
    assert not {"\x1b", "\u202e"} & set(out)


def test_the_connection_itself_cannot_write(demo: Demo) -> None:
    """Below the authorizer lies a connection that is read-only."""
    from crusts_index.store.open import open_store

    with closing(open_store(demo.db)) as store, pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.execute("delete from stored_records")
