"""`crusts forget`: text and rows are gone for good, from every file of ours, and are not read in again (D16)."""

from __future__ import annotations

import os
import pty
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.builders import SESSION, ClaudeFolder, Outcome, Transcript, usage
from tests.picture import ask, assert_same, assert_sound, new_store, one, picture

OTHER = "5e551001-0000-4000-8000-000000000002"
THIRD = "5e551001-0000-4000-8000-000000000003"
PROMPT, ANSWER, COMMAND = "zanzibarquokka", "velociraptorwombat", "xylophonenarwhal"
SUMMARY, RESULT, THOUGHT = "marzipanaxolotl", "kumquatplatypus", "rhubarbpangolin"
SECRETS = (PROMPT, ANSWER, COMMAND, SUMMARY, RESULT, THOUGHT)


def secret(folder: ClaudeFolder, session: str = SESSION, **options: object) -> Transcript:
    """A transcript with a secret in each place whose text is kept."""
    t = folder.main(session, **options)  # type: ignore[arg-type]
    t.prompt(f"what is {PROMPT}? " + "some more words to fill a page. " * 400)
    t.response(
        {"type": "thinking", "thinking": THOUGHT, "signature": "s"}, f"It is {ANSWER}.", usage=usage(5, output=50)
    )
    t.bash(f"cat /srv/{COMMAND}.txt", f"{RESULT}\n" * 3, usage=usage(6, output=60))
    t.boundary()
    t.summary(f"So far: {SUMMARY}")
    t.prompt("go on")
    t.response("done", usage=usage(7, output=70))
    return t


def plain(folder: ClaudeFolder, session: str = OTHER, **options: object) -> Transcript:
    """A transcript without a secret."""
    t = folder.main(session, **options)  # type: ignore[arg-type]
    t.prompt("why is the build slow?")
    t.response("It walks the tree twice.", usage=usage(8, output=80))
    return t


def db_of(folder: ClaudeFolder) -> Path:
    """The store of the folder's command."""
    return folder.home / ".claude-crusts" / "index.db"


def indexed(folder: ClaudeFolder, *transcripts: Transcript) -> Path:
    """Write and index them by the command, with a search file."""
    for t in transcripts:
        t.write()
    assert 0 == folder.crusts("search", "anything").code
    assert (folder.home / ".claude-crusts" / "search.db").exists()
    return db_of(folder)


def forget(folder: ClaudeFolder, *args: str) -> Outcome:
    """Forget without a question; it must work."""
    done = folder.crusts("forget", *args, "--yes")
    assert 0 == done.code, done.err
    return done


def clean(folder: ClaudeFolder) -> Path:
    """Another store, made of what is on disk now."""
    db = folder.home / "clean" / "index.db"
    assert 0 == folder.crusts("index", "--db", str(db)).code
    return db


def kept_in(home: Path, *words: str) -> list[str]:
    """Files in our home whose raw bytes hold one of the words, whole or but for its first letters."""
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            # The search file's index leaves out the letters that a word shares with the one before it.
            found += [f"{path.name}: {word}" for word in words if word[3:].encode() in data]
    return found


def test_the_words_are_kept_before_and_nowhere_afterwards(folder: ClaudeFolder) -> None:
    """The raw bytes of every file in CRUSTS_HOME are searched: no text, no session id but the one remembered."""
    indexed(folder, secret(folder), plain(folder))
    home = folder.home / ".claude-crusts"
    assert set(SECRETS) == {line.split(": ")[1] for line in kept_in(home, *SECRETS)}
    assert any(line.startswith("search.db") for line in kept_in(home, *SECRETS))
    out = forget(folder, SESSION).out
    assert [] == kept_in(home, *SECRETS)
    assert out.startswith("Forgotten: 1 session, 1 transcript, ")
    assert [] == folder.crusts("search", PROMPT, "--json").json()["hits"]
    assert 1 == folder.crusts("search", "build", "--json").json()["total"]
    assert_sound(db_of(folder))


def test_what_is_left_is_as_if_it_had_never_been_there(folder: ClaudeFolder) -> None:
    """The store says what a store says that never saw the session: no row of it is left in any table or view."""
    db = indexed(folder, secret(folder, project="/home/ada/secret"), plain(folder))
    forget(folder, SESSION)
    shutil.rmtree(folder.project_folder("/home/ada/secret"))
    now, then = picture(db), picture(clean(folder))
    assert [(f"session_id={SESSION!r}",)] == [row[:1] for row in now.pop("forgotten")]
    assert [] == then.pop("forgotten")
    assert_same(now, then)


def test_a_forgotten_session_is_not_read_in_again(folder: ClaudeFolder) -> None:
    """Neither when its transcript grows, nor when it moves, nor by a hook that names it, nor by a rebuild."""
    t = secret(folder)
    db = indexed(folder, t, plain(folder))
    forget(folder, SESSION)
    t.prompt(PROMPT)
    t.append()
    assert t.path is not None
    moved = folder.project_folder("/home/ada/elsewhere") / t.path.name
    t.write(moved)
    agent = folder.subagent(SESSION)
    agent.prompt(PROMPT)
    agent.write()
    payload = f'{{"session_id": "{SESSION}", "transcript_path": "{t.path}", "hook_event_name": "Stop"}}'
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    assert 0 == folder.crusts("index", "--file", str(moved)).code
    assert 1 == folder.crusts("index", "--json").json()["files"]
    assert 0 == folder.crusts("index", "--rebuild").code
    assert [(OTHER,)] == ask(db, "select session_id from sessions")
    assert 1 == one(db, "select count(*) from transcripts")


@pytest.mark.parametrize("how", ["old place", "odd name"])
def test_a_file_whose_place_tells_no_session_is_not_read_in_again(folder: ClaudeFolder, how: str) -> None:
    """Its path is remembered; at another path its records tell whose it is, and it goes again."""
    if how == "old place":
        t = folder.subagent(SESSION, old_place=True)
    else:
        t = folder.main(SESSION)
        t.path = folder.project_folder("/home/ada/site") / "notes.jsonl"
    t.prompt(PROMPT)
    t.response(ANSWER, usage=usage(1, output=1))
    db = indexed(folder, t, plain(folder))
    forget(folder, SESSION)
    assert 1 == folder.crusts("index", "--json").json()["files"]
    there = folder.project_folder("/home/ada/there") / (t.path.name if t.path else "")
    t.write(there)
    assert 0 == folder.crusts("index").code
    assert [(OTHER,)] == ask(db, "select session_id from sessions")
    assert 1 == one(db, "select count(*) from api_calls")
    assert_sound(db)


def test_calls_shared_with_another_session_stay_with_it(folder: ClaudeFolder) -> None:
    """A resumed session copied its history: its calls are that session's now, the others are gone from the totals."""
    t = secret(folder)
    fork = folder.main(OTHER)
    fork.copy(t.lines()[:3], forked=True)
    fork.prompt("another way")
    fork.response("so be it", usage=usage(9, output=90))
    db = indexed(folder, t, fork)
    assert [(SESSION, 3), (OTHER, 1)] == ask(
        db,
        "select s.session_id, count(*) from api_calls c join transcripts t on t.id = c.transcript_id"
        " join sessions s on s.id = t.session_id group by 1 order by 1",
    )
    said = folder.crusts("forget", SESSION, "--yes", "--json").json()
    assert (3, 1) == (said["calls"], said["shared_calls"])
    assert [(5, 50), (9, 90)] == ask(db, "select input_tokens, output_tokens from api_calls order by 1")
    assert (0, 2) == one(
        db, "select count(*) - count(c.id), count(*) from responses r left join api_calls c on c.id = r.call_id"
    )
    (t.path or Path()).unlink()
    now, then = picture(db), picture(clean(folder))
    now.pop("forgotten"), then.pop("forgotten")
    assert_same(now, then)


def test_retained_calls_and_gone_transcripts_go_too(folder: ClaudeFolder) -> None:
    """What only the store remembers is forgotten like the rest."""
    t = secret(folder)
    db = indexed(folder, t, plain(folder))
    t.pieces = t.pieces[:1]
    t.write()
    assert 0 == folder.crusts("index").code
    assert 3 == one(db, "select sum(retained) from api_calls")
    (t.path or Path()).unlink()
    assert 0 == folder.crusts("index").code
    forget(folder, SESSION)
    assert [(8, 0)] == ask(db, "select input_tokens, retained from api_calls")
    assert [] == ask(db, "select id from responses where id < 0")
    assert [] == kept_in(folder.home / ".claude-crusts", *SECRETS)


def test_a_project_is_forgotten_with_what_surrounds_it(folder: ClaudeFolder, tmp_path: Path) -> None:
    """All sessions of a project go, subagents included, and what was measured around it; others stay."""
    project = tmp_path / "work" / "zoo"
    project.mkdir(parents=True)
    (project / "CLAUDE.md").write_text("Feed the animals.\n" * 30)
    agent = folder.subagent(SESSION, project=str(project), meta={"agentType": "Explore", "description": PROMPT})
    agent.prompt(PROMPT)
    agent.response(ANSWER, usage=usage(4, output=40))
    db = indexed(
        folder, secret(folder, project=str(project)), agent, plain(folder, THIRD, project=str(project)), plain(folder)
    )
    assert 0 < one(db, "select count(*) from surroundings where project_path = ?", str(project))
    forget(folder, "--project", "ZOO")
    assert [(OTHER,)] == ask(db, "select session_id from sessions")
    assert [("/home/ada/site",)] == ask(db, "select path from projects")
    assert 0 == one(db, "select count(*) from surroundings where project_path = ?", str(project))
    assert [] == kept_in(folder.home / ".claude-crusts", *SECRETS, str(project))


def test_all_before_a_date(folder: ClaudeFolder) -> None:
    """By the last activity: a session that goes on after the date stays whole."""
    old = secret(folder, start=datetime(2026, 1, 5, tzinfo=UTC))
    new = plain(folder, start=datetime(2026, 3, 1, tzinfo=UTC))
    across = plain(folder, THIRD, start=datetime(2026, 1, 6, tzinfo=UTC))
    across.clock.now = datetime(2026, 2, 2, tzinfo=UTC)
    across.prompt("on")
    db = indexed(folder, old, new, across)
    forget(folder, "--before", "2026-02-01")
    assert [(OTHER,), (THIRD,)] == ask(db, "select session_id from sessions order by 1")


def test_copies_of_the_store_go_if_they_hold_it(folder: ClaudeFolder) -> None:
    """What upgrades and rebuilds left beside the store is deleted whole where the session is in it, and told."""
    db = indexed(folder, secret(folder), plain(folder))
    assert 0 == folder.crusts("index", "--rebuild").code
    shutil.copy(db, f"{db}.0001.bak")
    empty = new_store(folder.home)
    shutil.copy(empty, f"{db}.1790000000000.old")
    assert 3 == len([*db.parent.glob("index.db.*.*")])
    said = folder.crusts("forget", SESSION, "--yes", "--json").json()
    assert 2 == len(said["copies_deleted"])
    assert ["index.db.1790000000000.old"] == [path.name for path in db.parent.glob("index.db.*.*")]
    assert [] == kept_in(db.parent, *SECRETS)


def test_our_own_logs_and_reports_are_cleaned(folder: ClaudeFolder) -> None:
    """Lines of our logs that name the session go, context.json is left to be written anew, other files are told."""
    db = indexed(folder, secret(folder), plain(folder))
    home = db.parent
    (home / "auto-inject.log").write_text(
        f'{{"sessionId":"{SESSION}","advisoryText":"{PROMPT}"}}\n{{"sessionId":"{OTHER}","advisoryText":"ok"}}\n'
    )
    (home / "context.json").write_text(f'{{"sessions":[{{"session":"{SESSION}"}}]}}')
    (home / "mine.md").write_text(f"about {SESSION}")
    done = forget(folder, SESSION)
    assert f'{{"sessionId":"{OTHER}","advisoryText":"ok"}}\n' == (home / "auto-inject.log").read_text()
    assert not (home / "context.json").exists()
    assert "mine.md still names one of them" in done.err
    assert [] == kept_in(home, *SECRETS)


def test_a_damaged_search_file_is_removed(folder: ClaudeFolder) -> None:
    """What cannot be cleaned is deleted: it can be made again."""
    db = indexed(folder, secret(folder), plain(folder))
    search = db.parent / "search.db"
    data = bytearray(search.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    search.write_bytes(data)
    forget(folder, SESSION)
    assert [] == kept_in(db.parent, *SECRETS)


def test_pages_freed_earlier_are_cleaned_too(folder: ClaudeFolder) -> None:
    """Text that was deleted before lies in free pages of the store, unless SQLite overwrites it: it goes as well."""
    db = indexed(folder, secret(folder), plain(folder))
    with closing(sqlite3.connect(db)) as store, store:
        store.execute("pragma secure_delete = off")
        store.execute("delete from texts where instr(text, ?)", (PROMPT,))
    assert [f"index.db: {PROMPT}"] == [line for line in kept_in(db.parent, PROMPT) if line.startswith("index.db:")]
    forget(folder, SESSION)
    assert [] == kept_in(db.parent, *SECRETS)


def test_it_asks_first(folder: ClaudeFolder) -> None:
    """Without --yes a person must say so: no answer, no forgetting; nothing to choose from is wrong usage."""
    db = indexed(folder, secret(folder))
    done = folder.crusts("forget", SESSION)
    assert (1, True) == (done.code, "say --yes" in done.err)
    assert 2 == folder.crusts("forget", "--yes").code
    assert 2 == folder.crusts("forget", "--before", "soon", "--yes").code
    assert 1 == folder.crusts("forget", "ffff", "--yes").code
    assert 1 == one(db, "select count(*) from sessions")


@pytest.mark.parametrize(("answer", "left"), [("n\n", 1), ("y\n", 0)])
def test_the_answer_counts(folder: ClaudeFolder, answer: str, left: int) -> None:
    """At a terminal the sessions are shown, and yes means yes."""
    db = indexed(folder, secret(folder))
    shown = at_terminal(folder, answer, "forget", SESSION[:12])
    assert "Forget this session for good?" in shown
    assert SESSION[:8] in shown
    assert left == one(db, "select count(*) from sessions")


def at_terminal(folder: ClaudeFolder, typed: str, *args: str) -> str:
    """Run the command at a terminal of its own and type an answer."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder.home)
        os.execve(sys.executable, [sys.executable, "-m", "crusts_index", *args], folder.env(COLUMNS="100"))
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, typed.encode())
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:  # the terminal's other end is closed
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    return shown.decode()


def test_a_session_not_read_so_far_can_be_forgotten_ahead(folder: ClaudeFolder) -> None:
    """A whole id that the store does not know is remembered all the same."""
    db = indexed(folder, plain(folder))
    forget(folder, SESSION)
    secret(folder).write()
    assert 0 == folder.crusts("index").code
    assert [(OTHER,)] == ask(db, "select session_id from sessions")


@pytest.mark.long
@pytest.mark.process
def test_a_reader_does_not_stop_it(folder: ClaudeFolder) -> None:
    """A program that reads the store meanwhile keeps the log alive: that is told, and the next run cleans it."""
    db = indexed(folder, secret(folder), plain(folder))
    with closing(sqlite3.connect(db, isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from records").fetchone()
        done = forget(folder, SESSION)
        assert "another program reads the store" in done.err
    assert 0 == one(db, "select count(*) from texts where instr(text, ?)", PROMPT)
    forget(folder, THIRD)
    assert [] == kept_in(db.parent, *SECRETS)
