"""Full disks, closed folders, stores that are newer, noise or damaged: one line, exit 1, nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.builders import ClaudeFolder, Outcome, Transcript
from tests.picture import ask, assert_same, assert_sound, index, new_store, one, picture
from tests.program import folder_for_all
from tests.test_lifecycle import run_twice

pytestmark = [pytest.mark.process, pytest.mark.long]

OTHER = "5e551001-0000-4000-8000-000000000002"


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A home with one transcript in it."""
    folder = ClaudeFolder(tmp_path)
    grow(folder.main(), 3).write()
    return folder


@pytest.fixture
def indexed(folder: ClaudeFolder) -> Path:
    """Its store, made by the command, with weights as a clean run has them."""
    keep_weights(folder)
    assert 0 == folder.crusts("index").code
    return folder.home / ".claude-crusts" / "index.db"


def keep_weights(folder: ClaudeFolder) -> None:
    """Have the command weigh as a clean run does."""
    home = folder.home / ".claude-crusts"
    home.mkdir(mode=0o700)
    (home / "config.json").write_text('{"fitWeights": false}')


def grow(t: Transcript, turns: int) -> Transcript:
    """Turns with commands and answers of about 2 KB that the store keeps."""
    for turn in range(turns):
        t.prompt("a long question " * 60)
        t.bash(f"echo {turn}", "x" * 300, context=1_000 + turn)
        t.response("a long answer " * 60, context=2_000 + turn)
    return t


def assert_one_line(done: Outcome, *words: str) -> None:
    """Exit 1, and one line on stderr that holds the words; nothing on stdout."""
    assert (1, "") == (done.code, done.out), done.err
    (line,) = done.err.splitlines()
    assert line.startswith("crusts: ")
    assert all(word in line for word in words), line


def assert_ends_as_clean(folder: ClaudeFolder, db: Path) -> None:
    """With the obstacle gone, one more run ends as a clean one."""
    done = folder.crusts("index", "--db", str(db))
    assert (0, "") == (done.code, done.err)
    assert_sound(db)
    clean = new_store(folder.home, "clean.db")
    index(clean, folder.config)
    assert_same(picture(clean), picture(db))


# ---------------------------------------------------------------- no space


def limited(folder: ClaudeFolder, size: int, *args: str) -> Outcome:
    """Run the command with a limit on the size of the files it writes."""
    done = subprocess.run(
        [sys.executable, "-m", "crusts_index", *args],
        capture_output=True,
        text=True,
        cwd=folder.home,
        env=folder.env(),
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_files_that_may_not_grow(folder: ClaudeFolder, indexed: Path) -> None:
    """The new transcript does not fit: what was in the store stays, and goes on when there is room."""
    before = picture(indexed)
    grow(folder.main(OTHER), 300).write()
    assert_one_line(limited(folder, indexed.stat().st_size + 60_000, "index"), str(indexed))
    assert_sound(indexed)
    assert before["records"] == picture(indexed)["records"]
    assert_ends_as_clean(folder, indexed)


@pytest.mark.parametrize("size", [0, 4_096, 100_000])
def test_a_store_that_cannot_even_be_laid(folder: ClaudeFolder, size: int) -> None:
    """No room for the tables: one line; with room the next run begins anew."""
    db = folder.home / ".claude-crusts" / "index.db"
    assert_one_line(limited(folder, size, "index"), str(db))
    assert_ends_as_clean(folder, db)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """A disk of that size at a place; skipped where none can be mounted."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here; the limit on file sizes stands for it")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True, capture_output=True)


def test_a_full_disk(folder: ClaudeFolder) -> None:
    """A disk of 2 MB fills up in the middle of a run: one line, and what is committed stays."""
    keep_weights(folder)
    with small_disk(folder.home / "disk", "2m"):
        db = folder.home / "disk" / "index.db"
        assert 0 == folder.crusts("index", "--db", str(db)).code
        before = picture(db)
        filler = folder.home / "disk" / "filler"
        filler.write_bytes(b"x" * 900_000)
        grow(folder.main(OTHER), 400).write()
        assert_one_line(folder.crusts("index", "--db", str(db)), str(db))
        assert before["records"] == picture(db)["records"]
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", str(db.parent)], check=True)
        assert_ends_as_clean(folder, db)


# ---------------------------------------------------------------- closed and misplaced


def test_a_folder_that_may_not_be_written() -> None:
    """The store's folder is closed and there is something new: one line that says so, the store as it was."""
    with folder_for_all() as home:
        folder = ClaudeFolder(home)
        t = grow(folder.main(), 2)
        path = t.write()
        store = home / ".claude-crusts"
        more = grow(folder.main(OTHER), 2)
        between = f"open({str(path)!r}, 'ab').write({more.data()!r})\n"
        between += f"os.chmod({str(store / 'index.db')!r}, 0o444); os.chmod({str(store)!r}, 0o555)"
        done = run_twice(folder, between)
        store.chmod(0o755)
        out = done.stdout.splitlines()[1:]
        assert_one_line(Outcome(done.returncode, "\n".join(out), done.stderr), str(store))
        assert 8 == one(store / "index.db", "select count(*) from records")


@pytest.mark.parametrize("place", ["file/index.db", "file/below/index.db", "folder"])
def test_a_place_where_no_store_can_be(folder: ClaudeFolder, place: str) -> None:
    """A file where a folder should be, or a folder where the store should be."""
    (folder.home / "file").write_text("precious")
    (folder.home / "folder").mkdir()
    assert_one_line(folder.crusts("index", "--db", str(folder.home / place)), str(folder.home / place))
    assert "precious" == (folder.home / "file").read_text()


# ---------------------------------------------------------------- newer, noise, damaged


def test_a_store_from_the_future(folder: ClaudeFolder, indexed: Path) -> None:
    """A newer crusts wrote it: one line that says so, and not a byte changed."""
    with closing(sqlite3.connect(indexed)) as store, store:
        store.execute("update alembic_version set version_num = '9000'")
    before = indexed.read_bytes()
    for command in (["index"], ["index", "--rebuild"], ["index", "--jobs", "2"]):
        assert_one_line(folder.crusts(*command), str(indexed), "newer", "9000")
    assert before == indexed.read_bytes()


@pytest.mark.parametrize("size", [1, 100, 4_096, 300_000])
def test_a_store_overwritten_with_noise(folder: ClaudeFolder, indexed: Path, size: int) -> None:
    """It is no SQLite file any more: one line that names it, and not a byte changed."""
    noise = bytes((place * 7 + place // 251) % 256 for place in range(size))
    for side in ("-wal", "-shm"):
        Path(f"{indexed}{side}").unlink(missing_ok=True)
    indexed.write_bytes(noise)
    assert_one_line(folder.crusts("index"), str(indexed))
    assert noise == indexed.read_bytes()


def test_pages_overwritten(folder: ClaudeFolder, indexed: Path) -> None:
    """All pages but the first are noise: one line that says it is damaged; the file is still there."""
    with indexed.open("r+b") as file:
        size = indexed.stat().st_size
        file.seek(4_096)
        file.write(b"\xa5" * (size - 4_096))
    grow(folder.main(OTHER), 2).write()
    assert_one_line(folder.crusts("index"), str(indexed), "damaged")
    assert size == indexed.stat().st_size


@pytest.mark.parametrize(
    "table", ["stored_records", "stored_responses", "stored_calls", "transcripts", "stored_tool_uses"]
)
def test_one_table_damaged(folder: ClaudeFolder, indexed: Path, table: str) -> None:
    """The root page of one table is noise: one line and exit 1 when it is met, and never a traceback."""
    (page,) = ask(indexed, "select rootpage from sqlite_master where name = ?", table)[0]
    with indexed.open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(b"\xa5" * 4_096)
    grow(folder.main(), 5).write()
    assert_one_line(folder.crusts("index"), str(indexed), "damaged")
    assert indexed.exists()


def test_a_store_whose_upgrade_was_killed(folder: ClaudeFolder, indexed: Path) -> None:
    """Half-written pages and the journal that takes them back, as a kill leaves them: taken back, then as ever."""
    left = folder.home / "left" / "index.db"
    left.parent.mkdir()
    with closing(sqlite3.connect(indexed, isolation_level=None)) as store:
        store.execute("pragma journal_mode = delete")
        store.execute("pragma cache_size = 1")  # so that pages are written before the end
        store.execute("begin immediate")
        tables = store.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
        for (table,) in tables.fetchall():
            store.execute(f"drop table {table}")
        store.execute("create table half (done)")
        store.executemany("insert into half values (?)", [("x" * 3_000,)] * 200)
        for side in ("", "-journal"):
            shutil.copy(f"{indexed}{side}", f"{left}{side}")
        store.execute("rollback")
    assert os.path.getsize(f"{left}-journal")
    assert b"x" * 3_000 in left.read_bytes()
    assert_ends_as_clean(folder, left)


def test_a_hook_never_fails(folder: ClaudeFolder, indexed: Path) -> None:
    """Whatever is wrong with the store, `index --hook` exits 0."""
    indexed.write_bytes(b"noise" * 1_000)
    path = folder.main().path
    done = folder.crusts("index", "--hook", stdin=f'{{"transcript_path": "{path}"}}')
    assert (0, "") == (done.code, done.out)
    assert len(done.err.splitlines()) <= 1


def test_transcripts_are_never_written(folder: ClaudeFolder, indexed: Path) -> None:
    """What is read is only read: names, bytes and times under the config folder stay as they are."""
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.config.rglob("*") if path.is_file()}
    folder.crusts("index", "--rebuild")
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.config.rglob("*") if path.is_file()}
    assert before == after
    assert os.listdir(folder.config) == ["projects"]
    assert indexed.exists()
