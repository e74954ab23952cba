"""The locks about a store: they end with their holders, and what is written while a rebuild runs is carried over."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crusts_index.errors import CrustsError
from crusts_index.index.rebuild import rebuild
from crusts_index.index.summary import Options
from crusts_index.index.verify import _scratch
from crusts_index.store.locks import held, is_held, rebuild_lock, search_lock, store_lock, take
from crusts_index.store.open import open_store
from crusts_index.store.search import update
from crusts_index.store.settings import Flags, Settings, resolve_settings, search_path
from tests.builders import SESSION, ClaudeFolder, Transcript, usage
from tests.picture import ask, assert_sound, one

OTHER = "5e551001-0000-4000-8000-0000000000ee"
_HOLD = """
import sys, time
from crusts_index.store.locks import take
lock = take(sys.argv[1], shared=sys.argv[2] == "shared")
print(lock is not None, flush=True)
time.sleep(60)
"""


def holder(path: Path, how: str = "alone") -> subprocess.Popen[bytes]:
    """A process that holds the lock until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", _HOLD, str(path), how], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert b"True" in process.stdout.readline()
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    """End it as nothing can be prepared for."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_lock_ends_with_its_holder_and_its_file_with_the_last_one(tmp_path: Path) -> None:
    """A killed holder leaves the file, which says nothing; the next one takes it over, and takes it away."""
    path = tmp_path / "lock"
    process = holder(path)
    try:
        assert is_held(str(path))
        assert take(str(path)) is None
    finally:
        kill(process)
    assert path.exists()
    assert not is_held(str(path))
    with held(str(path)) as is_mine:
        assert is_mine
    assert not path.exists()


def test_those_who_share_keep_out_who_would_be_alone(tmp_path: Path) -> None:
    """Any number share; the file goes with the last of them."""
    path = str(tmp_path / "lock")
    first, second = take(path, shared=True), take(path, shared=True)
    assert first is not None
    assert second is not None
    assert take(path) is None
    first.release()
    assert take(path) is None
    second.release()
    assert not os.path.exists(path)
    with held(path) as is_mine:
        assert is_mine
        assert take(path, shared=True) is None


def test_a_child_that_was_forked_does_not_hold_its_parents_lock(tmp_path: Path) -> None:
    """Workers that outlive a killed parent for a moment keep nobody out."""
    path = str(tmp_path / "lock")
    lock = take(path)
    assert lock is not None
    child = os.fork()
    if not child:
        time.sleep(30)
        os._exit(0)
    lock.release()
    try:
        with held(path) as is_mine:
            assert is_mine
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_where_no_file_can_be_made_there_is_no_lock(tmp_path: Path) -> None:
    """Read-only media: reading and what SQLite says of writing go on as they are."""
    with held(str(tmp_path / "nowhere" / "lock")) as is_mine:
        assert is_mine


@pytest.fixture
def settings(folder: ClaudeFolder, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Those of a run in this process on the folder."""
    environ = folder.env()
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CRUSTS_HOME"):
        monkeypatch.setenv(name, environ[name])
    return resolve_settings(Flags(), environ)


def said(folder: ClaudeFolder, session: str, word: str) -> Transcript:
    """A transcript of a prompt and an answer, on disk."""
    t = folder.main(session)
    t.prompt(word)
    t.response(word, usage=usage(9, output=9))
    t.write()
    return t


@pytest.mark.long
def test_writers_wait_no_longer_than_they_may_while_a_rebuilt_store_takes_its_place(
    folder: ClaudeFolder, settings: Settings
) -> None:
    """A hook says so and is gone; the next run reads what it could not."""
    t = said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    t.prompt("two")
    t.append()
    payload = json.dumps({"session_id": SESSION, "transcript_path": str(t.path), "hook_event_name": "Stop"})
    process = holder(Path(store_lock(settings.db)))
    try:
        assert 0 == folder.crusts("index", "--hook", stdin=payload).code
        with pytest.raises(CrustsError, match="taking its place"):
            open_store(settings.db, write=True, timeout=0.1)
        assert 0 == folder.crusts("list", "--no-index").code
    finally:
        kill(process)
    assert 2 == one(Path(settings.db), "select count(*) from records")
    assert 0 == folder.crusts("index").code
    assert 3 == one(Path(settings.db), "select count(*) from records")


def test_nobody_takes_texts_while_another_does(folder: ClaudeFolder, settings: Settings) -> None:
    """The search file is one process's at a time, from its look at the store on."""
    said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    process = holder(Path(search_lock(search_path(settings.db))))
    try:
        with closing(open_store(settings.db)) as store:
            assert not update(store, search_path(settings.db), timeout=0.1)
    finally:
        kill(process)


def test_a_second_rebuild_is_refused(folder: ClaudeFolder, settings: Settings) -> None:
    """While one is at work; one that was killed is none."""
    said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    process = holder(Path(rebuild_lock(settings.db)))
    try:
        done = folder.crusts("index", "--rebuild")
        assert (1, True) == (done.code, "another rebuild" in done.err)
    finally:
        kill(process)
    assert 0 == folder.crusts("index", "--rebuild").code


def rebuild_with(settings: Settings, meanwhile: Callable[[], None]) -> None:
    """Rebuild, and do something once its new store is being filled."""
    todo = [meanwhile]

    def progress(_: int, __: int) -> None:
        if todo:
            todo.pop()()

    rebuild(settings, Options(jobs=0, progress=progress))
    assert [] == todo


def test_what_is_forgotten_while_a_rebuild_runs_stays_forgotten(folder: ClaudeFolder, settings: Settings) -> None:
    """On disk or gone, neither rows nor words come back, nor lie in the copy."""
    gone = said(folder, OTHER, "zebrafish")
    said(folder, SESSION, "aardvark")
    said(folder, "5e551001-0000-4000-8000-0000000000aa", "stays")
    assert 0 == folder.crusts("index").code
    assert gone.path is not None
    gone.path.unlink()
    assert 0 == folder.crusts("search", "stays").code

    def forget() -> None:
        for session in (SESSION, OTHER):
            assert 0 == folder.crusts("forget", session, "--yes").code

    rebuild_with(settings, forget)
    assert 0 == folder.crusts("index").code
    db = Path(settings.db)
    assert [("5e551001-0000-4000-8000-0000000000aa",)] == ask(db, "select session_id from sessions")
    assert [] == ask(db, "select * from store_facts where name = 'promise'")
    left = b"".join(path.read_bytes() for path in db.parent.iterdir())
    assert (False, False) == (b"zebrafish" in left, b"aardvark" in left)
    assert b"stays" in left
    assert_sound(db)


def test_what_is_read_while_a_rebuild_runs_and_then_vanishes_stays(folder: ClaudeFolder, settings: Settings) -> None:
    """A transcript that a hook read and that is gone before the new store saw it, or that grew and is gone."""
    said(folder, SESSION, "one")
    grown = said(folder, OTHER, "before")
    assert 0 == folder.crusts("index").code
    brief = folder.main("5e551001-0000-4000-8000-0000000000aa")

    def live_and_die() -> None:
        brief.prompt("brief")
        brief.response("so", usage=usage(11, output=1))
        grown.response("after", usage=usage(13, output=1))
        brief.write()
        grown.append()
        for t in (brief, grown):
            payload = {"session_id": t.session, "transcript_path": str(t.path), "hook_event_name": "Stop"}
            assert 0 == folder.crusts("index", "--hook", stdin=json.dumps(payload)).code
            assert t.path is not None
            t.path.unlink()

    rebuild_with(settings, live_and_die)
    db = Path(settings.db)
    assert 0 == folder.crusts("index").code
    assert [(9,), (9,), (11,), (13,)] == ask(db, "select input_tokens from api_calls order by 1")
    assert [(0,), (1,), (1,)] == ask(db, "select gone from transcripts order by 1")
    assert 3 == one(db, "select count(*) from sessions")
    assert_sound(db)


def test_what_is_rewritten_while_a_rebuild_runs_keeps_its_billed_calls(
    folder: ClaudeFolder, settings: Settings
) -> None:
    """Rewritten, read by another run and gone: the calls of either writing stay."""
    t = said(folder, SESSION, "one")
    said(folder, OTHER, "other")
    assert 0 == folder.crusts("index").code

    def rewrite() -> None:
        anew = folder.main(SESSION)
        anew.ids = random.Random(7)
        anew.prompt("another beginning")
        anew.response("so", usage=usage(21, output=1), request="req_anew", message="msg_anew")
        anew.write()
        assert 0 == folder.crusts("index").code
        assert t.path is not None
        t.path.unlink()

    rebuild_with(settings, rewrite)
    db = Path(settings.db)
    found = ask(db, "select input_tokens, retained from api_calls order by 1")
    assert [(9, 0), (9, 1), (21, 0)] == sorted(found)
    assert_sound(db)


def test_what_is_pasted_priced_or_marked_gone_while_a_rebuild_runs_is_carried_over(
    folder: ClaudeFolder, settings: Settings
) -> None:
    """What no transcript has: calibrations, prices and their calls, runs, a transcript that vanished."""
    vanished = said(folder, OTHER, "vanishes")
    said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    paste = (
        "## Context Usage\n**Tokens:** 20k / 200k (10%)\n\n### Estimated usage by category\n\n| Category | Tokens |\n"
    )
    db = Path(settings.db)

    def use() -> None:
        rows = "| System prompt | 3k |\n| Messages | 8k |\n"
        assert 0 == folder.crusts("calibrate", OTHER, stdin=paste + rows).code
        with closing(sqlite3.connect(db)) as store, store:
            store.execute("update prices set input_usd = 77")
        assert vanished.path is not None
        vanished.path.unlink()
        assert 0 == folder.crusts("index").code

    runs = one(db, "select count(*) from runs")
    rebuild_with(settings, use)
    asked = "select s.session_id from context_reports r join sessions s on s.id = r.session_id where r.id < 0"
    assert [(OTHER,)] == ask(db, asked)
    assert [(77.0,)] == ask(db, "select distinct p.input_usd from api_calls c join prices p on p.id = c.price_id")
    assert [(OTHER,)] == ask(db, "select stem from transcripts where gone")
    assert runs < one(db, "select count(*) from runs")
    assert_sound(db)


def test_a_rebuild_whose_maker_was_killed_is_told_and_cleared(folder: ClaudeFolder, settings: Settings) -> None:
    """Half a store, half a copy, a lock, a file that was to take another's place: it is told, and cleared."""
    said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    home, project = Path(settings.home), folder.home / "site"
    project.mkdir()
    dead = _dead()
    notes = home / "backups.unfinished"
    notes.mkdir()
    half = project / f"CLAUDE.md.{dead}.17.tmp"
    half.write_text("half")
    (notes / f"{dead}.17").write_text(str(half))
    names = ["index.db.rebuild", "index.db.rebuild-wal", "index.db.rebuilding", "index.db.rebuild.lock"]
    names += ["index.db.1796061728444.old.new", "index.db.0000.bak.new"]
    names += ["index.db.1796061728444.old.new-journal", "index.db.0000.bak.new-journal", "index.db.0001.bak.new-wal"]
    names += [f"config.json.{dead}.tmp", f"context.json.{dead}.new", f"statusline.json.{dead}.123.tmp"]
    for name in names:
        (home / name).write_bytes(b"half")
    alive = home / f"config.json.{os.getpid()}.tmp"
    theirs = project / "notes.tmp"
    for path in (alive, theirs):
        path.write_text("not ours to clear")
    told = next(c for c in json.loads(folder.crusts("doctor", "--json").out)["checks"] if c["name"] == "Leftovers")
    assert "warn" == told["status"]
    assert [] == [name for name in (*names, str(half)) if name not in told["detail"]]
    assert 0 == folder.crusts("index").code
    assert [] == [name for name in names if (home / name).exists()]
    assert (False, True, True) == (half.exists(), alive.exists(), theirs.exists())
    assert not notes.exists()
    told = next(c for c in json.loads(folder.crusts("doctor", "--json").out)["checks"] if c["name"] == "Leftovers")
    assert "pass" == told["status"]


def test_what_a_killed_verify_read_anew_is_told_and_cleared(folder: ClaudeFolder, settings: Settings) -> None:
    """The folder that it reads into beside the store; one whose maker lives, and a user's own, stay."""
    said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    folders = [
        Path(settings.home, name) for name in (f"verify-{_dead()}-x1", f"verify-{os.getpid()}-x2", "verify-this")
    ]
    for one_of_them in folders:
        one_of_them.mkdir()
        (one_of_them / "index.db").write_bytes(b"half")
    told = next(c for c in json.loads(folder.crusts("doctor", "--json").out)["checks"] if c["name"] == "Leftovers")
    assert [True, False, False] == [str(path) in told["detail"] for path in folders]
    assert 0 == folder.crusts("index").code
    assert [False, True, True] == [path.exists() for path in folders]
    with _scratch(settings.db) as path:
        assert Path(path).parent.name.startswith(f"verify-{os.getpid()}-")


@pytest.mark.process
@pytest.mark.parametrize("command", ["statusline", "index"])
def test_what_an_ended_status_line_read_apart_is_cleared(folder: ClaudeFolder, tmp_path: Path, command: str) -> None:
    """There is a transcript's text in it: the next that reads one apart, or an index, deletes it; doctor tells of it.
    One whose maker lives, a link, and what others call likewise stay."""
    said(folder, SESSION, "one")
    place = tmp_path / "temporary"
    folders = [place / name for name in (f"crusts-apart-{_dead()}-x1", f"crusts-apart-{os.getpid()}-x2", "crusts-this")]
    for one_of_them in folders:
        one_of_them.mkdir(parents=True)
        (one_of_them / "index.db").write_bytes(b"half")
    link = place / f"crusts-apart-{_dead()}-x3"
    link.symlink_to(folders[2])
    told = json.loads(folder.crusts("doctor", "--json", TMPDIR=str(place)).out)["checks"]
    assert str(folders[0]) in next(check["detail"] for check in told if check["name"] == "Leftovers")
    assert 0 == folder.crusts(command, stdin=json.dumps({"session_id": SESSION}), TMPDIR=str(place)).code
    assert [False, True, True] == [path.exists() for path in folders]
    assert {link, *folders[1:]} == set(place.iterdir())
    assert b"half" == (folders[2] / "index.db").read_bytes()


def test_what_a_living_rebuild_has_made_is_left_to_it(folder: ClaudeFolder, settings: Settings) -> None:
    """Neither told as left behind nor cleared."""
    said(folder, SESSION, "one")
    assert 0 == folder.crusts("index").code
    process = holder(Path(rebuild_lock(settings.db)))
    half = Path(f"{settings.db}.rebuild")
    half.write_bytes(b"half")
    try:
        assert 0 == folder.crusts("index").code
        told = next(c for c in json.loads(folder.crusts("doctor", "--json").out)["checks"] if c["name"] == "Leftovers")
        assert "pass" == told["status"]
        assert half.exists()
    finally:
        kill(process)
    assert 0 == folder.crusts("index").code
    assert not half.exists()


def _dead() -> int:
    """The id of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
