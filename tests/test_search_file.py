"""The search file: who makes it and when, how it keeps up with the store, and what may stand in its place."""

from __future__ import annotations

import os
import pty
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crusts_index.store.search import search_path
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask
from tests.program import ROOT
from tests.search import OTHER, db_of, matching, previews, search, search_db, with_lanterns


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A transcript with the word `lantern` in each place, written."""
    return with_lanterns(folder)


# ---------------------------------------------------------------- who makes it


def test_until_somebody_searches_there_is_none(folder: ClaudeFolder, t: Transcript) -> None:
    """No run of the index makes it, nor a report; the first search does, and says nothing of it in a pipe."""
    payload = f'{{"session_id": "{SESSION}", "transcript_path": "{t.path}"}}'
    for args in (("index",), ("index", "--hook"), ("list",), ("index", "--rebuild"), ("doctor", "--fix")):
        folder.crusts(*args, stdin=payload)
        assert not search_db(folder).exists(), args
    checks = {check["name"]: check["detail"] for check in folder.crusts("doctor", "--json").json()["checks"]}
    assert "none yet: the first `crusts search` makes it" in checks.values()
    done = folder.crusts("search", "lantern")
    assert (0, "") == (done.code, done.err)
    assert search_db(folder).exists()


def test_an_index_without_one_imports_nothing_of_it(folder: ClaudeFolder, t: Transcript) -> None:
    """Neither the file's code nor what parts texts into words costs a run anything."""
    code = "import sys; from crusts_index.__main__ import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "print(sorted(name for name in sys.modules if name.startswith('crusts_index.store.')))"
    done = subprocess.run(
        [sys.executable, "-c", code, "index"], env=folder.env(), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "1 of 1 transcripts read" in done.stdout
    assert "crusts_index.store.search'" not in done.stdout
    assert "crusts_index.store.search_file'" not in done.stdout


_TELL = """
import time
from crusts_index.cli.progress import WORTH_SECONDS, show_progress
with show_progress("making the search file", quiet=False) as tell:
    tell(1_000_000, 9_000_000)
    time.sleep({})
    tell(2_000_000, 9_000_000)
    time.sleep(0.3)
"""


@pytest.mark.long
@pytest.mark.parametrize(("seconds", "shown"), [("WORTH_SECONDS / 5", False), ("WORTH_SECONDS", True)])
def test_a_person_sees_how_far_it_is(seconds: str, shown: bool) -> None:
    """A bar at a terminal, for what takes more than a second."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", _TELL.format(seconds)])
    said = b""
    try:
        while piece := os.read(terminal, 4096):
            said += piece
    except OSError:  # the terminal's other end is closed
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    assert shown == (b"making the search file" in said)
    assert shown == (b"2.0/9.0 MB" in said), said


@pytest.mark.long
def test_one_that_was_killed_is_gone_on_with(folder: ClaudeFolder) -> None:
    """Whenever the first search is killed: the next one finds every text, and has each of them once."""
    for hour in range(12):
        long = folder.main(f"5e551001-0000-4000-8000-{hour:012d}", start=datetime(2026, 10, 5, hour, tzinfo=UTC))
        for number in range(40):
            long.prompt(f"needle{number} " + "hay " * 15_000)
        long.write()
    assert 0 == folder.crusts("index").code
    command = [sys.executable, "-m", "crusts_index", "--no-index", "search", "needle39", "--json"]
    for delay in (0.15, 0.25, 0.35, 0.5, 0.8):
        process = subprocess.Popen(command, env=folder.env(), cwd=ROOT, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 12 == folder.crusts("search", "needle39", "--json").json()["total"]
    assert 480 == len(set(matching(folder, "hay")))
    assert 480 == len(matching(folder, "hay"))


# ---------------------------------------------------------------- keeping up


def test_an_append_is_taken_and_the_rest_left(folder: ClaudeFolder, t: Transcript) -> None:
    """Once there, it is brought up to date by a plain `index` and by `search`; a hook leaves it to them."""
    assert 6 == len(search(folder, "lantern"))
    before = matching(folder, "lantern")
    t.prompt("a second lantern")
    t.append()
    assert 0 == folder.crusts("index").code
    after = matching(folder, "lantern")
    assert (before, 1) == (after[:6], len(after[6:]))
    t.prompt("a third lantern")
    t.append()
    payload = f'{{"session_id": "{SESSION}", "transcript_path": "{t.path}"}}'
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    assert after == matching(folder, "lantern")
    assert 0 == folder.crusts("index").code
    assert 8 == len(matching(folder, "lantern"))
    t.prompt("a fourth lantern")
    t.append()
    assert ["a fourth lantern", "a third lantern"] == previews(folder, "lantern", "--limit", "2")


def test_it_holds_no_text(folder: ClaudeFolder, t: Transcript) -> None:
    """Words and their places alone: what is shown of a hit is the store's."""
    assert 6 == len(search(folder, "lantern"))
    assert [(None,)] == ask(search_db(folder), "select distinct text from words where words match 'lantern'")
    with closing(sqlite3.connect(db_of(folder))) as store, store:
        store.execute("update texts set text = 'hang a lantern here' where text = 'hang the lantern'")
    assert ["hang a lantern here"] == previews(folder, "hang", "lantern", "--no-index")


@pytest.mark.parametrize("by", ["index", "search"])
def test_words_of_what_is_no_more_leave_it(folder: ClaudeFolder, t: Transcript, by: str) -> None:
    """A transcript that was rewritten takes its words along, from every page; all others are found as before."""
    other = folder.main(OTHER)
    other.prompt("only this candlestick")
    other.write()
    t.prompt("the secret zanzibar")
    t.append()
    assert 1 == len(search(folder, "zanzibar"))
    assert b"anzibar" in search_db(folder).read_bytes()
    t.pieces = t.pieces[:4]
    t.write()
    assert 0 == folder.crusts(*{"index": ["index"], "search": ["search", "candlestick"]}[by]).code
    assert b"anzibar" not in search_db(folder).read_bytes()
    assert ([], 1) == (matching(folder, "zanzibar"), len(matching(folder, "candlestick")))
    assert ["only this candlestick"] == previews(folder, "candlestick")


def test_a_file_that_is_behind_shows_nothing_that_is_no_more(folder: ClaudeFolder, t: Transcript) -> None:
    """While another process has the search file, a text that is another now is not shown as what it was."""
    assert 6 == len(search(folder, "lantern"))
    assert t.path is not None
    t.path.write_bytes(t.data().replace(b"hang the lantern", b"hang the curtain"))
    os.utime(t.path, (1_790_000_000, 1_790_000_000))
    with locked(search_db(folder)):
        done = folder.crusts("search", "--json", "lantern").json()
        assert (5, 5) == (len(done["hits"]), done["total"])
        assert [] == folder.crusts("search", "--json", "curtain").json()["hits"]
    assert ["hang the curtain"] == previews(folder, "curtain")


_OLDER = """
create virtual table words using fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
create table marks (transcript_id integer primary key, stamp text not null, last integer not null,
  texts integer not null, checksum integer not null);
insert into words (rowid, text) values (1, 'an old zanzibar');
pragma application_id = 1668445555;
pragma user_version = 1;
"""


@pytest.fixture
def older(folder: ClaudeFolder, t: Transcript) -> Path:
    """A search file as older versions made it, texts and all, at every index."""
    assert 0 == folder.crusts("index").code
    with closing(sqlite3.connect(search_db(folder))) as file:
        file.execute("pragma journal_mode = wal")
        file.executescript(_OLDER)
    return search_db(folder)


def test_one_of_an_older_layout_goes(folder: ClaudeFolder, t: Transcript, older: Path) -> None:
    """The next index that reads something takes it away, for it was made unasked; a search makes another."""
    t.prompt("a second lantern")
    t.append()
    assert 0 == folder.crusts("index").code
    assert not older.exists()
    assert 7 == len(search(folder, "lantern"))


def test_a_search_makes_one_of_an_older_layout_again(folder: ClaudeFolder, older: Path) -> None:
    """And nothing of the old one stays."""
    assert ([], 6) == (search(folder, "zanzibar"), len(search(folder, "lantern")))
    assert b"anzibar" not in older.read_bytes()


@pytest.mark.parametrize("how", ["forget", "keepText", "search"])
def test_what_is_to_be_nowhere_leaves_an_older_one_too(folder: ClaudeFolder, older: Path, how: str) -> None:
    """A session that is forgotten, text that may not be kept, a search file that is not wanted."""
    if how == "forget":
        assert 0 == folder.crusts("forget", SESSION, "--yes").code
    else:
        (older.parent / "config.json").write_text(f'{{"{how}": false}}')
        assert 0 == folder.crusts("index").code
    assert not older.exists()


def test_after_a_session_was_forgotten_it_is_made_again(folder: ClaudeFolder, t: Transcript) -> None:
    """Words alone do not tell whose they are, so all of them go; the next search takes those of the others."""
    other = folder.main(OTHER)
    other.prompt("only this lantern")
    other.write()
    assert 7 == len(search(folder, "lantern"))
    assert 0 == folder.crusts("forget", SESSION, "--yes").code
    assert not search_db(folder).exists()
    assert ["only this lantern"] == previews(folder, "lantern")


@pytest.mark.parametrize("how", ["in place, same size", "shorter", "longer"])
def test_a_rewritten_transcript_is_taken_anew(folder: ClaudeFolder, t: Transcript, how: str) -> None:
    """Its blocks have the ids they had, but the texts are others: what was there is not found any more."""
    assert 6 == len(search(folder, "lantern"))
    assert t.path is not None
    data = t.data().replace(b"hang the lantern", b"hang the curtain")
    if how == "shorter":
        data = b"".join(data.splitlines(keepends=True)[:1])
    if how == "longer":
        data = data.replace(b"the lantern hangs", b"the lantern hangs in the hall")
    t.path.write_bytes(data)
    os.utime(t.path, (1_790_000_000, 1_790_000_000))
    assert ["hang the curtain"] == previews(folder, "curtain")
    assert [] == previews(folder, "hang", "lantern")
    assert {"in place, same size": 5, "shorter": 0, "longer": 5}[how] == len(search(folder, "lantern"))


def test_a_gone_transcript_is_still_searched(folder: ClaudeFolder, t: Transcript) -> None:
    """Claude Code deletes transcripts after a month; what was said is still found."""
    other = folder.main(OTHER)
    other.prompt("hello")
    other.write()
    assert 0 == folder.crusts("index").code
    assert t.path is not None
    t.path.unlink()
    hits = search(folder, "lantern")
    assert [True] * 6 == [hit["gone"] for hit in hits]
    done = folder.crusts("search", "hang", "lantern")
    assert "5e551001*" in done.out
    assert "gone from disk" in done.out


def test_another_store_has_another_search_file(folder: ClaudeFolder, t: Transcript) -> None:
    """Two stores in one folder do not share one."""
    home = search_db(folder).parent
    assert 6 == len(search(folder, "lantern", "--db", str(home / "work.db")))
    assert str(home / "work.search.db") == search_path(str(home / "work.db"))
    assert (home / "work.search.db").exists()
    assert not search_db(folder).exists()


def test_a_store_made_anew_is_searched_anew(folder: ClaudeFolder, t: Transcript) -> None:
    """A search file of a store that was moved away is brought in line with the new one."""
    assert 6 == len(search(folder, "lantern"))
    for path in search_db(folder).parent.glob("index.db*"):
        path.unlink()
    assert t.path is not None
    t.path.unlink()
    other = folder.main(OTHER)
    other.prompt("only this lantern")
    other.write()
    assert ["only this lantern"] == previews(folder, "lantern")


@pytest.mark.parametrize("damage", ["missing", "empty", "garbage", "inner pages", "no table", "old layout"])
def test_a_search_file_that_is_damaged_is_made_anew(folder: ClaudeFolder, t: Transcript, damage: str) -> None:
    """It holds nothing that the store lacks."""
    assert 6 == len(search(folder, "lantern"))
    path = search_db(folder)
    with closing(sqlite3.connect(path)) as file:
        file.execute("pragma journal_mode = delete")
        if damage == "no table":
            file.execute("drop table words")
        if damage == "old layout":
            file.execute("pragma user_version = 0")
        file.commit()
    if damage == "missing":
        path.unlink()
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "garbage":
        path.write_bytes(b"no database " * 1000)
    elif damage == "inner pages":
        data = bytearray(path.read_bytes())
        for start in range(8192, len(data), 4096):
            data[start : start + 4096] = b"\xff" * 4096
        path.write_bytes(data)
    done = folder.crusts("search", "--json", "lantern")
    assert 6 == len(done.json()["hits"]), done.err


def test_a_database_of_another_program_is_left_alone(folder: ClaudeFolder, t: Transcript) -> None:
    """A file that happens to have the name is not ours to change: one line, and `index` goes on."""
    path = search_db(folder)
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as file:
        file.execute("create table recipes (name)")
        file.commit()
    before = path.read_bytes()
    done = folder.crusts("search", "lantern")
    assert (1, 0) == (done.code, folder.crusts("index").code)
    assert "database of another program" in done.err
    with closing(sqlite3.connect(path)) as file:
        assert [("recipes",)] == file.execute("select name from sqlite_master").fetchall()
    assert len(before) <= path.stat().st_size


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program that writes to the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        yield


@pytest.mark.long
@pytest.mark.process
def test_a_search_file_in_use_answers_as_it_is(folder: ClaudeFolder, t: Transcript) -> None:
    """While another process brings it up to date, what is there is searched, and that is said."""
    assert 6 == len(search(folder, "lantern"))
    t.prompt("a second lantern")
    t.append()
    with locked(search_db(folder)):
        assert 0 == folder.crusts("index").code
        done = folder.crusts("search", "--json", "lantern")
    assert 6 == len(done.json()["hits"])
    assert "another crusts is bringing the search file up to date" in done.err
    assert 7 == len(search(folder, "lantern"))


def test_opting_out(folder: ClaudeFolder, t: Transcript) -> None:
    """`"search": false`: no file is made, one that is there goes, and `search` says why it cannot."""
    assert 6 == len(search(folder, "lantern"))
    (search_db(folder).parent / "config.json").write_text('{"search": false}')
    assert 0 == folder.crusts("index").code
    assert not search_db(folder).exists()
    done = folder.crusts("search", "lantern")
    assert 1 == done.code
    assert '"search": false' in done.err


def test_without_text_it_says_so(folder: ClaudeFolder, t: Transcript) -> None:
    """`"keepText": false` leaves nothing to be searched, and that is said."""
    home = search_db(folder).parent
    home.mkdir()
    (home / "config.json").write_text('{"keepText": false}')
    done = folder.crusts("search", "hang")
    assert (0, True) == (done.code, "keepText is not true" in done.err)
    assert "Nothing found for 'hang'.\n" == done.out
    assert [] == ask(home / "index.db", "select * from texts")


def test_the_file_is_its_owners_alone(folder: ClaudeFolder, t: Transcript) -> None:
    """Mode 0600, whatever the mask."""
    old = os.umask(0)
    try:
        assert 6 == len(search(folder, "lantern"))
    finally:
        os.umask(old)
    assert search_db(folder).exists()
    for path in search_db(folder).parent.glob("search.db*"):
        assert 0o600 == stat.S_IMODE(path.stat().st_mode)


@pytest.mark.long
def test_much_text_is_taken_in_several_transactions(folder: ClaudeFolder) -> None:
    """All of it is found."""
    for hour, session in enumerate((SESSION, OTHER)):
        long = folder.main(session, start=datetime(2026, 10, 5, hour, tzinfo=UTC))
        for number in range(150):
            long.prompt(f"needle{number} " + "hay " * 15_000)
        long.write()
    assert 0 == folder.crusts("index").code
    assert 2 == folder.crusts("search", "needle149", "--json").json()["total"]
    assert 300 == folder.crusts("search", "needle*", "--json").json()["total"]


def test_another_programs_file_keeps_every_byte(tmp_path: Path) -> None:
    """A search.db of another program is refused and left as it was."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("hello there")
    t.response("hi", context=1_000)
    t.write()
    folder.crusts("index")
    path = search_db(folder)
    with closing(sqlite3.connect(path)) as other:
        other.execute("create table theirs (a)")
    before = path.read_bytes()
    refused = folder.crusts("search", "hello")
    assert 1 == refused.code
    assert 1 == len(refused.err.strip().splitlines())
    assert before == path.read_bytes()
