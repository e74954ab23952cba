"""`crusts index --rebuild`: everything is read anew, and what can no longer be read is carried over."""

import json
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders import ClaudeFolder, usage
from tests.picture import ask, assert_same, one, picture

SECOND = "5e551001-0000-4000-8000-000000000002"
TOTALS = "select count(*), sum(input_tokens), sum(output_tokens) from api_calls"


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A home with a config folder, and two sessions indexed."""
    folder = ClaudeFolder(tmp_path)
    for session in (folder.main(), folder.main(SECOND, "/home/ada/api")):
        session.prompt("one")
        session.read("/home/ada/site/a.py", "import os\n")
        session.response("done", usage=usage(5, 10, 100, 7))
        session.write()
    assert folder.crusts("index").code == 0
    return folder


def db_of(folder: ClaudeFolder) -> Path:
    """The store of a home."""
    return Path(folder.env()["CRUSTS_HOME"]) / "index.db"


def rebuild(folder: ClaudeFolder) -> None:
    """Run the command."""
    done = folder.crusts("index", "--rebuild")
    assert (0, "") == (done.code, done.err)


def path_of(folder: ClaudeFolder, session: str) -> Path:
    """The transcript of a session."""
    return next(folder.config.glob(f"projects/*/{session}.jsonl"))


def test_a_rebuilt_store_says_the_same(folder: ClaudeFolder) -> None:
    """Nothing was lost, nothing doubles, also the second time."""
    before = picture(db_of(folder))
    rebuild(folder)
    assert_same(before, picture(db_of(folder)))
    rebuild(folder)
    assert_same(before, picture(db_of(folder)))


def test_a_home_may_have_any_name(folder: ClaudeFolder) -> None:
    """One that is no UTF-8 text holds a store that can be rebuilt."""
    home = os.fsdecode(os.fsencode(folder.home) + b"/home-\xff")
    for args in (("index",), ("index", "--rebuild"), ("list",)):
        done = folder.crusts(*args, CRUSTS_HOME=home)
        assert (0, "") == (done.code, done.err), args


def test_it_reads_everything_anew(folder: ClaudeFolder) -> None:
    """A row that somebody changed is again what the transcript says."""
    with closing(sqlite3.connect(db_of(folder))) as store, store:
        store.execute("update stored_blocks set chars = 0")
        store.execute("delete from stored_records where flags & 2")
    rebuild(folder)
    assert 0 == one(db_of(folder), "select count(*) from blocks where chars = 0")
    assert 2 == one(db_of(folder), "select count(*) from records where is_prompt = 1")


@pytest.mark.parametrize("known", [True, False])
def test_a_gone_transcript_is_carried_over(folder: ClaudeFolder, known: bool) -> None:
    """Whether an index saw that it is gone or not: its rows are all there is of it."""
    path_of(folder, SECOND).unlink()
    if known:
        assert folder.crusts("index").code == 0
    before = picture(db_of(folder), past=False)
    rebuild(folder)
    assert_same(before, picture(db_of(folder), past=False))
    assert 1 == one(db_of(folder), "select count(*) from transcripts where gone = 1")


def test_a_root_that_is_away_is_carried_over(folder: ClaudeFolder, tmp_path: Path) -> None:
    """A disk that is not mounted marks nothing gone, and costs nothing either."""
    other = ClaudeFolder(tmp_path / "other")
    far = other.main("5e551001-0000-4000-8000-000000000003", "/home/ada/far")
    far.response("far", usage=usage(1000))
    far.write()
    both = f"{folder.config},{other.config}"
    assert folder.crusts("index", CLAUDE_CONFIG_DIR=both).code == 0
    before = picture(db_of(folder))
    shutil.rmtree(other.config / "projects")
    (other.config / "projects").mkdir()
    assert folder.crusts("index", "--rebuild", CLAUDE_CONFIG_DIR=both).code == 0
    assert_same(before, picture(db_of(folder)))
    assert folder.crusts("index", "--rebuild").code == 0  # nor does a root that is not asked for
    assert_same(before, picture(db_of(folder)))


def test_retained_calls_are_carried_over(folder: ClaudeFolder) -> None:
    """What was billed in bytes that are gone stays in the totals."""
    path = path_of(folder, SECOND)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert folder.crusts("index").code == 0
    before, totals = picture(db_of(folder)), one(db_of(folder), TOTALS)
    assert 0 < one(db_of(folder), "select count(*) from api_calls where retained = 1")
    rebuild(folder)
    assert totals == one(db_of(folder), TOTALS)
    assert_same(before, picture(db_of(folder)))


def test_surroundings_and_what_was_pasted_are_carried_over(folder: ClaudeFolder) -> None:
    """No transcript tells them."""
    with closing(sqlite3.connect(db_of(folder))) as store, store:
        store.execute(
            "insert into surroundings (kind, path, content_hash, mtime_ns, bytes, first_seen_ms, last_seen_ms)"
            " values ('claude_md', '/home/ada/site/CLAUDE.md', 'h', 1, 2, 3, 4)"
        )
        store.execute(
            "insert into context_reports (id, session_id, used_tokens, rows) select -1, id, 45200, '[]' from sessions"
            " where session_id = ?",
            (SECOND,),
        )
        store.execute("insert into forgotten values ('5e551001-0000-4000-8000-000000000009', 1)")
    rebuild(folder)
    db = db_of(folder)
    assert [("claude_md", "/home/ada/site/CLAUDE.md", 4)] == ask(
        db, "select kind, path, last_seen_ms from surroundings where content_hash = 'h'"
    )
    assert (45200, SECOND) == one(
        db, "select used_tokens, s.session_id from context_reports c join sessions s on s.id = c.session_id"
    )
    assert 1 == one(db, "select count(*) from forgotten")


def test_the_old_store_is_kept(folder: ClaudeFolder) -> None:
    """Beside the new one, whole, for its owner's eyes only; and nothing else is left behind."""
    db = db_of(folder)
    before = picture(db)
    rebuild(folder)
    (kept,) = db.parent.glob("index.db.*.old")
    assert_same(before, picture(kept))
    assert 0o600 == stat.S_IMODE(kept.stat().st_mode)
    assert [] == list(db.parent.glob("*.rebuild*"))


@pytest.mark.long
@pytest.mark.process
def test_a_reader_at_the_same_time(folder: ClaudeFolder) -> None:
    """It sees the old store until its transaction ends, then the new one, on the same connection."""
    with closing(sqlite3.connect(db_of(folder), isolation_level=None)) as reader:
        reader.execute("begin")
        calls = reader.execute(TOTALS).fetchone()
        path_of(folder, SECOND).unlink()
        transcript = folder.main()
        transcript.response("more", usage=usage(1))
        transcript.path = path_of(folder, transcript.session)
        with transcript.path.open("ab") as file:
            file.write(transcript.data())
        assert folder.crusts("index", "--rebuild").code == 0
        assert calls == reader.execute(TOTALS).fetchone()
        reader.execute("commit")
        assert calls[0] + 1 == reader.execute(TOTALS).fetchone()[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_transcript_is_carried_over(folder: ClaudeFolder) -> None:
    """Its rows are all that can be had."""
    before = picture(db_of(folder))
    path_of(folder, SECOND).chmod(0)
    assert folder.crusts("index", "--rebuild").code == 0
    assert_same(before, picture(db_of(folder)))


def test_without_a_store_it_is_a_plain_index(tmp_path: Path) -> None:
    """There is nothing to keep."""
    folder = ClaudeFolder(tmp_path)
    folder.main().write()
    rebuild(folder)
    assert db_of(folder).exists()
    assert [] == list(db_of(folder).parent.glob("*.old"))


def test_a_root_named_wrongly_costs_nothing(folder: ClaudeFolder, tmp_path: Path) -> None:
    """The store is as it was."""
    before = picture(db_of(folder))
    done = folder.crusts("index", "--rebuild", "--path", str(tmp_path / "nowhere"))
    assert done.code == 1
    assert_same(before, picture(db_of(folder)))
    assert [] == list(db_of(folder).parent.glob("*.old"))


def test_its_summary_counts_what_was_read(folder: ClaudeFolder) -> None:
    """All that is on disk."""
    said = json.loads(folder.crusts("index", "--rebuild", "--json").out)
    assert (2, 2) == (said["files"], said["changed"])
