"""`crusts watch`: a session as it grows, in a terminal, in a pipe and as JSON, wherever its transcript goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crusts_index import plain
from crusts_index.index.follow import MISSING, MOVED, REWRITTEN, SWITCHED, WRITTEN, Follower
from crusts_index.insight.waste.snapshot import Category, Contents, Said, Snapshot, Worker
from crusts_index.insight.window.evidence import Evidence
from crusts_index.insight.window.habits import Habits
from crusts_index.insight.window.judge import WindowSettings, judge
from crusts_index.render import dashboard, text
from tests.builders import SESSION, ClaudeFolder, Transcript
from tests.picture import ask
from tests.terminal import running, terminal

NEXT = "7e551001-0000-4000-8000-000000000002"
CLEARED = "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
FAST = ("--interval", "200")


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """A home with a project folder `site`."""
    folder = ClaudeFolder(tmp_path)
    (tmp_path / "site").mkdir()
    return folder


def begin(folder: ClaudeFolder, session: str = SESSION, context: int = 60_000) -> Transcript:
    """A session of four calls, the last one of `context` tokens, written now."""
    t = folder.main(session, project=str(folder.home / "site"), start=datetime.now(UTC) - timedelta(minutes=5))
    for step in range(4):
        t.prompt(f"step {step}")
        t.response("It walks the tree twice. " * 10, context=context - (3 - step) * 1_000, output=100)
    t.write()
    return t


def go_on(t: Transcript, context: int, said: str = "There you are.") -> None:
    """Another turn, appended."""
    t.prompt("go on")
    t.response(said, context=context, output=200)
    t.append()


def compact(t: Transcript) -> None:
    """A compaction and the first call after it, appended."""
    t.boundary("manual", 70_200, 4_000)
    t.summary()
    t.response("ready", context=21_000, output=50)
    t.append()


@pytest.mark.long
def test_each_change_is_one_object_with_the_numbers_of_analyze(folder: ClaudeFolder) -> None:
    """Every number is that of `analyze` at that moment, and nothing is told while nothing changes."""
    t = begin(folder)
    with running(folder, "watch", "--json", *FAST, cwd=folder.home / "site") as watch:
        first = watch.document()
        assert ("start", SESSION, 8, None) == tuple(
            first[key] for key in ("event", "sessionId", "messageCount", "previousSessionId")
        )
        assert watch.is_silent(1.0)
        go_on(t, 70_000)
        grown = watch.document(lambda one: one["messageCount"] == 10)
        assert ("update", 70_200, 200_000, 35.1) == tuple(
            grown[key] for key in ("event", "totalTokens", "contextLimit", "usagePercent")
        )
        said = folder.crusts("analyze", "--json", SESSION).json()
        found, waste = said["breakdown"], said["waste"]
        assert {one["category"]: one["tokens"] for one in found["buckets"]} == grown["categoryTokens"]
        assert found["context_limit"] == grown["contextLimit"]
        assert said["recommendations"]["estimated_messages_until_compaction"] == grown["callsUntilCompaction"]
        assert len([item for item in waste if not item["excuse"]]) == grown["wasteCount"]
        assert {"from": "Claude", "text": "There you are."} == grown["lastMessage"]
        compact(t)
        cut = watch.document(lambda one: one["compactionCount"] == 1)
        assert ("compaction", 21_050) == (cut["event"], cut["totalTokens"])
        assert ("manual", 70_200, 4_000) == tuple(
            cut["lastCompaction"][key] for key in ("trigger", "preTokens", "postTokens")
        )
        code, err = watch.stop()
    assert 0 == code
    assert err.startswith("crusts: Watched 5e551001 for ")
    assert "1 compaction" in err


@pytest.mark.long
def test_in_a_pipe_each_change_is_one_line(folder: ClaudeFolder) -> None:
    """Plain lines without colour; Ctrl-C ends it with a summary and 130."""
    t = begin(folder)
    with running(folder, "watch", *FAST, cwd=folder.home / "site") as watch:
        assert "% 60,100/200,000 (assumed) | about " in watch.line()
        go_on(t, 70_000, "Done \x1b[31mnow\x07.")
        grown = watch.line("10 messages (+2)")
        assert "35.1% 70,200/200,000" in grown
        assert grown.endswith("| Claude: Done now.")
        compact(t)
        assert watch.line("compacted").endswith("(manual): 70,200 → 21,000 tokens")
        watch.line("10.5% 21,050/200,000")
        code, err = watch.stop(signal.SIGINT)
        assert watch.line("Watched").startswith("Watched 5e551001 for ")
    assert (130, "") == (code, err)
    assert not [line for line in watch.seen if "\x1b" in line]


@pytest.mark.long
def test_the_dashboard_shows_a_compaction_and_settles(folder: ClaudeFolder) -> None:
    """In a terminal: the page, a flash that becomes yellow, and the terminal given back at the end."""
    t = begin(folder)
    t.meta("custom-title", customTitle="Parser \x1b[2Jrewrite")
    t.append()
    with terminal(folder, "watch", *FAST, cwd=folder.home / "site") as screen:
        page = screen.wait_for("8 messages · 0 compactions")
        assert page.startswith("5e551001 Parser rewrite")
        assert "60,100 of 200,000 (assumed) tokens (exact)" in page
        assert "compaction at 167,000: about 122 calls (" in page
        assert "growth a call " in page
        assert " · expected +" in page
        letters = ["C", "R", "U", "Sys", "T", "St"]
        assert letters == [letter for letter in letters if f"\n{letter} " in page]
        go_on(t, 70_000)
        screen.wait_for("10 messages (+2)")
        compact(t)
        screen.wait_for("\x1b[1m\x1b[30m\x1b[43m» compacted", colours=True)
        screen.wait_for("\x1b[33mcompacted ", colours=True)
        screen.type("q")
        assert 0 == screen.end()
        after = screen.screen(history=True)
        assert "Watched 5e551001 for " in after
        assert "compaction at" not in after


@pytest.mark.long
def test_a_narrow_terminal_holds_the_page(folder: ClaudeFolder) -> None:
    """After a change of size it is drawn anew: 40 columns and 12 lines hold it, without colour too."""
    t = begin(folder)
    with terminal(folder, "watch", "--no-color", *FAST, cwd=folder.home / "site") as screen:
        screen.wait_for("8 messages · 0 compactions")
        screen.resize(40, 24)
        page = screen.wait_for(lambda shown: "\ngrowth ▁" in shown or "\ngrowth █" in shown)
        assert "60,100 of 200,000 (assumed) tokens" in page
        screen.resize(40, 9)
        page = screen.wait_for(lambda shown: "growth" not in shown and "60,100 of" in shown)
        assert page.startswith("5e551001")
        assert "\x1b[" not in screen.screen(colours=True)
        go_on(t, 70_000)
        screen.wait_for("70,200 of 200,000 (assumed) tokens")
        screen.type("C-c")
        assert 130 == screen.end()


def test_a_terminal_without_cursor_movement_gets_lines(folder: ClaudeFolder) -> None:
    """TERM=dumb: one line a change, as in a pipe, no wider than the terminal."""
    t = begin(folder)
    with terminal(folder, "watch", *FAST, size=(60, 10), cwd=folder.home / "site", TERM="dumb") as screen:
        screen.wait_for("60,100/200,000")
        go_on(t, 70_000)
        shown = screen.wait_for("70,200/200,000")
        assert [8, 8] == [line.index(" 5e551001 |") for line in shown.splitlines() if line]


@pytest.mark.long
def test_it_goes_on_with_the_session_after_clear(folder: ClaudeFolder) -> None:
    """A new transcript that begins with /clear takes the place of the session at once, though that was named."""
    begin(folder)
    with running(folder, "watch", "5e55", "--json", *FAST) as watch:
        watch.document()
        follower = folder.main(NEXT, project=str(folder.home / "site"), start=datetime.now(UTC))
        follower.prompt(CLEARED)
        follower.prompt("something else")
        follower.response("yes", context=18_000, output=20)
        follower.write()
        found = watch.document(lambda one: one["sessionId"] == NEXT)
        assert ("session", SESSION, 18_020) == tuple(
            found[key] for key in ("event", "previousSessionId", "totalTokens")
        )
        assert "5e551001 → 7e551001: after /clear" == found["notice"]
        go_on(follower, 25_000)
        watch.document(lambda one: one["totalTokens"] == 25_200)


@pytest.mark.long
def test_it_goes_on_where_the_transcript_went(folder: ClaudeFolder) -> None:
    """The same session in another project folder, and one whose transcript was replaced, are told and followed."""
    t = begin(folder)
    with running(folder, "watch", "5e55", "--json", *FAST) as watch:
        watch.document()
        assert t.path is not None
        t.pieces = t.pieces[:4]
        other = t.path.with_suffix(".new")
        other.write_bytes(t.data())
        other.replace(t.path)
        assert 4 == watch.document(lambda one: one["event"] == "rewritten")["messageCount"]
        elsewhere = folder.project_folder("/home/ada/elsewhere") / t.path.name
        elsewhere.parent.mkdir()
        shutil.move(t.path, elsewhere)
        t.path, t.written = elsewhere, 4
        go_on(t, 66_000)
        moved = watch.document(lambda one: one["totalTokens"] == 66_200)
        assert (SESSION, 6) == (moved["sessionId"], moved["messageCount"])
        assert f"goes on in {elsewhere}" in "".join(watch.seen)


@pytest.mark.long
def test_while_the_store_is_locked_all_keeps_up(folder: ClaudeFolder) -> None:
    """The transcript is read apart from the store, which is left as it was; freed, it takes in what is new."""
    t = begin(folder)
    db = folder.home / ".claude-crusts" / "index.db"
    with running(folder, "watch", "--json", *FAST, cwd=folder.home / "site") as watch:
        watch.document()
        with closing(sqlite3.connect(db, isolation_level=None)) as other:
            other.execute("begin immediate")
            go_on(t, 70_000)
            found = watch.document(lambda one: one["totalTokens"] == 70_200)
            assert (10, "There you are.") == (found["messageCount"], found["lastMessage"]["text"])
            assert found["storeIsBehind"] is False
            other.execute("rollback")
        go_on(t, 80_000)
        assert 12 == watch.document(lambda one: one["totalTokens"] == 80_200)["messageCount"]
    assert [(12,)] == ask(db, "select messages from threads")


def test_without_indexing_the_store_is_left_alone(folder: ClaudeFolder) -> None:
    """--no-index: the window keeps up, the store stays as it was; where there is none, none is made."""
    t = begin(folder)
    with running(folder, "watch", "--no-index", "--json", *FAST, cwd=folder.home / "site") as watch:
        assert 60_100 == watch.document()["totalTokens"]
        go_on(t, 70_000)
        grown = watch.document(lambda one: one["totalTokens"] == 70_200)
        assert (10, False) == (grown["messageCount"], grown["storeIsBehind"])
        assert grown["categories"] is not None
    assert not (folder.home / ".claude-crusts" / "index.db").exists()


@pytest.mark.long
def test_subagents_at_work_are_shown(folder: ClaudeFolder) -> None:
    """A subagent's transcript that is written to now is one at work, with its calls and tokens."""
    begin(folder)
    with running(folder, "watch", "--json", *FAST, cwd=folder.home / "site") as watch:
        assert [] == watch.document()["subagents"]
        agent = folder.subagent(agent="a1b2c3d", project=str(folder.home / "site"), meta={"agentType": "Explore"})
        agent.prompt("look around")
        agent.response("Looking.", context=9_000, output=10)
        agent.write()
        found = watch.document(lambda one: one["subagents"])
        assert [{"agentId": "a1b2c3d", "agentType": "Explore", "calls": 1, "tokens": 9_010}] == found["subagents"]
        old = time.time() - 120
        os.utime(agent.path or "", (old, old))
        watch.document(lambda one: not one["subagents"])


def test_without_kept_text_nothing_said_is_shown(folder: ClaudeFolder) -> None:
    """keepText: false holds here too."""
    begin(folder)
    config = folder.home / ".claude-crusts" / "config.json"
    config.parent.mkdir()
    config.write_text('{"keepText": false}')
    with running(folder, "watch", "--json", *FAST, cwd=folder.home / "site") as watch:
        watch.document()
    assert "walks the tree" not in "".join(watch.seen)


def test_it_ends_when_nobody_reads_it(folder: ClaudeFolder) -> None:
    """A closed pipe ends an idle watch."""
    begin(folder)
    shell = f"'{sys.executable}' -m crusts_index watch --interval 200 | head -1"
    done = subprocess.run(
        ["sh", "-c", shell], env=folder.env(), cwd=folder.home / "site", capture_output=True, timeout=60, check=False
    )
    assert b"5e551001 | " in done.stdout
    assert b"" == done.stderr


@pytest.mark.long
def test_an_idle_watch_is_idle(folder: ClaudeFolder) -> None:
    """At the shortest interval, three seconds of nothing cost next to no time of the processor (well under a fifth)."""
    begin(folder)
    spent = []
    for seconds in (0.0, 3.0):
        before = os.times()
        with running(folder, "watch", *FAST, cwd=folder.home / "site") as watch:
            watch.line()
            time.sleep(seconds)
            watch.stop()
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    share = (spent[1] - spent[0]) / 3
    print(f"an idle watch takes {share:.1%} of a processor")
    assert 0.2 > share


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--interval", "199"], 2), (["--interval", "x"], 2), (["--last", "1", "5e55"], 2), (["nothing"], 1), ([], 1)],
)
def test_what_cannot_be_watched_is_told_in_one_line(folder: ClaudeFolder, arguments: list[str], code: int) -> None:
    """A wrong interval is wrong usage; no such session, or none at all, an error."""
    done = folder.crusts("watch", *arguments)
    assert (code, "") == (done.code, done.out)
    assert "Traceback" not in done.err


def test_a_session_whose_transcript_is_gone_cannot_be_watched(folder: ClaudeFolder) -> None:
    """Exit 1: there is nothing that could grow."""
    t = begin(folder)
    folder.crusts("index")
    assert t.path is not None
    t.path.unlink()
    done = folder.crusts("watch", "5e55")
    assert 1 == done.code
    assert "no longer on disk" in done.err


# ---------------------------------------------------------------------- where a session goes on


def aged(path: Path, seconds: float) -> Path:
    """The file as if it was last written so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def written(place: Path, name: str, seconds: float = 0, content: str = '{"type":"user"}\n') -> Path:
    """A transcript written so long ago."""
    path = place / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return aged(path, seconds)


def looks(follower: Follower) -> list[str]:
    """What a look tells, the neighbours looked at too."""
    follower._looked_around = 0
    return [one.kind for one in follower.look()]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project folder."""
    return tmp_path / "projects" / "-site"


def follow(path: Path, *, is_pinned: bool) -> Follower:
    """Follow a transcript in its projects folder."""
    return Follower(str(path), [str(path.parent.parent)], is_pinned=is_pinned)


@pytest.mark.parametrize("is_pinned", [True, False])
def test_a_new_session_takes_over_from_one_at_rest(place: Path, *, is_pinned: bool) -> None:
    """Without any mark a new transcript is the next session as soon as the old one has rested."""
    old = written(place, "a", 60)
    follower = follow(old, is_pinned=is_pinned)
    assert [] == looks(follower)
    new = written(place, "b")
    assert [SWITCHED] == looks(follower)
    assert str(new) == follower.path
    assert [] == looks(follower)


def test_a_new_session_beside_one_at_work_has_to_wait(place: Path) -> None:
    """Two panes: no switch while the session itself is written to."""
    old = written(place, "a", 60)
    follower = follow(old, is_pinned=False)
    written(place, "b")
    aged(old, 1)
    assert [WRITTEN] == looks(follower)
    assert str(old) == follower.path


def test_an_older_session_that_is_resumed_is_followed_unless_one_was_named(place: Path) -> None:
    """The session last active is meant where none was named; a named one is left for new ones only."""
    for is_pinned, expected in ((True, "a"), (False, "b")):
        old, other = written(place, "a", 60), written(place, "b", 600)
        follower = follow(old, is_pinned=is_pinned)
        written(place, "b", 0, '{"type":"user"}\n' * 2)
        looks(follower)
        assert expected == follower.stem
        other.unlink()


def test_the_session_asked_for_is_returned_to(place: Path) -> None:
    """A pane beside it was taken for its next session; when the one asked for goes on, that is mended for good."""
    old = written(place, "a", 60)
    follower = follow(old, is_pinned=True)
    written(place, "b")
    looks(follower)
    assert "b" == follower.stem
    written(place, "a", 0, '{"type":"user"}\n' * 2)
    assert [SWITCHED] == looks(follower)
    assert "a" == follower.stem
    aged(old, 100)
    written(place, "b", 0, '{"type":"user"}\n' * 3)
    looks(follower)
    assert "a" == follower.stem


def test_copied_history_is_a_continuation(place: Path) -> None:
    """A resumed session of older versions: a new transcript that begins with the records of this one."""
    old = written(place, "a", 0)
    follower = follow(old, is_pinned=True)
    written(place, "b", -2, '{"type":"user","sessionId":"a"}\n')
    assert [SWITCHED] == looks(follower)
    assert "b" == follower.stem


def test_a_transcript_that_is_missing_or_replaced_is_told(place: Path) -> None:
    """Once each."""
    old = written(place, "a", 60)
    follower = follow(old, is_pinned=True)
    old.unlink()
    assert [MISSING] == looks(follower)
    assert [] == looks(follower)
    written(place, "a", 0, "{}\n{}\n{}\n")
    looks(follower)
    old.write_text("{}\n")
    assert [REWRITTEN] == looks(follower)
    moved = place.parent / "-other" / "a.jsonl"
    moved.parent.mkdir()
    old.rename(moved)
    assert [MISSING, MOVED] == looks(follower)
    assert str(moved) == follower.path


# ---------------------------------------------------------------------- the page


def shot(**values: object) -> Snapshot:
    """A snapshot of a session in the middle of its work, with what would break a page."""
    names = ("conversation", "retrieved", "user", "system", "tools", "state")
    evidence = Evidence(SESSION, "", None, None, "claude-opus-4-8\x1b[31m", "m", post_tokens=1_234_567)
    told: dict[str, object] = {
        "session_id": SESSION,
        "project": "/home/ada/" + "very-long-name/" * 8,
        "title": "日本語のタイトル " * 8,
        "messages": 1_234,
        "window": judge(evidence, WindowSettings(payload_window=1_000_000), Habits()),
        "deltas": (-500, 0, 10, 20_000, 5),
        "contents": Contents(tuple(Category(name, 999_999, 16.7) for name in names), "window", 12, 34_567, ()),
        "compactions": 3,
        "last_compaction": None,
        "workers": tuple(Worker(f"a{n}" * 10, "Explore", n, n * 1_000) for n in range(9)),
        "said": Said("You", "a\x1b]0;x\x07b\n" * 80),
        "is_behind": True,
    }
    return Snapshot(**{**told, **values})  # type: ignore[arg-type]


NOTHING = judge(Evidence(SESSION, "", None, None, "m", "m"), WindowSettings(), Habits())
"""The window of a session without a call."""


@pytest.mark.parametrize("width", [1, 8, 20, 40, 79, 200])
@pytest.mark.parametrize("height", [1, 5, 12, 24, 60])
def test_every_size_of_a_terminal_holds_the_page(width: int, height: int) -> None:
    """No line is wider and no page higher than the terminal, and no control character gets through."""
    for one in (shot(), shot(window=NOTHING, contents=None, deltas=(), workers=(), said=None)):
        lines = dashboard.page(one, dashboard.Moment(0, 3, notice="→ 中文"), width, height, colour=False)
        assert height >= len(lines)
        assert [] == [line for line in lines if text.width(line) > width or plain.line(str(line)) != line]


def test_the_spark_line_shows_the_last_values() -> None:
    """From nothing to the largest; shrinking is as low as nothing."""
    assert "▁▁▅█" == dashboard.sparkline([-5, 0, 5, 10], 10)
    assert "▅█" == dashboard.sparkline([-5, 0, 5, 10], 2)
    assert "▁▁" == dashboard.sparkline([0, -3], 5)
    assert "" == dashboard.sparkline([1], 0)


def test_an_object_is_json_without_control_characters() -> None:
    """What was said is cleaned, and unknown is null."""
    found = dashboard.as_json(shot(window=NOTHING, contents=None), dashboard.Moment(0), "start", None)
    encoded = json.loads(json.dumps(found))
    assert "\x1b" not in encoded["lastMessage"]["text"]
    assert [None] * 4 == [encoded[key] for key in ("totalTokens", "usagePercent", "categories", "wasteCount")]
    assert "1970-01-01T00:00:00.000Z" == encoded["timestamp"]
