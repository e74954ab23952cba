"""The reader of `queries/`: which parameters a file has, and that all of them are given."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.errors import CrustsError
from crusts_index.store import query
from crusts_index.store.open import open_store
from crusts_index.store.upgrade import ensure
from tests.builders import ClaudeFolder, Transcript
from tests.picture import index, new_store, one, scratch
from tests.program import Program


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("select :since, :limit", {"since", "limit"}),
        ("select :a+:a_2 where x=:b\n", {"a", "a_2", "b"}),
        ("-- :since  null for all\nselect 1 -- :x", set()),
        ("/* :a\n :b */ select :c /* :d", {"c"}),
        ("select ':a', 'it''s :b', \"c:d\", [e:f], `g:h`", set()),
        ("select '--', :a, '/*', :b, '*/'", {"a", "b"}),
        ("select -1 - :a, 2 / :b, 3 * :c", {"a", "b", "c"}),
        ("select strftime('%H:%M', :t)", {"t"}),
        ("-- it's\nselect :a -- isn't\n, :b", {"a", "b"}),
    ],
)
def test_parameters_are_found_where_sqlite_finds_them(text: str, found: set[str]) -> None:
    """A colon in a comment, a literal or a quoted name is no parameter."""
    assert found == query.find_parameters(text)


def test_a_file_is_run_with_all_its_parameters(tmp_path: Path) -> None:
    """Rows come with their columns' names; None reaches SQL as null; too few or many is a mistake."""
    program = Program(tmp_path / "program")
    program.add_query("zz", "-- zz: `:not` one\nselect :name as name, ifnull(:n, 7) + 1 as n;\n-- end\n")
    code = """
@of('zz')
class Zz(NamedTuple):
    name: str
    n: int

ensure(path)
store = open_store(path)
print(query.rows(store, Zz, name='x', n=None))
print([row._asdict() for row in query.rows(store, Zz, name='x', n=1)])
print(sorted(query.parameters('zz')), 'zz' in query.names(), query.sql('zz')[:5])
for given in ({}, {'name': 1}, {'name': 1, 'n': 2, 'more': 3}):
    try:
        query.rows(store, Zz, **given)
    except TypeError as error:
        print(error)
"""
    assert [
        "[Zz(name='x', n=8)]",
        "[{'name': 'x', 'n': 2}]",
        "['n', 'name'] True -- zz",
        "queries/zz.sql: not given: ['n', 'name'], not in the file: []",
        "queries/zz.sql: not given: ['n'], not in the file: []",
        "queries/zz.sql: not given: [], not in the file: ['more']",
    ] == program.run(code, tmp_path / "index.db").splitlines()


def test_a_query_that_is_not_there() -> None:
    """A name without a file is told as such."""
    with pytest.raises(CrustsError, match="no query named nothing"):
        query.sql("nothing")


def test_every_view_reads(tmp_path: Path) -> None:
    """Each file in `queries/views` makes the view of its name, and it can be read."""
    ensure(tmp_path / "index.db")
    with closing(open_store(tmp_path / "index.db")) as store:
        made = [row[0] for row in store.execute("select name from sqlite_master where type = 'view'")]
        assert sorted(made) == [name for name, _ in query.view_scripts()]
        for name in made:
            store.execute(f'select * from "{name}"').fetchall()


def test_a_damaged_store_is_told_in_one_line(tmp_path: Path) -> None:
    """An error of SQLite's that the user can mend comes out as ours."""
    program = Program(tmp_path / "program")
    program.add_query("zz", "select count(*) as n from records;\n")
    path = tmp_path / "index.db"
    ensure(path)
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("pragma page_size").fetchone()
        pages = connection.execute("select rootpage from sqlite_master where tbl_name = 'stored_records'").fetchall()
    with path.open("r+b") as file:
        for (page,) in pages:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
    assert "is damaged" in program.run("query.rows(open_store(path), StoreCounts, 'zz')", path)


def steps(db: Path, name: str, **given: object) -> int:
    """How many steps of SQLite's a query takes."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    with closing(open_store(db)) as store:
        store.set_progress_handler(count, 1)
        store.execute(query.sql(name), given).fetchall()
    return taken


def test_what_is_asked_of_one_session_takes_no_longer_beside_others() -> None:
    """A status line finds its records, openers and reads by an index or a range: a large store is no slower."""
    with scratch() as home:
        folder = ClaudeFolder(home)

        def add(number: int) -> Transcript:
            session = f"5e551000-0000-4000-8000-{number:012d}"
            t = folder.main(session)
            t.prompt("go")
            t.read("/a.py")
            t.write()
            agent = folder.subagent(session)
            agent.prompt("look")
            agent.read("/a.py")
            agent.write()
            return t

        t = add(0)
        db = new_store(home)
        index(db, folder.config)
        opens = "select r.transcript_id, r.uuid from records r join threads t on t.id = r.thread_id where r.opens"
        transcript, uuid = one(db, f"{opens} and t.kind = 'main'")
        asked: dict[str, dict[str, object]] = {
            "session_record": {"transcript": transcript, "uuid": uuid},
            "session_other_reads": {"session": t.session},
        }
        alone = {name: steps(db, name, **given) for name, given in asked.items()}
        for number in range(1, 30):
            add(number)
        index(db, folder.config)
        assert [] == [name for name, given in asked.items() if steps(db, name, **given) > 1.1 * alone[name]]
