"""`keepText: false` and `crusts forget`: afterwards not a byte of what was said is in any file of ours."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import BLOB, Text

from crusts_index.index.privacy import KEPT, withhold
from crusts_index.index.veil import veiled
from crusts_index.store.schema import metadata
from crusts_index.transcript.words import word_id
from tests.builders import SESSION, ClaudeFolder, usage
from tests.marked import GONE, OTHER, Words, all_bytes, count_in, found_in, marked, pasted, surround, told
from tests.picture import ask, assert_same, assert_sound, one, picture

# Columns of whole numbers in which the reader puts text where that was logged.
ODD = {("stored_tool_uses", "read_offset"), ("stored_tool_uses", "read_limit")}


def home_of(folder: ClaudeFolder) -> Path:
    """Where all that is ours lies."""
    return folder.home / ".claude-crusts"


def configure(folder: ClaudeFolder, **said: object) -> None:
    """What config.json says."""
    home_of(folder).mkdir(exist_ok=True, mode=0o700)
    (home_of(folder) / "config.json").write_text(json.dumps(said))


def run(folder: ClaudeFolder, *args: str, stdin: str = "", code: int = 0) -> str:
    """Run the command; what it said on stderr."""
    done = folder.crusts(*args, stdin=stdin)
    assert code == done.code, done.err
    return done.err


@pytest.fixture
def words() -> Words:
    """Marked words."""
    return Words()


@pytest.fixture
def wild(folder: ClaudeFolder, words: Words) -> ClaudeFolder:
    """Three sessions with marked words in every place, and what surrounds them."""
    surround(folder, words)
    for session in (SESSION, OTHER, GONE):
        marked(folder, session, words)
    assert count_in(all_bytes(folder)) > 200
    return folder


def use(folder: ClaudeFolder, words: Words) -> None:
    """Run what keeps something: index, search, status line, a rebuild and its copy, a paste, a readout, a lost file."""
    run(folder, "index")
    run(folder, "search", "said")
    run(folder, "statusline", stdin=told(SESSION, words))
    run(folder, "calibrate", SESSION, stdin=pasted(words))
    run(folder, "index", "--rebuild")
    run(folder, "readout")
    (folder.project_folder("/home/ada/site") / f"{GONE}.jsonl").unlink()
    run(folder, "index")
    (home_of(folder) / "tui_history").write_text("+search " + words())
    (home_of(folder) / "auto-inject.log").write_text(json.dumps({"advisoryText": words()}) + "\n")


def test_every_column_that_can_hold_text_is_told_what_becomes_of_it() -> None:
    """A new column is given its place in KEPT before it is written."""
    there = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, Text | BLOB)
    }
    assert there | ODD == {(table, column) for table, rules in KEPT.items() for column in rules}


@pytest.mark.long
def test_only_columns_that_are_told_hold_text(wild: ClaudeFolder) -> None:
    """Whatever is logged where a number should stand, no other column takes it as text."""
    run(wild, "index")
    db = home_of(wild) / "index.db"
    holding = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.columns
        if ask(db, f'select 1 from "{table.name}" where typeof("{column.name}") in ("text", "blob") limit 1')
    }
    assert set() == holding - {(table, column) for table, rules in KEPT.items() for column in rules}


def test_no_text_from_the_start(wild: ClaudeFolder, words: Words) -> None:
    """Nothing of what was said, run, read, attached, pasted or set is in any file."""
    configure(wild, keepText=False)
    use(wild, words)
    for path in ("tui_history", "auto-inject.log"):  # not written by us
        (home_of(wild) / path).unlink()
    assert {} == found_in(home_of(wild))
    assert 6 == one(home_of(wild) / "index.db", "select count(distinct id) from transcripts")


def test_no_text_from_now_on_takes_out_what_there_was(wild: ClaudeFolder, words: Words) -> None:
    """One index after it: in store, free pages, log, search file, copies, reports; of what is gone too. Told once."""
    use(wild, words)
    assert {"index.db", "search.db"} <= found_in(home_of(wild)).keys()
    configure(wild, keepText=False)
    assert 1 == run(wild, "index").count("keepText")
    assert {} == found_in(home_of(wild))
    assert 0 == run(wild, "index").count("keepText")
    assert_sound(home_of(wild) / "index.db")


def test_what_is_taken_out_later_is_what_would_not_have_been_kept(
    wild: ClaudeFolder, words: Words, tmp_path: Path
) -> None:
    """Numbers, ids and links are those of a store that never held text, whenever the user said so, also by appends."""
    t = wild.main("5e551001-0000-4000-8000-0000000000bb")
    t.prompt("read it")
    t.read("/home/ada/my notes.md", "one\n", usage=usage(5, output=5))
    t.write()
    run(wild, "index")
    configure(wild, keepText=False)
    run(wild, "index")
    t.read("/home/ada/my notes.md", "one\n", usage=usage(6, output=5))
    t.append()
    run(wild, "index")
    never = ClaudeFolder(tmp_path / "never")
    never.config = wild.config
    configure(never, keepText=False)
    run(never, "index")
    one_db, other_db = (home_of(each) / "index.db" for each in (wild, never))
    assert_same(picture(one_db), picture(other_db))
    assert 1 == one(one_db, "select count(*) from tool_uses where prior_read_id >> 40 = 5 or prior_read_id >> 40 = 7")


def test_text_is_kept_again_from_when_the_user_says_so(folder: ClaudeFolder, words: Words) -> None:
    """What was left out stays out, until everything is read anew; it is taken out again when asked again."""
    configure(folder, keepText=False)
    t = folder.main()
    t.prompt(words())
    t.write()
    run(folder, "index")
    configure(folder, keepText=True)
    t.prompt(words())
    t.append()
    run(folder, "index")
    assert {"zmark0001q"} == found_in(home_of(folder))["index.db"]
    run(folder, "index", "--rebuild")
    assert {"zmark0000q", "zmark0001q"} == found_in(home_of(folder))["index.db"]
    configure(folder, keepText=False)
    run(folder, "index")
    assert {} == found_in(home_of(folder))


@pytest.mark.parametrize("said", ["{nope", '{"keepText": "true"}'])
def test_a_slip_in_the_settings_takes_nothing_out(folder: ClaudeFolder, words: Words, said: str) -> None:
    """A file that cannot be read keeps no new text, but what is there was not said to go."""
    t = folder.main()
    t.prompt(words())
    t.write()
    run(folder, "index")
    (home_of(folder) / "config.json").write_text(said)
    t.prompt(words())
    t.append()
    run(folder, "index")
    assert {"zmark0000q"} == found_in(home_of(folder))["index.db"]


def test_a_forgotten_session_is_in_no_file(wild: ClaudeFolder, words: Words) -> None:
    """Not in the search file, copies, free pages, logs; other sessions' text stays."""
    forget_words = Words(5000)
    marked(wild, "5e551001-0000-4000-8000-0000000000cc", forget_words)
    use(wild, words)
    run(wild, "statusline", stdin=told("5e551001-0000-4000-8000-0000000000cc", forget_words))
    run(wild, "forget", "5e551001-0000-4000-8000-0000000000cc", "--yes")
    left = {word for found in found_in(home_of(wild)).values() for word in found}
    assert left
    assert set() == {word for word in left if int(word[5:9]) >= 5000}


def test_a_promise_that_was_not_kept_is_kept_by_the_next_run(wild: ClaudeFolder, words: Words) -> None:
    """Sessions forgotten in the store alone, as by a run that was killed: index, a report and a paste go on with it."""
    run(wild, "index")
    run(wild, "search", "said")
    db = home_of(wild) / "index.db"
    for session, args in ((SESSION, ["index"]), (OTHER, ["list"]), (GONE, ["calibrate", "--report"])):
        _forget_only_in_the_store(db, session)
        run(wild, *args)
        assert [] == ask(db, "select * from store_facts where name = 'promise'")
    assert {} == found_in(home_of(wild))


def _forget_only_in_the_store(db: Path, session: str) -> None:
    from crusts_index.index.forget import forget
    from crusts_index.store.open import open_store

    with closing(open_store(db, write=True)) as store:
        forget(store, [session])
    assert ask(db, "select * from store_facts where name = 'promise'")


def test_rows_are_withheld_column_by_column() -> None:
    """Equal paths stay equal, names stay, sentences go; a bookkeeping record without a value is none."""
    rows = {
        "words": [(word_id(word), word) for word in ("Bash", "my own words", "a-branch")],
        "stored_tool_uses": [(1, 0, None, word_id(name), *[None] * 20) for name in ("my own words", "Bash")],
        "texts": [(1, "hello")],
        "meta_records": [(1, "custom-title", 5, "mine"), (1, "mode", 6, "plan"), (1, "relocated", 7, "/home/a b")],
        "attachments": [
            (1, "file", "/home/a", None, None, None),
            (2, "file", "/home/a", None, None, None),
            (3, "hook_success", "Stop", "Stop", '["Bash","do it now"]', None),
        ],
    }
    found = withhold(rows)
    named = dict(found["words"])
    assert [veiled("my own words"), "Bash"] == [named[row[3]] for row in found["stored_tool_uses"]]
    assert 2 == len(named), "a word that no row has is none"
    assert [] == found["texts"]
    assert [(1, "mode", 6, "plan"), (1, "relocated", 7, "/home/a b")] == found["meta_records"]
    first, second, hook = found["attachments"]
    assert first[2] == second[2] != "/home/a"
    assert ("Stop", "Stop") == hook[2:4]
    assert ["Bash"] == [name for name in json.loads(hook[4]) if not name.startswith("#")]
    assert found == withhold(found)


def test_a_loosened_home_is_closed_by_the_next_run_that_writes(wild: ClaudeFolder, words: Words) -> None:
    """Our folder and every file that a use of the program leaves there, whatever the umask."""
    configure(wild, search=True)
    use(wild, words)
    home = home_of(wild)
    there = {path.name for path in home.iterdir()}
    assert {"index.db", "search.db", "config.json", "context.json", "tui_history", "auto-inject.log"} <= there
    for path in (home, *home.iterdir()):
        path.chmod(0o777 if path.is_dir() else 0o666)
    before = os.umask(0)
    try:
        run(wild, "index")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    assert {0o600} == set(modes.values()), modes
    assert 0o700 == stat.S_IMODE(home.stat().st_mode)


def test_what_is_no_file_is_not_ours_to_close(folder: ClaudeFolder) -> None:
    """A pipe in the place of one of our files keeps its mode, as /dev/null must; in the store's place too."""
    folder.crusts("index")
    log, store = folder.home / ".claude-crusts" / "auto-inject.log", folder.home / "store"
    for pipe in (log, store):
        os.mkfifo(pipe)
        pipe.chmod(0o666)
    folder.crusts("index")
    for command in (["index"], ["index", "--rebuild"], ["list"], ["doctor", "--fix"], ["index", "--hook"]):
        folder.crusts(*command, CRUSTS_DB=str(store))
    assert [0o666] * 2 == [stat.S_IMODE(pipe.stat().st_mode) for pipe in (log, store)]


def test_a_folder_of_the_user_stays_open_and_our_files_in_it_are_not(folder: ClaudeFolder, tmp_path: Path) -> None:
    """CRUSTS_HOME and CRUSTS_DB may name a folder that holds other things too."""
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "notes.txt").write_text("theirs")
    for name, value in (("CRUSTS_HOME", shared), ("CRUSTS_DB", shared / "mine.db")):
        assert 0 == folder.crusts("index", **{name: str(value)}).code
    assert 0o755 == stat.S_IMODE(shared.stat().st_mode)
    assert 0o077 & stat.S_IMODE((shared / "notes.txt").stat().st_mode)
    ours = [path for path in shared.iterdir() if path.name != "notes.txt"]
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in ours}


def test_what_is_installed_makes_a_home_that_is_closed(folder: ClaudeFolder) -> None:
    """Also where the first thing that is put there is a copy of the user's settings."""
    (folder.config / "settings.json").write_text("{}")
    run(folder, "statusline", "install")
    assert 0o700 == stat.S_IMODE(home_of(folder).stat().st_mode)


@pytest.mark.parametrize("args", [["report", "-o"], ["trend", "--format", "csv", "--output"]])
def test_reports_are_their_owners(folder: ClaudeFolder, tmp_path: Path, args: list[str]) -> None:
    """A report holds what was said: mode 0600, whatever the umask, in the place of another file too."""
    t = folder.main()
    t.prompt("go")
    t.response("so", usage=usage(9, output=9))
    t.write()
    file = tmp_path / "report.out"
    file.write_text("older")
    file.chmod(0o666)
    before = os.umask(0)
    try:
        run(folder, *args, str(file))
    finally:
        os.umask(before)
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["forget", "keepText", "rebuild"])
def test_killed_at_any_moment(wild: ClaudeFolder, words: Words, kind: str, tmp_path: Path) -> None:
    """Whatever was being done when it was killed, the next index leaves no word that should not be."""
    chance = random.Random(kind)
    use(wild, words)
    args = {
        "forget": ["forget", "--project", "site", "--yes"],
        "keepText": ["index"],
        "rebuild": ["index", "--rebuild"],
    }
    if kind != "forget":
        configure(wild, keepText=False)
    home, kept = home_of(wild), tmp_path / "kept"
    shutil.copytree(home, kept)
    began = time.monotonic()
    assert 0 == _start(wild, *args[kind]).wait()
    whole = time.monotonic() - began
    for _ in range(6):
        shutil.rmtree(home)
        shutil.copytree(kept, home)
        process = _start(wild, *args[kind])
        with suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0.1, 0.9) * whole)
        process.kill()
        process.wait()
        time.sleep(0.1)  # its workers look for it
        run(wild, "index")
        if kind == "forget" and not one(home / "index.db", "select count(*) from forgotten"):
            run(wild, *args[kind])
        left = found_in(home)
        for name in ("tui_history", "auto-inject.log") if kind == "forget" else ():
            left.pop(name, None)  # what was typed, and what names no session, is nobody's
        assert {} == left
        assert [] == [path.name for path in home.iterdir() if "rebuild" in path.name or path.suffix == ".new"]
        assert_sound(home / "index.db")


def _start(folder: ClaudeFolder, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "crusts_index", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=folder.env(),
        cwd=folder.home,
    )


@pytest.mark.long
def test_a_store_that_is_read_while_text_goes_keeps_the_promise_open(wild: ClaudeFolder) -> None:
    """A reader holds the log: the next run empties it."""
    run(wild, "index")
    db = home_of(wild) / "index.db"
    configure(wild, keepText=False)
    with closing(sqlite3.connect(db)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from texts").fetchone()
        run(wild, "index")
        assert ask(db, "select * from store_facts where name = 'promise'")
    run(wild, "index")
    assert [] == ask(db, "select * from store_facts where name = 'promise'")
    assert {} == found_in(home_of(wild))
