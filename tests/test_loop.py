"""The whole loop with real processes: Claude Code works, its hooks and status line run, and all numbers agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders import ClaudeFolder
from tests.loop import ClaudeCode
from tests.picture import ask

SESSION = "5e551001-0000-4000-8000-0000000000aa"
LATER = "5e551001-0000-4000-8000-0000000000bb"
FORMAT = "{percent}|{tokens}|{limit}|{trigger}|{calls}|{compactions}|{session}"


@pytest.fixture
def claude(tmp_path: Path) -> ClaudeCode:
    """A Claude Code with all of ours installed, whose status line prints bare numbers."""
    folder = ClaudeFolder(tmp_path)
    assert folder.crusts("hooks", "enable").code == 0
    assert folder.crusts("hooks", "auto-inject", "enable").code == 0
    assert folder.crusts("statusline", "install", "--format", FORMAT).code == 0
    return ClaudeCode(folder)


def same_everywhere(claude: ClaudeCode, *, again: bool = False) -> dict[str, Any]:
    """The window, after status line, `status` and `analyze` were asked and agreed; `analyze` indexes, so it is last.

    `again`: what is read from the store alone is the same as what was read past it before.
    """
    shown = claude.status_line().split("|")
    session = claude.transcript.session
    status = claude.folder.crusts("status", session, "--json").json()
    told: dict[str, Any] = claude.folder.crusts("analyze", session, "--json").json()
    found = told["breakdown"]
    for key in ("total_tokens", "context_limit", "autocompact_trigger", "calls_until_compaction", "usage_percentage"):
        assert (key, found[key]) == (key, status[key])
    calls, percent = found["calls_until_compaction"], found["total_tokens"] / found["context_limit"] * 100
    assert [f"{percent:.0f}", "" if calls is None else f"{calls:,}"] == [shown[0], shown[4]]
    assert [str(status["compactions"]), session[:8]] == shown[5:]
    if not again:
        return found
    after = claude.folder.crusts("status", session, "--json").json()
    # The first report brings the prices.
    either = {"unindexed_bytes": 0, "cache_again_usd": after["cache_again_usd"]}
    assert status["cache_again_usd"] in (None, after["cache_again_usd"])
    assert status | either == after | either
    assert after["messageCount"] == told["messageCount"]
    assert claude.status_line() == "|".join(shown)
    return found


def calls_in_store(claude: ClaudeCode, session: str) -> int:
    """API calls of a session that are in the store."""
    db = claude.folder.home / ".claude-crusts" / "index.db"
    sql = """
        select count(*) from api_calls as c join transcripts as t on t.id = c.transcript_id
        join sessions as s on s.id = t.session_id where s.session_id = ?
    """
    return int(ask(db, sql, session)[0][0])


@pytest.mark.long
def test_a_day_with_claude_code(claude: ClaudeCode) -> None:
    """Prompts, reads, a subagent, a compaction, a resumed and a second session: after each step all agree."""
    claude.begin(SESSION)
    claude.prompt("why is the build slow?")
    claude.read("/x/build.py", "import os\n" * 400, context=21_000)
    found = same_everywhere(claude, again=True)
    assert 21_090 == found["total_tokens"]
    claude.answer("It walks the tree twice.", context=23_500)
    claude.read("/x/walk.py", "for x in y:\n" * 300, context=26_000)
    claude.read("/x/walk.py", "for x in y:\n" * 300, context=28_200)
    claude.answer("Done.", context=30_000)
    assert "1000" not in claude.status_line()
    same_everywhere(claude)
    claude.hooks("Stop", stop_hook_active=False)
    assert 5 == calls_in_store(claude, SESSION)
    same_everywhere(claude)

    claude.subagent("a1b2c3d", context=9_000)
    assert 7 == calls_in_store(claude, SESSION)
    same_everywhere(claude)

    for turn in range(6):
        claude.prompt(f"step {turn}")
        claude.answer("Going on. " * 30, context=60_000 + turn * 15_000)
        claude.hooks("Stop", stop_hook_active=False)
    assert 135_400 == same_everywhere(claude)["total_tokens"]

    claude.compact(pre=140_000, post=6_000)
    compacted = same_everywhere(claude, again=True)
    assert 6_000 < compacted["total_tokens"] < 60_000
    claude.prompt("now the tests")
    claude.answer("Writing them.", context=24_000)
    assert 24_400 == same_everywhere(claude)["total_tokens"]
    claude.hooks("SessionEnd", reason="other")

    # Resumed: the same file goes on, and the process is another.
    resumed = ClaudeCode(claude.folder)
    resumed.transcript = claude.transcript
    resumed.prompt("one more thing")
    resumed.answer("Sure.", context=26_000)
    assert 26_400 == same_everywhere(resumed)["total_tokens"]

    claude.begin(LATER)
    claude.prompt("another day")
    claude.answer("Good morning.", context=19_000)
    assert 19_400 == same_everywhere(claude)["total_tokens"]
    claude.hooks("SessionEnd", reason="clear")
    assert {0} == {run.code for _, run in claude.runs}
    assert {("", "")} == {(run.out, run.err) for event, run in claude.runs}


@pytest.mark.long
def test_a_rewind_leaves_the_dead_branch(claude: ClaudeCode) -> None:
    """Going back to an earlier prompt: the window is that of the new branch, in the store or not."""
    claude.begin(SESSION)
    claude.prompt("first")
    claude.answer("One.", context=20_000)
    fork = claude.transcript.parent
    claude.prompt("second")
    for step in range(4):
        claude.answer("Two.", context=40_000 + step * 10_000)
    claude.hooks("Stop")
    same_everywhere(claude)
    claude.transcript.parent = fork
    claude.prompt("second, otherwise")
    claude.answer("Three.", context=22_000)
    assert 22_400 == same_everywhere(claude, again=True)["total_tokens"]


@pytest.mark.long
def test_advice_is_given_once_near_compaction(claude: ClaudeCode) -> None:
    """The prompt that comes when the window is nearly full brings the advice; the next one does not."""
    claude.begin(SESSION)
    assert [""] == [run.out for run in claude.prompt("begin")]
    for step in range(5):
        claude.read("/x/big.py", "z = 1\n" * 9_000, context=130_000 + step * 5_000)
    claude.hooks("Stop")
    (run,) = claude.prompt("and now?")
    assert (0, "") == (run.code, run.err)
    assert '"hookEventName": "UserPromptSubmit"' in run.out
    assert "/compact" in run.out
    assert [""] == [run.out for run in claude.prompt("again")]
    entries = claude.folder.crusts("hooks", "auto-inject", "log", "--json").json()["entries"]
    assert [SESSION] == [entry["sessionId"] for entry in entries]
    assert same_everywhere(claude)["total_tokens"] == entries[0]["windowTokens"]
