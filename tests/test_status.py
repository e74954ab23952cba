"""`crusts status`: the number of `analyze` at the same moment, and never anything but a line."""

from __future__ import annotations

import json
import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.claude.payloads import read_usage
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.loading import load
from crusts_index.insight.window.judge import Window, window_of
from crusts_index.insight.window.settings import window_settings
from crusts_index.quick.brief import Brief
from crusts_index.quick.live import Live
from crusts_index.quick.named import Named
from crusts_index.store import query
from crusts_index.store.open import open_store
from crusts_index.store.settings import Settings
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import index, new_store, scratch
from tests.profiles import examples
from tests.strategies import transcripts

NOW = 1_796_000_000_000


def settings_of(db: Path) -> Settings:
    """Settings with a store and nothing else."""
    return Settings(
        home=str(db.parent),
        db=str(db),
        roots=(),
        roots_from="",
        project=None,
        timezone=None,
        json=False,
        verbose=False,
        refresh=True,
        no_color=True,
        config={},
    )


def told(facts: Facts, window: Window) -> dict[str, Any]:
    """What a status says; a size that is not exact rests on estimates, which are not of interest here."""
    said = {
        "limit": (window.limit, window.limit_kind, window.limit_signal),
        "trigger": window.trigger,
        "growth": window.growth,
        "basis": window.basis,
        "compactions": [(one.id, one.detection) for one in facts.all_compactions],
    }
    return said | {"size": window.size, "calls": window.calls_left} if window.basis == "exact" else said


def from_all_rows(db: Path, session: str) -> tuple[dict[str, Any], int]:
    """What `analyze` says, and the number of messages."""
    with closing(open_store(db)) as store:
        fetch = partial(query.rows, store)
        facts = load(fetch, session, trim=False)
        return told(facts, window_of(facts, window_settings(fetch, facts, {}, {}, NOW))), facts.session.messages


def from_status(db: Path, path: Path, session: str) -> tuple[dict[str, Any], int]:
    """What `status` says, and the number of messages."""
    live = Live(settings_of(db), Named(session, str(path)), NOW)
    try:
        return told(live.facts, live.window), live.facts.session.messages
    finally:
        live.close()


@pytest.mark.long
@given(transcripts(odd=False), st.integers(0, 40))
@examples(30)
def test_what_is_new_is_read_first(transcript: Transcript, split: int) -> None:
    """However much of a transcript is indexed: the window is the one that indexing all of it would give."""
    lines = transcript.lines()
    with scratch() as folder:
        path = folder / "config" / "projects" / "-home-ada-site" / f"{transcript.session}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(lines[:split]))
        db = new_store(folder)
        index(db, folder / "config")
        with path.open("ab") as file:
            file.writelines(lines[split:])
        ahead, _ = from_status(db, path, transcript.session)
        index(db, folder / "config")
        assert from_all_rows(db, transcript.session) == from_status(db, path, transcript.session)
        assert from_all_rows(db, transcript.session)[0] == ahead


def shown(live: Live) -> dict[str, Any]:
    """What a status line shows of a session; of a size that is not exact only that it is none."""
    window = live.window
    said = {
        "session": (live.session_id, live.project, live.compactions),
        "limit": (window.limit, window.limit_kind, window.limit_signal),
        "trigger": window.trigger,
        "growth": window.growth,
        "model": window.model,
        "result": live.worst_result(),
        "is warm": live.is_warm,
    }
    live.close()
    return said | {"size": window.size, "calls": window.calls_left} if window.basis == "exact" else said


@pytest.mark.long
@given(transcripts(odd=False), st.integers(0, 40), st.integers(1, 4))
@examples(40)
def test_a_payload_and_few_rows_say_what_all_rows_say(transcript: Transcript, split: int, back: int) -> None:
    """However much of a transcript is indexed, and of whichever of its calls the payload is: a status line shows what
    it would show if all was read."""
    lines = transcript.lines()
    usages = [one["message"]["usage"] for one in map(json.loads, lines) if one["type"] == "assistant"]
    with scratch() as folder:
        path = folder / "config" / "projects" / "-home-ada-site" / f"{transcript.session}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(lines[:split]))
        db = new_store(folder)
        index(db, folder / "config")
        with path.open("ab") as file:
            file.writelines(lines[split:])
        context, output = read_usage(usages[-back]) if len(usages) >= back else (12_345, 10)
        named = partial(Named, transcript.session, str(path), "claude-opus-4-6", 200_000, context, output)
        brief = Brief(settings_of(db), named(), NOW, with_results=True)
        line = shown(brief)
        whole = Live(settings_of(db), named(), NOW)
        if whole.window.basis == "exact":
            assert shown(whole) == line


def long_transcript(folder: ClaudeFolder, calls: int = 300) -> Transcript:
    """Many calls with two compactions, the last one some calls before the end, and a dead branch."""
    t = folder.main()
    context = 20_000
    t.prompt("begin")
    for number in range(calls):
        context += 300 + number % 7 * 10
        t.read(f"/home/ada/site/f{number}.py", "x = 1\n" * 30, context=context, output=50)
        if number in (calls // 3, calls - 40):
            t.boundary(pre=context, post=9_000)
            t.summary()
            context = 30_000
        if number == calls - 30:
            fork = t.parent
            t.prompt("a dead end")
            t.response("no", context=context + 90_000)
            t.parent = fork
            t.prompt("otherwise")
    return t


def test_a_long_session_is_told_alike(tmp_path: Path) -> None:
    """The number is that of `analyze`; so it is right after a compaction."""
    folder = ClaudeFolder(tmp_path)
    t = long_transcript(folder)
    t.write()
    for _ in range(2):
        analyzed = folder.crusts("analyze", SESSION, "--json").json()
        status = folder.crusts("status", SESSION, "--json").json()
        for key, value in analyzed["breakdown"].items():
            assert (key, status.get(key, value)) == (key, value)
        assert analyzed["messageCount"] == status["messageCount"]
        t.boundary(pre=50_000, post=8_000)
        t.summary()
        t.prompt("and on")
        t.response("yes", context=22_000, output=70)
        t.append()


def test_the_line(tmp_path: Path) -> None:
    """Percent, health, tokens, messages, compactions and calls left; the id may be cut short."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("begin")
    for context in (20_000, 22_000, 24_000, 26_000):
        t.response("on", context=context, output=100)
    t.write()
    folder.crusts("index")
    line = "CRUSTS: 13.1% (healthy) | 26,100 of 200,000 (assumed) tokens | 5 msgs | 0 compactions | "
    line += "about 157 calls (77 to 183) left\n"
    assert line == folder.crusts("status", SESSION[:6]).out
    assert line == folder.crusts("status").out
    assert line == folder.crusts("status", "--last", "1").out
    payload = json.dumps({"session_id": SESSION, "transcript_path": str(t.path), "hook_event_name": "Stop"})
    assert line == folder.crusts("status", "--hook", stdin=payload).out


def test_no_id_means_this_folder(tmp_path: Path) -> None:
    """In a project's folder it is the transcript written to last, in the store or not."""
    folder = ClaudeFolder(tmp_path)
    site = tmp_path / "site"
    site.mkdir()
    for number, context in ((1, 20_000), (2, 40_000)):
        t = folder.main(SESSION[:-1] + str(number), project=os.path.realpath(site))
        t.prompt("begin")
        t.response("on", context=context, output=100)
        os.utime(t.write(), (number, number))
        if number == 1:
            folder.crusts("index")
    assert "40,100 of" in folder.crusts("status", cwd=site).out
    assert "20,100 of" in folder.crusts("status", cwd=tmp_path).out
    assert "40,100 of" in folder.crusts("status", SESSION[:-1] + "2", cwd=tmp_path).out


@pytest.mark.parametrize("trouble", ["none", "empty", "other", "folder"])
def test_without_a_store_it_is_still_json(tmp_path: Path, trouble: str) -> None:
    """No store, an empty one, one of another program: exit 0, a line, and with --json an object."""
    folder = ClaudeFolder(tmp_path)
    db = tmp_path / "odd.db"
    if trouble == "folder":
        db.mkdir()
    elif trouble != "none":
        db.write_bytes(b"" if trouble == "empty" else b"not a database" * 99)
    for args in ((), ("--json",), ("nonesuch", "--json")):
        done = folder.crusts("status", "--db", str(db), *args)
        assert (0, "") == (done.code, done.err)
        assert done.out.count("\n") == 1
        if "--json" in args:
            assert json.loads(done.out)["sessionId"] is None
    assert 0 == folder.crusts("status", "nonesuch", "--db", str(db)).code
    assert (trouble == "none") == (not db.exists())
