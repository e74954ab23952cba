"""Opening the store: who may write, what a transaction leaves, and what is said when it cannot be done."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.errors import CrustsError
from crusts_index.store.open import checkpoint, explain, open_store, path_of, transaction
from crusts_index.store.upgrade import ensure
from tests.builders import ClaudeFolder
from tests.program import Program, folder_for_all

ADD = "insert into store_facts values (?, ?)"
COUNT = "select count(*) from store_facts where name <> 'views'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An empty store, in a file whose name SQLite's URIs must have quoted."""
    path = tmp_path / "a?b#c%41 d.db"
    ensure(path)
    return path


def count(connection: sqlite3.Connection) -> int:
    """How many facts the tests added."""
    number: int = connection.execute(COUNT).fetchone()[0]
    return number


def add(path: Path, name: str) -> None:
    """Write one fact and go."""
    with closing(open_store(path, write=True)) as writer, transaction(writer):
        writer.execute(ADD, (name, ""))


def test_a_reader_sees_what_is_committed_and_cannot_write(path: Path) -> None:
    """What a writer committed is there for a reader, what it has not is not; a reader writes nothing."""
    with closing(open_store(path, write=True)) as writer, closing(open_store(path)) as reader:
        with transaction(writer):
            writer.execute(ADD, ("a", ""))
            assert 0 == count(reader)
        assert 1 == count(reader)
        with pytest.raises(CrustsError, match="cannot be written"), transaction(reader):
            reader.execute(ADD, ("b", ""))
        assert str(path) == path_of(reader)


def test_connections_are_set_up(path: Path) -> None:
    """Every connection waits 5 s or more for a lock; a writer logs ahead; no transaction begins by itself."""
    with closing(open_store(path, write=True)) as writer, closing(open_store(path)) as reader:
        for connection in (writer, reader):
            assert 5000 <= connection.execute("pragma busy_timeout").fetchone()[0]
            assert (-16000,) == connection.execute("pragma cache_size").fetchone()
        assert ("wal",) == writer.execute("pragma journal_mode").fetchone()
        assert (1,) == writer.execute("pragma synchronous").fetchone()
        writer.execute(ADD, ("a", ""))
        assert not writer.in_transaction


def test_values_come_back_as_they_went_in(path: Path) -> None:
    """Nothing, blobs, numbers and texts are stored as they are, by number and by name."""
    values = (None, b"", b"\x00\xff", 0, -(2**63), 1.5, "", "a\u00e9")
    with closing(open_store(path)) as store:
        for value in values:
            kind = {type(None): "null", bytes: "blob", int: "integer", float: "real", str: "text"}[type(value)]
            assert store.execute("select ?1, typeof(?1)", (value,)).fetchone() == (value, kind)
            assert store.execute("select :it, typeof(:it)", {"it": value}).fetchone() == (value, kind)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError, SystemExit])
def test_a_transaction_that_fails_leaves_nothing(path: Path, kind: type[BaseException]) -> None:
    """Whatever is raised inside, nothing of it is written, and the connection can go on."""
    with closing(open_store(path, write=True)) as writer:
        with pytest.raises(kind), transaction(writer):  # noqa: PT012 - what stands before is the point
            writer.execute(ADD, ("a", ""))
            raise kind
        assert 0 == count(writer)
        with transaction(writer):
            writer.execute(ADD, ("a", ""))
        assert 1 == count(writer)


def test_errors_of_ours_pass_as_they_are(path: Path) -> None:
    """A wrong statement is a mistake in the program, not something the user can mend."""
    with closing(open_store(path, write=True)) as writer:
        with pytest.raises(sqlite3.OperationalError, match="no such table"), transaction(writer):
            writer.execute("select * from nowhere")
        with pytest.raises(sqlite3.IntegrityError), transaction(writer):
            writer.execute(ADD, ("a", None))


def test_a_locked_store_says_so(path: Path) -> None:
    """Two writers: the second waits as long as it was told and then says what is in the way."""
    with (
        closing(open_store(path, write=True)) as first,
        closing(open_store(path, write=True, timeout=0.05)) as second,
        transaction(first),
        pytest.raises(CrustsError, match=r"^[^\n]*locked by another program[^\n]*$"),
        transaction(second),
    ):
        pass


def test_a_full_disk_says_so(path: Path) -> None:
    """Where no page can be added: one line, and what was there stays."""
    add(path, "kept")
    with closing(open_store(path, write=True)) as writer:
        (pages,) = writer.execute("pragma page_count").fetchone()
        writer.execute(f"pragma max_page_count = {pages + 2}")
        with pytest.raises(CrustsError, match=r"^no space left[^\n]*$"), transaction(writer):
            writer.executemany(ADD, [(str(number), "x" * 4000) for number in range(100)])
        assert 1 == count(writer)


def test_a_damaged_store_says_so(path: Path) -> None:
    """Pages overwritten behind the first one: one line that names the file."""
    with closing(open_store(path, write=True)) as writer:
        with transaction(writer):
            writer.executemany(ADD, [(str(number), "x" * 400) for number in range(100)])
        (size,) = writer.execute("pragma page_size").fetchone()
        assert checkpoint(writer)
    with path.open("r+b") as file:
        file.seek(size)
        file.write(b"\xff" * (path.stat().st_size - size))
    with (
        pytest.raises(CrustsError, match=r"^[^\n]*is damaged[^\n]*$"),
        closing(open_store(path, write=True)) as writer,
        transaction(writer),
    ):
        writer.execute(ADD, ("a", ""))


@pytest.mark.parametrize("write", [False, True])
def test_noise_and_nothing(tmp_path: Path, write: bool) -> None:
    """No file, an empty one, a folder, a file of noise: each gets a line of its own and is left alone."""
    noise, empty, folder = tmp_path / "noise.db", tmp_path / "empty.db", tmp_path / "folder.db"
    noise.write_bytes(b"noise" * 1000)
    empty.touch()
    folder.mkdir()
    for file, said in (
        (tmp_path / "none.db", "there is no store"),
        (noise, "not an SQLite file"),
        (empty, "is empty"),
        (folder, "is a folder"),
    ):
        with pytest.raises(CrustsError, match=said) as raised:
            open_store(file, write=write)
        assert str(file) in str(raised.value)
        assert "\n" not in str(raised.value)
    assert not (tmp_path / "none.db").exists()
    assert (b"noise" * 1000, b"") == (noise.read_bytes(), empty.read_bytes())


def test_every_error_has_a_line(path: Path) -> None:
    """An error of no known kind keeps SQLite's words and names the store."""
    assert f"the store at {path}: odd" == str(explain(sqlite3.OperationalError("odd"), path))


def test_a_checkpoint_moves_the_log_into_the_file(path: Path) -> None:
    """After it the file alone has all rows; a reader in the way leaves the log, and nothing waits for it."""
    with closing(open_store(path, write=True)) as writer, closing(open_store(path)) as reader:
        with transaction(writer):
            writer.execute(ADD, ("a", ""))
        reader.execute("begin")
        count(reader)
        with transaction(writer):
            writer.execute(ADD, ("b", ""))
        assert not checkpoint(writer, timeout=0.05)
        reader.execute("commit")
        assert checkpoint(writer)
        assert 5000 <= writer.execute("pragma busy_timeout").fetchone()[0]
        alone = path.with_name("alone.db")
        alone.write_bytes(path.read_bytes())
        with closing(sqlite3.connect(alone)) as copy:
            assert 2 == count(copy)


def test_side_files_are_private(path: Path) -> None:
    """A store that others could read is closed to them when it is written. Spec: D16."""
    path.chmod(0o644)
    add(path, "a")
    assert 0 == path.stat().st_mode & 0o077


def test_a_store_on_read_only_media_is_read() -> None:
    """Where no file can be made beside it, a store without a log is read; a current one needs no upgrade."""
    with folder_for_all() as folder:
        program = Program(folder / "program")
        (place := folder / "media").mkdir(0o755)
        path = place / "index.db"
        ensure(path)
        add(path, "a")
        with closing(open_store(path, write=True)) as writer:
            checkpoint(writer)
        assert ["index.db"] == os.listdir(place)
        path.chmod(0o444)
        place.chmod(0o555)
        read = "drop_root()\nprint(ensure(path), *open_store(path).execute('select count(*) from store_facts'))"
        assert "False (2,)" == program.run(read, path)
        write = "drop_root()\nwith transaction(open_store(path, write=True)): pass"
        said = program.run(write, path)
        place.chmod(0o755)
        assert "CrustsError" in said
        assert "cannot be" in said


def test_a_log_that_cannot_be_read_is_not_passed_over() -> None:
    """A log beside the file may hold the newest rows: without it the answer would be wrong."""
    with folder_for_all() as folder:
        program = Program(folder / "program")
        path = folder / "index.db"
        ensure(path)
        with closing(open_store(path, write=True)) as writer:
            with transaction(writer):
                writer.execute(ADD, ("a", ""))
            lone = folder / "lone"
            lone.mkdir()
            for side in ("", "-wal"):
                (lone / f"index.db{side}").write_bytes((folder / f"index.db{side}").read_bytes())
                (lone / f"index.db{side}").chmod(0o444)
        lone.chmod(0o555)
        said = program.run("drop_root()\nopen_store(path)", lone / "index.db")
        lone.chmod(0o755)
        assert said.startswith("CrustsError: ")
        assert 1 == len(said.splitlines())


COUNTED = """
import sys
from crusts_index.__main__ import main
opened = []
sys.addaudithook(lambda event, args: opened.append(args) if event == "sqlite3.connect" else None)
code = main(["index"])
print(len(opened), file=sys.stderr)
sys.exit(code)
"""


def openings(folder: ClaudeFolder, tmp_path: Path) -> int:
    """How often an index opens a database: each time the whole schema is parsed."""
    environment = {**os.environ, "CRUSTS_HOME": str(tmp_path / "home"), "CLAUDE_CONFIG_DIR": str(folder.config)}
    done = subprocess.run([sys.executable, "-c", COUNTED], env=environment, capture_output=True, text=True, check=True)
    return int(done.stderr)


def test_an_index_opens_its_store_once(tmp_path: Path) -> None:
    """Also where it reads, learns prices and fits; what is missing or of other views is made first."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("go")
    t.response("one")
    t.write()
    assert 1 < openings(folder, tmp_path)
    assert 1 == openings(folder, tmp_path)
    t.response("two")
    t.write()
    assert 1 == openings(folder, tmp_path)
    store = tmp_path / "home" / "index.db"
    with closing(sqlite3.connect(store)) as other, other:
        other.execute("drop view calls")
        other.execute("update store_facts set value = 'x' || value where name = 'views'")
    assert 1 < openings(folder, tmp_path)
    assert 1 == openings(folder, tmp_path)
    with closing(open_store(store)) as reader:
        assert 2 == reader.execute("select count(*) from calls").fetchone()[0]


def test_a_killed_upgrade_s_copy_is_cleared_before_the_store_is_opened(tmp_path: Path) -> None:
    """Half a copy goes only while nobody writes: not this run either."""
    folder = ClaudeFolder(tmp_path)
    openings(folder, tmp_path)
    half = tmp_path / "home" / "index.db.0001.bak.new"
    half.touch()
    openings(folder, tmp_path)
    assert not half.exists()


def test_a_store_behind_a_file_is_told_as_every_other(tmp_path: Path) -> None:
    """What stands in its way is said with what to do, not as the system has it."""
    (tmp_path / "file").touch()
    with pytest.raises(CrustsError, match=r"^the store at .* cannot be read: Not a directory; name another with --db$"):
        ensure(tmp_path / "file" / "index.db")
