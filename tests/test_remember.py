"""What a payload tells and no transcript says is kept beside the answer, and never in its way (D20)."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from crusts_index.store.open import open_store
from tests import stores
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask, assert_sound, one
from tests.program import Program, folder_for_all
from tests.test_faults import small_disk

MODEL = "claude-opus-4-8[1m]"
EXPIRES = 1_796_056_856
TREE = {"name": "try", "path": "/tmp/try", "branch": "topic", "original_cwd": "/w/p"}
TOLD: dict[str, Any] = {
    "model": {"id": MODEL, "display_name": "Opus"},
    "context_window": {"context_window_size": 1_000_000, "current_usage": None},
    "prompt_cache": {"ttl": "5m", "expires_at": EXPIRES},
    "workspace": {"current_dir": "/w/p", "repo": {"host": "github.com", "owner": "ada", "name": "site"}},
    "worktree": TREE,
    "pr": {"number": 7, "review_state": "approved", "url": "https://example.org"},
}
STORED = (1_000_000, "5m", EXPIRES * 1000, "github.com/ada/site", "try", "/tmp/try", "topic", "7 approved")
FACTS = """
select window_tokens, cache_ttl, cache_expires_ms, repo, worktree, worktree_of, branch, pr from payload_facts
"""


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A session of a prompt and four calls, indexed."""
    t = folder.main()
    t.prompt("begin")
    for context in (20_000, 22_000, 24_000, 26_000):
        t.response("on", context=context, output=100)
    t.write()
    assert 0 == folder.crusts("index").code
    return t


def db_of(folder: ClaudeFolder) -> Path:
    """The store."""
    return folder.home / ".claude-crusts" / "index.db"


def payload(t: Transcript, **more: Any) -> str:
    """What Claude Code says of the session."""
    said = {"session_id": t.session, "transcript_path": str(t.path), "cwd": t.cwd, "model": {"id": t.model}}
    return json.dumps({**said, **more})


def tell(folder: ClaudeFolder, given: str, *args: str, **env: str) -> str:
    """What the status line, or another command, answers to a payload."""
    done = folder.crusts(*(args or ("statusline",)), stdin=given, **env)
    assert (0, "") == (done.code, done.err)
    return done.out


def written(db: Path) -> tuple[bytes, ...]:
    """The store's bytes and its log's."""
    return tuple(path.read_bytes() for path in (db, Path(f"{db}-wal")) if path.exists() and path.stat().st_size)


# ---------------------------------------------------------------------- what is kept


def test_what_a_status_line_is_told_is_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """Of session and model: the window, the cache, the repository, the worktree and the pull request."""
    line = tell(folder, payload(t, **TOLD))
    assert "crusts" not in line
    assert [(t.session, MODEL)] == ask(db_of(folder), "select session_id, model from payload_facts")
    expected = (*STORED[:5], "/w/p", *STORED[6:])
    assert [expected] == ask(db_of(folder), FACTS)


def test_both_spellings_are_the_same(folder: ClaudeFolder, t: Transcript) -> None:
    """Names in camelCase are read as those in snake_case; where both are there, the latter holds."""
    camel = {
        "sessionId": t.session,
        "transcriptPath": str(t.path),
        "contextWindow": {"contextWindowSize": 1_000_000, "currentUsage": None},
        "promptCache": {"ttl": "5m", "expiresAt": EXPIRES},
        "worktree": {**TREE, "originalCwd": "/elsewhere"},
        "rateLimits": {"fiveHour": {"usedPercentage": 12.5, "resetsAt": EXPIRES}},
    }
    tell(folder, json.dumps({**TOLD, "context_window": None, "prompt_cache": None, **camel}).replace("null", "{}"))
    tell(folder, json.dumps({**{key: TOLD[key] for key in ("model", "workspace", "pr")}, **camel}))
    assert [(*STORED[:5], "/w/p", *STORED[6:])] == ask(db_of(folder), FACTS)
    assert [("five_hour", 12.5, EXPIRES * 1000)] == ask(
        db_of(folder), "select name, used_percentage, resets_ms from limit_samples"
    )


def test_nothing_is_written_where_nothing_is_new(folder: ClaudeFolder, t: Transcript) -> None:
    """The same again, less than before, and an end of the cache less than a minute later: no byte changes."""
    limits = {"five_hour": {"used_percentage": 40, "resets_at": EXPIRES}}
    tell(folder, payload(t, **TOLD, rate_limits=limits))
    before = written(db_of(folder))
    later = {**TOLD, "prompt_cache": {"ttl": "5m", "expires_at": EXPIRES + 59}}
    for given in (TOLD, {"model": TOLD["model"]}, later, {**TOLD, "rate_limits": limits}):
        tell(folder, payload(t, **given))
    assert before == written(db_of(folder))
    tell(folder, payload(t, **{**TOLD, "prompt_cache": {"expires_at": EXPIRES + 60}}))
    assert [("5m", (EXPIRES + 60) * 1000)] == ask(
        db_of(folder), "select cache_ttl, cache_expires_ms from payload_facts"
    )


def test_models_have_rows_of_their_own(folder: ClaudeFolder, t: Transcript) -> None:
    """A session that switches has a window for each; one that is changed replaces the one before."""
    for model, size in (("a", 200_000), ("b", 1_000_000), ("a", 500_000)):
        tell(folder, payload(t, model={"id": model}, context_window={"context_window_size": size}))
    assert [("a", 500_000), ("b", 1_000_000)] == ask(
        db_of(folder), "select model, window_tokens from payload_facts order by model"
    )


def test_limits_are_sampled(folder: ClaudeFolder, t: Transcript) -> None:
    """At once where one rose by a point, else after five minutes where it rose at all, and in a new window.

    What is less, or of a window that is over, is told by a session that rests.
    """
    db = db_of(folder)

    def sample(used: float, resets: int | None, minutes: float = 0) -> int:
        """How many samples are new when it is told so many minutes after the last."""
        with closing(open_store(str(db), write=True)) as store:
            store.execute("update limit_samples set time_ms = time_ms - ?", (int(minutes * 60_000),))
        count = one(db, "select count(*) from limit_samples")
        limit = {"used_percentage": used, **({} if resets is None else {"resets_at": resets})}
        tell(folder, payload(t, rate_limits={"seven_day": limit}))
        return int(one(db, "select count(*) from limit_samples")) - int(count)

    told = [
        sample(10, EXPIRES),
        sample(10.5, EXPIRES, 4.9),
        sample(10.5, EXPIRES, 5),
        sample(11.5, EXPIRES, 0.1),
        sample(11.5, EXPIRES, 60),
        sample(9, EXPIRES + 30, 60),
        sample(90, EXPIRES - 3600, 60),
        sample(0, EXPIRES + 3600, 0.1),
        sample(0.5, None, 4.9),
        sample(0.5, None, 0.2),
    ]
    assert [1, 0, 1, 1, 0, 0, 0, 1, 0, 1] == told


def test_hooks_keep_what_they_are_told(folder: ClaudeFolder, t: Transcript) -> None:
    """A start says the model, and whether the cache likely expired; of a session without a transcript too."""
    start = {"hook_event_name": "SessionStart", "model": MODEL, "source": "resume"}
    for number, args in enumerate((("index", "--hook"), ("status", "--hook"))):
        session = f"{SESSION[:-1]}{number + 3}"
        tell(folder, payload(t, **start, session_id=session, transcript_path=None), *args)
        assert [(MODEL, None)] == ask(
            db_of(folder), "select model, cache_expires_ms from payload_facts where session_id = ?", session
        )
    folder.crusts("hooks", "auto-inject", "enable")
    tell(folder, payload(t, **start, prompt_cache_likely_expired=True), "auto-inject")
    (told,) = ask(db_of(folder), "select cache_expires_ms, time_ms from payload_facts where session_id = ?", t.session)
    assert told[0] == told[1]
    tell(folder, payload(t, **start, prompt_cache_likely_expired=True), "index", "--hook")
    assert [told] == ask(
        db_of(folder), "select cache_expires_ms, time_ms from payload_facts where session_id = ?", t.session
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"context_window": {"context_window_size": -1}, "prompt_cache": {"ttl": "x" * 9, "expires_at": "soon"}},
        {"context_window": [], "prompt_cache": "5m", "workspace": {"repo": "a/b"}, "worktree": "try", "pr": 7},
        {"prompt_cache": {"ttl": "5 m", "expires_at": 1e300}, "pr": {"number": -7}, "worktree": {"name": "a b"}},
        {"prompt_cache": {"expires_at": EXPIRES * 1000}, "worktree": {"name": "n" * 201, "original_cwd": "w"}},
        {"workspace": {"repo": {"host": "h", "owner": "o", "name": 5}}, "worktree": {"branch": "\x1b[2J"}},
        {"rate_limits": {"five_hour": {"used_percentage": "9"}, "seven_day": 9, "other": {"used_percentage": 9}}},
        {"rate_limits": {"five_hour": {"used_percentage": -1}, "seven_day": {"used_percentage": 1e9}}},
    ],
    ids=range(7),
)
def test_what_makes_no_sense_is_not_kept(folder: ClaudeFolder, t: Transcript, odd: dict[str, Any]) -> None:
    """Types, lengths and ranges are looked at; a field that is odd costs only itself."""
    tell(folder, payload(t, **odd))
    assert [(None,) * 8] == ask(db_of(folder), FACTS)
    assert [] == ask(db_of(folder), "select * from limit_samples")


@pytest.mark.parametrize("model", [None, "", "two words", "x" * 201, 7, {"id": []}])
def test_a_model_that_is_none_has_no_row(folder: ClaudeFolder, t: Transcript, model: object) -> None:
    """Nor has a session whose id is none."""
    tell(folder, payload(t, model=model, context_window={"context_window_size": 5}))
    tell(folder, payload(t, session_id="two words"))
    assert [] == ask(db_of(folder), "select * from payload_facts")


# ---------------------------------------------------------------------- what is private


def test_no_text_where_none_may_be_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """The repository, the worktree's name, branch and request go; what is a number, or a folder, stays."""
    (db_of(folder).parent / "config.json").write_text('{"keepText": false}')
    tell(folder, payload(t, **TOLD))
    assert [(*STORED[:3], None, None, "/w/p", None, None)] == ask(db_of(folder), FACTS)
    before = written(db_of(folder))
    tell(folder, payload(t, **TOLD))
    assert before == written(db_of(folder))


def test_text_that_a_status_line_kept_goes_when_the_user_says_so(folder: ClaudeFolder, t: Transcript) -> None:
    """A store that had none by then is gone through again."""
    config = db_of(folder).parent / "config.json"
    for _ in range(2):
        config.write_text('{"keepText": false}')
        folder.crusts("index")
        assert {(None, None)} >= set(ask(db_of(folder), "select repo, branch from payload_facts"))
        config.write_text('{"keepText": true}')
        tell(folder, payload(t, **TOLD))
        assert [("github.com/ada/site", "topic")] == ask(db_of(folder), "select repo, branch from payload_facts")


def test_forgotten_sessions_take_it_along(folder: ClaudeFolder, t: Transcript) -> None:
    """Nothing of one is kept from then on; `--before` takes what is of no session that the store knows."""
    limits = {"five_hour": {"used_percentage": 40, "resets_at": EXPIRES}}
    tell(folder, payload(t, **TOLD))
    tell(folder, payload(t, session_id="unknown", transcript_path=None, rate_limits=limits))
    assert 0 == folder.crusts("forget", t.session, "--yes").code
    tell(folder, payload(t, **TOLD))
    assert [("unknown",)] == ask(db_of(folder), "select session_id from payload_facts")
    other = folder.main(f"{SESSION[:-1]}9")
    other.response("x", context=10)
    other.write()
    tell(folder, payload(other, **TOLD))
    assert 0 == folder.crusts("forget", "--before", "2099-01-01", "--yes").code
    assert [] == ask(db_of(folder), "select session_id from payload_facts")
    assert [] == ask(db_of(folder), "select name from limit_samples")


def test_a_rebuilt_store_has_it_still(folder: ClaudeFolder, t: Transcript) -> None:
    """It is in no transcript, so it is carried over."""
    limits = {"five_hour": {"used_percentage": 40, "resets_at": EXPIRES}}
    tell(folder, payload(t, **TOLD, rate_limits=limits))
    before = [ask(db_of(folder), f"select * from {table}") for table in ("payload_facts", "limit_samples")]
    assert 0 == folder.crusts("index", "--rebuild").code
    assert before == [ask(db_of(folder), f"select * from {table}") for table in ("payload_facts", "limit_samples")]
    assert all(before)


def test_a_worktree_that_only_the_payload_tells(folder: ClaudeFolder, t: Transcript) -> None:
    """Its folder is that of the session, unless a transcript says another (D22)."""
    tell(folder, payload(t, **TOLD))
    assert "/w/p" == one(db_of(folder), "select repo from sessions_overview")
    t.meta("worktree-state", worktreeSession={"originalCwd": "/w/q", "worktreePath": "/tmp/q"})
    t.append()
    folder.crusts("index")
    assert "/w/q" == one(db_of(folder), "select repo from sessions_overview")


# ---------------------------------------------------------------------- in processes of their own


def start(folder: ClaudeFolder, given: str, *args: str, limit: int | None = None) -> subprocess.Popen[str]:
    """Start a status line, perhaps with a limit on the size of files, and give it its payload."""
    process = subprocess.Popen(
        [sys.executable, "-m", "crusts_index", *(args or ("statusline",))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=folder.env(),
        cwd=folder.home,
        preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))),
    )
    assert process.stdin is not None
    process.stdin.write(given)
    process.stdin.close()
    process.stdin = None
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, answer and complaints."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.long
@pytest.mark.process
def test_fifty_at_once(folder: ClaudeFolder, t: Transcript) -> None:
    """All give the line, and what they were told is kept once."""
    line = tell(folder, payload(t, **{**TOLD, "model": {}}))
    running = [start(folder, payload(t, **TOLD)) for _ in range(50)]
    assert {(0, line, "")} == {ended(process) for process in running}
    assert [(*STORED[:5], "/w/p", *STORED[6:])] == ask(db_of(folder), FACTS)
    assert_sound(db_of(folder))


@pytest.mark.long
@pytest.mark.process
def test_killed_while_it_writes(folder: ClaudeFolder, t: Transcript) -> None:
    """Claude Code ends a status line by the next: the row is there or not, and the store is sound."""
    for number in range(20):
        process = start(folder, payload(t, **{**TOLD, "context_window": {"context_window_size": 1000 + number}}))
        assert process.stdout is not None
        process.stdout.readline()  # the answer comes first
        process.kill()
        process.wait()
        process.communicate()
    assert_sound(db_of(folder))
    tell(folder, payload(t, **TOLD))
    assert 1_000_000 == one(db_of(folder), "select window_tokens from payload_facts")


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("trouble", ["locked", "rebuilt", "long log", "small files"])
def test_a_store_that_cannot_be_written_now_is_left_alone(folder: ClaudeFolder, t: Transcript, trouble: str) -> None:
    """The line is what it is otherwise, without a word; the next payload is kept."""
    db, line = db_of(folder), tell(folder, payload(t, **{**TOLD, "model": {}}))
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        from crusts_index.store.locks import held, store_lock

        limit = None
        if trouble == "locked":
            other.execute("begin immediate")
        elif trouble in ("long log", "small files"):
            other.execute("pragma wal_autocheckpoint = 0")
            size = 5 << 20 if trouble == "long log" else 200_000
            other.execute("create table filler as select zeroblob(?) as x", (size,))
            limit = 100_000 if trouble == "small files" else None
        with held(store_lock(str(db)) if trouble == "rebuilt" else str(folder.home / "another")):
            assert (0, line, "") == ended(start(folder, payload(t, **TOLD), limit=limit))
        assert [] == ask(db, "select * from payload_facts")
        if trouble == "locked":
            other.execute("rollback")
        elif trouble != "rebuilt":
            other.execute("drop table filler")
            other.execute("pragma wal_checkpoint(truncate)")
    assert line == tell(folder, payload(t, **TOLD))
    assert 1 == one(db, "select count(*) from payload_facts")
    assert_sound(db)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("trouble", ["absent", "older"])
def test_no_store_is_made_or_changed_for_it(folder: ClaudeFolder, t: Transcript, trouble: str) -> None:
    """Where there is none, and where it is of a revision before."""
    db = db_of(folder)
    for path in db.parent.iterdir():
        path.unlink()
    if trouble == "older":
        db.write_bytes((stores.FOLDER / "0001.db").read_bytes())
    before = sorted((path.name, path.read_bytes()) for path in db.parent.iterdir())
    code, out, err = ended(start(folder, payload(t, **TOLD)))
    assert (0, 1, "") == (code, out.count("\n"), err)
    assert "2% " in out or "3% " in out
    assert before == sorted((path.name, path.read_bytes()) for path in db.parent.iterdir())


@pytest.mark.long
@pytest.mark.process
def test_a_full_disk(folder: ClaudeFolder, t: Transcript) -> None:
    """Without room for a byte the line is the same but for the price, which only the store has; it is as it was."""
    line = tell(folder, payload(t, **{**TOLD, "model": {}})).replace(", next $0.16", "")
    with small_disk(folder.home / "disk", "2m"):
        db = folder.home / "disk" / "index.db"
        shutil.copyfile(db_of(folder), db)
        before, filler = db.read_bytes(), folder.home / "disk" / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        assert (0, line, "") == ended(start(folder, payload(t, **TOLD), "statusline", "--db", str(db)))
        filler.unlink()
        assert before == db.read_bytes()
        assert [] == ask(db, "select * from payload_facts")
        assert_sound(db)


@pytest.mark.long
@pytest.mark.process
def test_a_store_that_may_not_be_written(folder: ClaudeFolder, t: Transcript) -> None:
    """On read-only media, and where the folder is another's: the line comes from it, and it stays as it is."""
    with folder_for_all() as place:
        program = Program(place / "program")
        (home := place / "home").mkdir(0o755)
        db = home / "index.db"
        db.write_bytes(db_of(folder).read_bytes())
        db.chmod(0o444)
        home.chmod(0o555)
        (place / "payload").write_text(payload(t, **TOLD))
        code = (
            "import select\nfrom crusts_index.__main__ import main\n"
            f"drop_root()\nos.environ.update(HOME={str(home)!r}, CRUSTS_HOME={str(home)!r})\n"
            f"os.dup2(os.open({str(place / 'payload')!r}, os.O_RDONLY), 0)\n"
            "sys.exit(main(['statusline', '--db', path]))"
        )
        before = db.read_bytes()
        out = program.run(code, db)
        home.chmod(0o755)
        assert "%" in out
        assert before == db.read_bytes()
        assert ["index.db"] == os.listdir(home)
