"""`crusts search`: what is found, and by which words and filters."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.store.matches import find, match_of
from crusts_index.store.open import open_store
from crusts_index.store.search import search_path, update
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import read
from tests.profiles import examples
from tests.search import OTHER, previews, search, with_lanterns


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A transcript with the word `lantern` in each place, written."""
    return with_lanterns(folder)


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
