"""`crusts search`: what is found, by which words and filters, and how the search file keeps up with the store."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.store.matches import find, match_of
from crusts_index.store.open import open_store
from crusts_index.store.search import search_path, update
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask, read
from tests.profiles import examples

OTHER = "5e551001-0000-4000-8000-000000000002"


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A transcript with the word `lantern` in each place, written."""
    t = folder.main()
    t.prompt("hang the lantern")
    t.response("the lantern hangs", context=1000)
    t.bash("light lantern", "a lantern burns", context=1100)
    t.read("/home/ada/lantern.py", "lantern = 1", context=1200)
    t.call("Task", {"subagent_type": "Explore", "prompt": "find the lantern"}, context=1300)
    t.boundary()
    t.summary("So far the lantern hung.")
    t.prompt("<command-name>/lantern</command-name>")
    t.write()
    return t


def search(folder: ClaudeFolder, *args: str) -> list[dict[str, Any]]:
    """The hits."""
    hits: list[dict[str, Any]] = folder.crusts("search", "--json", *args).json()["hits"]
    return hits


def previews(folder: ClaudeFolder, *args: str) -> list[str]:
    """What the hits show, the latest first."""
    return [hit["preview"] for hit in search(folder, *args)]


def search_db(folder: ClaudeFolder) -> Path:
    """The search file."""
    return folder.home / ".claude-crusts" / "search.db"


# ---------------------------------------------------------------- what is searched


def test_prompts_answers_summaries_and_tool_uses(folder: ClaudeFolder, t: Transcript) -> None:
    """These and nothing else: no results, no wrappers; each with its message's number and its role."""
    found = [(hit["message"], hit["role"], hit["tool"], hit["preview"]) for hit in search(folder, "lantern")]
    assert [
        (9, "summary", None, "So far the lantern hung."),
        (7, "tool", "Task", found[1][3]),
        (5, "tool", "Read", "/home/ada/lantern.py"),
        (3, "tool", "Bash", "light lantern"),
        (2, "answer", None, "the lantern hangs"),
        (1, "prompt", None, "hang the lantern"),
    ] == found
    assert "lantern" in found[1][3]


def test_a_hit_says_where_and_when(folder: ClaudeFolder, t: Transcript) -> None:
    """Full session id, project, time in UTC, the match's place in the preview."""
    hit = search(folder, "hang the")[-1]
    assert {
        "session": SESSION,
        "project": "/home/ada/site",
        "message": 1,
        "agent": "main",
        "time": "2026-10-05T09:00:00.000Z",
        "role": "prompt",
        "tool": None,
        "preview": "hang the lantern",
        "copies": 0,
        "gone": False,
        "matches": [[0, 4], [5, 8]],
    } == hit


def test_the_text_form_marks_the_match(folder: ClaudeFolder, t: Transcript) -> None:
    """Session, number, time, role, preview; a line a hit, and how many more there are."""
    out = folder.crusts("search", "hang", "lantern").out
    assert "5e551001  #1  2026-10-05 09:00  prompt  **hang** the **lantern**\n" == out
    assert "+ 5 more: --limit N shows N\n" in folder.crusts("search", "lantern", "--limit", "1").out


def test_a_narrow_terminal_shows_the_match(folder: ClaudeFolder) -> None:
    """The preview is cut so that the match is seen, and no line is wider than the terminal."""
    t = folder.main()
    t.prompt("word " * 8 + "needle " + "word " * 8)
    t.write()
    out = folder.crusts("search", "needle", COLUMNS="72").out
    assert "**needle**" in out
    assert 72 >= max(map(len, out.splitlines()))


def test_control_characters_do_not_reach_the_terminal(folder: ClaudeFolder) -> None:
    """A transcript's escape sequences and bidi marks are stripped, in text and JSON."""
    t = folder.main()
    t.prompt("evil \x1b]0;title\x07\x1b[31mlantern\u202e red")
    t.write()
    done = folder.crusts("search", "lantern")
    assert "evil **lantern** red" in done.out
    assert not any(character in done.out for character in "\x1b\x07\u202e")
    assert ["evil lantern red"] == previews(folder, "lantern")


def test_filters(folder: ClaudeFolder, t: Transcript) -> None:
    """By role, tool, server, session, project and time, alone and together."""
    other = folder.main(OTHER, project="/home/ada/Shop", start=datetime(2026, 11, 1, 12, tzinfo=UTC))
    other.prompt("lantern again")
    other.call("mcp__lamps__switch", {"command": "lantern off"}, context=900)
    other.write()
    assert 2 == len(search(folder, "lantern", "--session", "5e551001-0000-4000-8000-000000000002"))
    assert ["lantern again"] == previews(folder, "lantern", "--project", "shop", "--role", "prompt")
    assert ["lantern off"] == previews(folder, "lantern", "--tool", "LAMPS")
    assert ["light lantern"] == previews(folder, "lantern", "--tool", "bash")
    assert 6 == len(search(folder, "lantern", "--until", "2026-10-31"))
    assert 2 == len(search(folder, "lantern", "--since", "2026-10-31"))
    assert [] == search(folder, "lantern", "--tool", "bash", "--role", "prompt")
    assert 2 == folder.crusts("search", "lantern", "--role", "nobody").code
    assert 1 == folder.crusts("search", "lantern", "--session", "ffff").code
    assert 3 == len(search(folder, "lantern", "--limit", "3"))


def test_numbers_run_on_over_the_parts_of_a_session(folder: ClaudeFolder) -> None:
    """The number is the one that every other command uses."""
    first, second = folder.main(), folder.main()
    first.prompt("one")
    first.response("two", context=10)
    first.write()
    second.ids.seed(1)
    second.path = folder.project_folder("/home/ada/later") / f"{SESSION}.jsonl"
    second.clock.now += timedelta(hours=1)
    second.prompt("three lanterns")
    second.write()
    assert [3] == [hit["message"] for hit in search(folder, "lanterns")]


def test_a_subagent_is_named(folder: ClaudeFolder) -> None:
    """A hit in a subagent's thread has that thread's number and the agent's type."""
    agent = folder.subagent(meta={"agentType": "Explore"})
    agent.prompt("look for the lantern")
    agent.write()
    folder.main().write()
    assert [("Explore", 1, SESSION)] == [
        (hit["agent"], hit["message"], hit["session"]) for hit in search(folder, "lantern")
    ]


def test_copies_are_shown_once(folder: ClaudeFolder, t: Transcript) -> None:
    """What a fork copied is the same at the same time: one hit, which counts the others."""
    fork = folder.main(OTHER)
    fork.copy(t.lines()[:2], forked=True)
    fork.write()
    assert [(SESSION, 1)] == [(hit["session"], hit["copies"]) for hit in search(folder, "hang", "lantern")]
    assert [OTHER] == [hit["session"] for hit in search(folder, "hang", "lantern", "--session", OTHER)]


# ---------------------------------------------------------------- words


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one prompt, and its search file."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("said"))
    t = folder.main()
    t.prompt("why is the slow build in src/build.py so slow? parse_when, the café, 修复数据库连接 \x1b[31mred")
    db = read(folder, t)
    with closing(open_store(db)) as store:
        assert update(store, search_path(str(db)))
    return db


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("red", True),
        ("build", True),
        ("BUILD", True),
        ("buil", False),
        ("buil*", True),
        ("slow build", True),
        ('"build slow"', False),
        ('"slow build', True),
        ('"slow bui"*', True),
        ("src/build.py", True),
        ("build.p", False),
        ("parse_when", True),
        ("cafe", True),
        ("Café", True),
        ("数据", True),
        ("据库", True),
        ("据数", False),
        ("build missing", False),
        ("OR build", False),
    ],
)
def test_words_phrases_and_beginnings(said: Path, typed: str, found: bool) -> None:
    """All words must occur, in any order and case; quotes make a phrase, a star a beginning; no other syntax."""
    match = match_of(typed)
    assert match is not None
    with closing(open_store(said)) as store:
        assert found == bool(find(store, search_path(str(said)), match))


def test_odd_syntax_is_no_error(folder: ClaudeFolder, t: Transcript) -> None:
    """Whatever is typed is looked for and never understood as a command to the index."""
    assert 0 == folder.crusts("index").code
    for typed in ('"', "NEAR(lantern) AND", "-text:lantern^", "''; drop table words"):
        done = folder.crusts("search", "--", typed)
        assert (0, "") == (done.code, done.err), typed


@pytest.fixture(scope="module")
def words() -> Iterator[sqlite3.Connection]:
    """An index with one text."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create virtual table words using fts5 (text)")
        connection.execute("insert into words values ('hang the lantern')")
        yield connection


@examples(400)
@given(typed=st.text(max_size=60) | st.text('ab"*^:()-+{}\\ \u4e00', max_size=30))
def test_any_text_is_a_query(words: sqlite3.Connection, typed: str) -> None:
    """No text makes FTS5 complain."""
    match = match_of(typed)
    if match is not None and "\0" not in match:
        words.execute("select * from words where words match ?", (match,)).fetchall()


def test_a_thousand_words_are_no_error(words: sqlite3.Connection) -> None:
    """Only so many words count."""
    match = match_of(" ".join(f"word{number}" for number in range(1000)))
    assert [] == words.execute("select * from words where words match ?", (match,)).fetchall()


# ---------------------------------------------------------------- keeping up


def test_an_append_is_taken_and_the_rest_left(folder: ClaudeFolder, t: Transcript) -> None:
    """Plain `index` and `search` both bring the file up to date."""
    assert 0 == folder.crusts("index").code
    with closing(sqlite3.connect(search_db(folder))) as file:
        before = file.execute("select rowid, text from words order by 1").fetchall()
    t.prompt("a second lantern")
    t.append()
    assert 0 == folder.crusts("index").code
    with closing(sqlite3.connect(search_db(folder))) as file:
        after = file.execute("select rowid, text from words order by 1").fetchall()
    assert [*before, (after[-1][0], "a second lantern")] == after
    t.prompt("a third lantern")
    t.append()
    assert ["a third lantern", "a second lantern"] == previews(folder, "lantern", "--limit", "2")


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
        assert 0 == folder.crusts("index").code
    finally:
        os.umask(old)
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
    path = Path(folder.env()["CRUSTS_HOME"]) / "search.db"
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("create table theirs (a)")
    before = path.read_bytes()
    refused = folder.crusts("search", "hello")
    assert 1 == refused.code
    assert 1 == len(refused.err.strip().splitlines())
    assert before == path.read_bytes()
