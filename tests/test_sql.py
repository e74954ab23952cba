"""`crusts sql`: reads and nothing else, ends, and documents what there is to read."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from crusts_index.store import query
from crusts_index.store.runnable import runnable
from crusts_index.store.schema import metadata
from tests.conftest import Demo, IndexedFolder

_TIMED = r"(?m)^--   :(\w+) +UTC milliseconds"


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
    *("status", "statusline", "auto-inject", "list", "usage", "readout", "accuracy", "calibrate", "bench", "overview"),
    *("search", "forget", "watch", "rereads"),
)
ONE_SESSION = ("analyze", "fix", "timeline", "diff", "report", "compare", "models", "optimize", "status", "overview")


needs_shell = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="there is no sqlite3 shell")


def shell(db: Path, script: str, **settings: str | int | None) -> tuple[str, str]:
    """What the sqlite3 shell answers, and what it complains of; a parameter that is text has both quotes."""
    lines = [
        f".parameter set :{name} " + (f"\"'{value}'\"" if isinstance(value, str) else str(value)) + "\n"
        for name, value in settings.items()
    ]
    done = subprocess.run(
        ["sqlite3", "-bail", str(db)],
        input="".join([*lines, script]),
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "TZ": "UTC"},
    )
    return done.stdout, done.stderr


@pytest.mark.process
@needs_shell
@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_sql_runs_in_the_shell(demo: Demo, name: str) -> None:
    """As it is printed, with parameters unset, with dates as text, and with times that are milliseconds."""
    printed = demo.crusts("sql", "--report", name).out
    for settings in ({}, {"since": "2000-01-01", "until": "2100-01-01"}, {"since": 1_700_000_000_000, "until": 0}):
        assert "" == shell(demo.db, printed, **settings)[1]


@pytest.mark.process
@needs_shell
@pytest.mark.parametrize("name", ONE_SESSION)
def test_one_sessions_sql_takes_the_one_last_active(demo: Demo, name: str) -> None:
    """Unset, it answers of the session that the commands take; the start of an id is enough, one of none is told."""
    printed = demo.crusts("sql", "--report", name).out
    newest, other = (row["session"] for row in demo.crusts("list", "--json").json()["sessions"][:2])
    unset = shell(demo.db, printed)
    assert unset[0]
    assert unset == shell(demo.db, printed, session=newest) == shell(demo.db, printed, session=newest[:9])
    assert unset != shell(demo.db, printed, session=other)
    assert ":session begins no id: nonesuch" in shell(demo.db, printed, session="nonesuch")[1]


@needs_shell
@pytest.mark.parametrize("name", [name for name in query.names() if re.search(_TIMED, query.sql(name))])
def test_what_is_no_time_is_never_everything(demo: Demo, name: str) -> None:
    """Text or a number that is no time ends the statement, which says so and repeats it."""
    printed = demo.crusts("sql", "--report", name).out
    said = re.findall(_TIMED, query.sql(name))
    odd = (
        "",
        "yesterday-ish",
        "7d",
        "2026",
        "20261130",
        "2026-13-40",
        "2026-02-31",
        "2026-11-30T25:00",
        "1e400",
        "now",
    )
    for value in (*odd, 2015, "1e400 ", 1_700_000_000):
        for parameter in said:
            out, complaint = shell(demo.db, printed, **{parameter: value})
            if complaint or out:  # else there was no row to compare with
                assert f":{parameter} is no time such as 2026-11-30" in complaint, (parameter, value)
                assert str(value).strip() in complaint


def test_a_time_may_be_text() -> None:
    """Milliseconds stay; a date is midnight in the user's zone, as `until` the end of its day; an offset counts."""
    day = 86_400_000
    for name, given, wanted in (
        ("since", 1_700_000_000_000, 1_700_000_000_000),
        ("since", None, None),
        ("since", 0, 0),
        ("since", "1970-01-02T00:00:00Z", day),
        ("since", "1970-01-02T02:00:00+02:00", day),
        ("since", "1970-01-01 22:00-02:00", day),
        ("since", "2026-10-01", _local(2026, 10, 1)),
        ("until", "2026-10-01", _local(2026, 10, 2)),
        ("until", "2026-10-01T12:30", _local(2026, 10, 1, 12, 30)),
        ("before", "2026-10-01", _local(2026, 10, 1)),
    ):
        text = runnable(f"-- x: y\n--   :{name}  UTC milliseconds: z; null = all\nselect :{name};\n")
        with closing(sqlite3.connect(":memory:")) as store:
            assert (wanted,) == store.execute(text, {name: given}).fetchone()


def _local(*parts: int) -> int:
    return int(datetime(*parts).timestamp()) * 1000  # type: ignore[arg-type]  # noqa: DTZ001


def test_the_head_says_how_parameters_are_set(demo: Demo) -> None:
    """Times may be text, a session may be unset, and text has both quotes; what is no time is not said to be one."""
    usage, blocks = (demo.crusts("sql", "--report", name).out for name in ("usage", "session_blocks"))
    assert "--   :since    UTC milliseconds, or a time as text: calls at or after it; null = all\n" in usage
    assert """.parameter set :since "'2026-11-30'"\n""" in usage
    assert "--   :session     how the session's id begins; null = the one last active\n" in blocks
    assert "--   :transcript  id of the transcript; null = the last of :session\n" in blocks
    assert query.sql("calibrations") == demo.crusts("sql", "--report", "calibrations").out


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
