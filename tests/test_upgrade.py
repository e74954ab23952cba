"""Laying and upgrading the store, in real processes on real files."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from crusts_index.errors import CrustsError
from crusts_index.index.extent import SUMS
from crusts_index.resources import resource_path
from crusts_index.store.open import HEAD, open_store
from crusts_index.store.schema import metadata
from crusts_index.store.upgrade import ensure, revision
from tests import stores
from tests.program import ROOT, Program, folder_for_all

ADD_COLUMN = """
with op.batch_alter_table('sessions', recreate='always') as batch:
    batch.add_column(sa.Column('added', sa.Text()))
"""
_MADE = "select sql from sqlite_master where sql is not null and type in ('table', 'index') order by rowid"
_HEAD_OF_NEWEST = """\
-- The newest revision, laid at once where there is no store yet; older stores go there by the scripts in versions/.
-- Written by `pytest tests/test_upgrade.py --force-golden`, which holds it equal to what they make.
"""
NEXT = f"{int(HEAD) + 1:04d}"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A copy of the program to change."""
    return Program(tmp_path / "program")


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store of the newest revision with a row in each table."""
    path = tmp_path / "index.db"
    stores.write(path)
    return path


FOLLOWING = (*SUMS, "habits", "store_facts")
"""Tables whose rows follow from other rows and are made again, and what is noted of that."""


def dump(path: Path) -> list[str]:
    """All the store says: tables, views, rows."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def tables_and_indexes(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The words that make each table and index, whatever their order."""
    rows = connection.execute(
        "select name, sql from sqlite_master where type in ('table', 'index') and name <> 'alembic_version'"
    )
    return {name: sorted(re.findall(r"\w+|[^\w\s]", sql)) for name, sql in rows if sql}


def views(path: Path) -> dict[str, str]:
    """The views in the store, and what makes them."""
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("select name, sql from sqlite_master where type = 'view'"))


def counts(path: Path) -> dict[str, int]:
    """How many rows each table has."""
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        return {name: connection.execute(f'select count(*) from "{name}"').fetchone()[0] for name in names}


def mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_migrations_make_what_the_schema_says(tmp_path: Path) -> None:
    """A store made by the migrations is the one in schema.py: tables, defaults, keys, partial indexes."""
    ensure(tmp_path / "index.db")
    made = open_store(tmp_path / "index.db")
    engine = create_engine("sqlite://", creator=lambda: made, poolclass=StaticPool)
    with engine.connect() as connection, warnings.catch_warnings():
        # Indexes over expressions are compared by their text, below.
        warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index")
        warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based index")
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert [] == compare_metadata(context, metadata)
    fresh = sqlite3.connect(":memory:")
    declared = create_engine("sqlite://", creator=lambda: fresh, poolclass=StaticPool)
    metadata.create_all(declared)
    assert tables_and_indexes(fresh) == tables_and_indexes(made)
    engine.dispose()
    declared.dispose()


def test_a_new_store_is_what_the_scripts_make(request: pytest.FixtureRequest) -> None:
    """The one file that lays a new store says what the scripts make, one after the other; --force-golden writes it."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    engine = create_engine("sqlite://", creator=lambda: made, poolclass=StaticPool)
    config = Config()
    config.set_main_option("script_location", resource_path("migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    parts = [re.sub(r" *\n+ *(?=WITHOUT)|\s+$", " ", sql).rstrip() for (sql,) in made.execute(_MADE)]
    text = f"{_HEAD_OF_NEWEST}{''.join(f'{part};{chr(10)}' for part in parts)}"
    text += f"insert into alembic_version (version_num) values ('{HEAD}');\n"
    engine.dispose()
    file = ROOT / "migrations" / "newest.sql"
    if request.config.getoption("--force-golden"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_one_head_and_the_file_names_tell_it() -> None:
    """There is one newest revision, and the numbers of the files are those of the revisions, in order."""
    config = Config()
    config.set_main_option("script_location", resource_path("migrations"))
    scripts = ScriptDirectory.from_config(config)
    assert [HEAD] == scripts.get_heads()
    revisions = [script.revision for script in scripts.walk_revisions()]
    files = sorted((path.name[:4] for path in (ROOT / "migrations/versions").glob("*.py")), reverse=True)
    assert files == revisions


def test_migrations_do_not_import_the_schema() -> None:
    """A released migration says itself what it makes, so that a later schema cannot change it."""
    for path in Path(resource_path("migrations", "versions")).glob("*.py"):
        assert "crusts_index" not in path.read_text()


@pytest.mark.long
def test_developers_commands_need_no_store() -> None:
    """`alembic check` runs from pyproject.toml alone and finds nothing to migrate."""
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (0, "No new upgrade operations detected.\n") == (done.returncode, done.stdout), done.stderr


@pytest.mark.long
def test_developers_lay_a_named_store(tmp_path: Path) -> None:
    """`alembic -x store=FILE upgrade head` lays the tables in FILE."""
    path = tmp_path / "dev.db"
    command = [sys.executable, "-m", "alembic", "-x", f"store={path}", "upgrade", "head"]
    subprocess.run(command, cwd=ROOT, check=True)
    assert HEAD == revision(path)


def test_a_store_is_made_once(tmp_path: Path) -> None:
    """The first call makes the store, the second finds nothing to do; what was not there is not copied."""
    path = tmp_path / "new" / "folder" / "index.db"
    assert revision(path) is None
    assert [True, False] == [ensure(path), ensure(path)]
    assert HEAD == revision(path)
    assert not list(path.parent.glob("*.bak"))


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """A file of no bytes is what a killed first run leaves, so it is laid like a new one."""
    path = tmp_path / "index.db"
    path.touch()
    assert ensure(path)
    assert HEAD == revision(path)


def test_a_store_is_its_owners(tmp_path: Path) -> None:
    """The folder is 0700 and the files 0600 whatever the umask. Spec: D16."""
    path = tmp_path / "home" / "index.db"
    before = os.umask(0)
    try:
        ensure(path)
        with closing(open_store(path, write=True)) as connection:
            stores.fill(connection)
            assert {0o600} == {mode(file) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert 0o700 == mode(path.parent)


def test_our_own_folder_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CRUSTS_HOME is closed to others even if it was there; a folder that is not ours is left alone."""
    (home := tmp_path / "home").mkdir()
    (other := tmp_path / "other").mkdir()
    home.chmod(0o755)
    other.chmod(0o755)
    monkeypatch.setenv("CRUSTS_HOME", str(home))
    ensure(home / "index.db")
    ensure(other / "index.db")
    assert (0o700, 0o755) == (mode(home), mode(other))


@pytest.mark.long
def test_only_an_upgrade_imports_what_is_slow(program: Program, tmp_path: Path) -> None:
    """A new store, and one with nothing to do, need neither SQLAlchemy nor Alembic; an old one needs both."""
    code = "ensure(path)\nprint('sqlalchemy' in sys.modules, 'alembic' in sys.modules)"
    assert "False False" == program.run(code, tmp_path / "index.db")
    assert "False False" == program.run(code, tmp_path / "index.db")
    program.add_migration(NEXT, ADD_COLUMN)
    assert "True True" == program.run(code, tmp_path / "index.db")


@pytest.mark.long
def test_eight_processes_make_one_store(program: Program, tmp_path: Path) -> None:
    """Processes that create the store at the same time all succeed, and one of them made it."""
    path = tmp_path / "index.db"
    started = [program.start("print(ensure(path), revision(path))", path) for _ in range(8)]
    ended = [process.communicate(timeout=300) for process in started]
    assert [""] * 8 == [err for _, err in ended]
    assert sorted([f"True {HEAD}\n"] + [f"False {HEAD}\n"] * 7) == sorted(out for out, _ in ended)


def test_an_upgrade_under_way_is_waited_for_no_longer_than_told(tmp_path: Path) -> None:
    """A process that must answer soon gives up and says what is in the way."""
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(CrustsError, match="locked by another program"):
            ensure(path, timeout=0.05)
    assert ensure(path)


@pytest.mark.long
def test_an_upgrade_keeps_every_row(program: Program, filled: Path) -> None:
    """A table that others refer to is made anew and none of their rows lost; the old file is kept."""
    before = dump(filled)
    rows = counts(filled)
    program.add_migration(
        NEXT,
        ADD_COLUMN,
    )
    assert f"True {NEXT}" == program.run("print(ensure(path), revision(path))", filled)
    assert {name: rows[name] for name in rows if name not in FOLLOWING} == {
        name: count for name, count in counts(filled).items() if name not in FOLLOWING
    }
    with closing(sqlite3.connect(filled)) as connection:
        assert [(None,)] == connection.execute("select added from sessions").fetchall()
        assert [("wal",)] == connection.execute("pragma journal_mode").fetchall()
    copy = filled.with_name(f"index.db.{HEAD}.bak")
    assert before == dump(copy)
    assert 0o600 == mode(copy)


@pytest.mark.long
@pytest.mark.parametrize("failure", ["raise RuntimeError('half way')", "op.execute('insert into nowhere values (1)')"])
def test_a_failing_upgrade_changes_nothing(program: Program, filled: Path, failure: str) -> None:
    """Whatever a migration did before it failed is undone, tables made and rows changed alike."""
    before = dump(filled)
    program.add_migration(
        NEXT,
        "op.create_table('half', sa.Column('made', sa.Text()))\n"
        "with op.batch_alter_table('transcripts') as batch:\n    batch.drop_column('git_branch')\n"
        "op.execute('delete from sessions')\n" + failure,
    )
    process = program.start("ensure(path)", filled)
    out, err = process.communicate(timeout=120)
    assert "half way" in err or "nowhere" in out
    assert before == dump(filled)
    assert HEAD == revision(filled)


@pytest.mark.long
def test_an_upgrade_that_orphans_rows_is_refused(program: Program, filled: Path) -> None:
    """References are checked at the end; rows that were orphans before do not stand in the way."""
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("update transcripts set session_id = 77")
    before = dump(filled)
    program.add_migration(NEXT, "op.execute('delete from threads')")
    assert "would lose rows" in program.run("ensure(path)", filled)
    assert before == dump(filled)
    program.add_migration(NEXT, "op.execute('delete from problems')")
    assert "True" == program.run("print(ensure(path))", filled)


def test_a_newer_store_is_left_alone(filled: Path) -> None:
    """A store of a revision this program does not know: one line that says so, and not a byte changed."""
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("update alembic_version set version_num = '9000'")
    before = filled.read_bytes()
    for do in (ensure, revision, open_store):
        with pytest.raises(CrustsError, match=r"^[^\n]*newer crusts[^\n]*9000[^\n]*$"):
            do(filled)
    assert before == filled.read_bytes()


@pytest.mark.parametrize("content", [b"no database\n" * 500, b"x"])
def test_a_file_of_noise_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """A file that is no database: one line that names it, and not a byte changed."""
    path = tmp_path / "index.db"
    path.write_bytes(content)
    with pytest.raises(CrustsError, match=r"^[^\n]*index\.db is not an SQLite file[^\n]*$"):
        ensure(path)
    assert content == path.read_bytes()


def test_a_database_of_others_is_left_alone(tmp_path: Path) -> None:
    """A database of another program is not laid over, though it may use Alembic too."""
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table alembic_version (version_num text)")
        connection.execute("insert into alembic_version values ('ab12cd34')")
    before = path.read_bytes()
    with pytest.raises(CrustsError, match="another program"):
        ensure(path)
    assert before == path.read_bytes()


def test_a_folder_that_cannot_be_written() -> None:
    """No store can be made there: one line that says why."""
    with folder_for_all() as folder:
        program = Program(folder / "program")
        folder.chmod(0o555)
        for store in (folder / "index.db", folder / "sub" / "index.db"):
            said = program.run("drop_root()\nensure(path)", store)
            assert said.startswith("CrustsError: ")
            assert "Permission denied" in said
            assert 1 == len(said.splitlines())


def test_views_follow_their_files(program: Program, filled: Path) -> None:
    """Views are laid again when their text changed, without a migration; without a file they go."""
    view = program.add_query("views/zz_a", "-- one\ncreate view zz_a as select 1 as one;\n")
    program.add_query("views/zz_b", "create view zz_b as select one from zz_a;\n")
    code = "print(ensure(path), 'alembic' in sys.modules)"
    assert ["True False", "False False"] == [program.run(code, filled) for _ in range(2)]
    assert {"zz_a", "zz_b"} <= views(filled).keys()
    program.add_query("views/zz_b", "create view zz_b as select one + 1 as two from zz_a;\n")
    program.add_query("views/zz_c", "create view zz_c as select * from zz_b;\n")
    assert "True False" == program.run(code, filled)
    with closing(sqlite3.connect(filled)) as connection:
        assert [(2,)] == connection.execute("select two from zz_c").fetchall()
    view.unlink()
    (program.folder / "queries/views/zz_c.sql").unlink()
    assert "True False" == program.run(code, filled)
    assert {"zz_b"} == {name for name in views(filled) if name.startswith("zz_")}


@pytest.mark.long
def test_the_users_own_views_stay(program: Program, filled: Path) -> None:
    """A view that the user made outlives an upgrade, also one that takes away a column it reads."""
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute('create view "my ""own""" as select session_id from sessions')
        connection.execute("create view stale as select git_branch from transcripts")
    program.add_query("views/zz_a", "create view zz_a as select 1 as one;\n")
    program.run("ensure(path)", filled)
    program.add_migration(
        NEXT, "with op.batch_alter_table('transcripts') as batch:\n    batch.drop_column('git_branch')"
    )
    assert f"True {NEXT}" == program.run("print(ensure(path), revision(path))", filled)
    assert {'my "own"', "stale", "zz_a"} <= views(filled).keys()
    with closing(sqlite3.connect(filled)) as connection:
        assert [("text",)] == connection.execute('select session_id from "my ""own"""').fetchall()
        assert [(1,)] == connection.execute("select one from zz_a").fetchall()


def test_a_broken_view_changes_nothing(program: Program, filled: Path) -> None:
    """A view that does not parse leaves the views as they were."""
    before = dump(filled)
    program.add_query("views/zz_a", "create view zz_a as select 1 as one;\n")
    program.add_query("views/zz_b", "create view zz_b as selekt 1;\n")
    assert "syntax error" in program.run("ensure(path)", filled)
    assert before == dump(filled)


@pytest.mark.parametrize("old", sorted(stores.FOLDER.glob("*.db")), ids=lambda path: path.stem)
def test_every_released_store_opens(old: Path, tmp_path: Path) -> None:
    """A store of each released revision is brought up to date and keeps all its rows but what follows."""
    path = tmp_path / "index.db"
    shutil.copy(old, path)
    before = {name: count for name, count in counts(path).items() if name not in FOLLOWING}
    ensure(path)
    after = counts(path)
    assert before == {name: after.get(name, after.get(f"stored_{name.removeprefix('api_')}")) for name in before}
    with closing(open_store(path)) as connection:
        assert [] == connection.execute("pragma foreign_key_check").fetchall()
        assert [("ok",)] == connection.execute("pragma integrity_check").fetchall()
