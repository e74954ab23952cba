"""What to do about a window: urgency, the prediction, consumers, servers, instructions, habits."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crusts_index.insight.waste.consumers import consumers_of, files_of
from tests.builders import CWD, ClaudeFolder, Transcript
from tests.wasteful import LONG, PAGE, Wasteful, three_kinds, wasteful


def growing(folder: ClaudeFolder, last: int, step: int) -> Transcript:
    """Calls whose context grows by `step` up to `last`; each answer is 60 tokens."""
    t = folder.main()
    t.prompt("go on and on, as long as it takes")
    for context in range(last - 5 * step, last + 1, step):
        t.response(LONG, context=context, output=60)
    return t


def actions(found: Wasteful) -> list[tuple[int, str]]:
    """Priority and first line of every recommendation."""
    return [(one.priority, one.action.split("\n")[0]) for one in found.advice.recommendations]


@pytest.mark.parametrize(
    ("last", "step", "calls", "said"),
    [
        (168_000, 1_000, 0, (1, "past the compaction trigger")),
        (161_900, 1_000, 5, (2, "about 5 calls (4 to 23) until auto-compaction: act soon")),
        (165_900, 1_000, 1, (2, "about 1 call (1 to 5) until auto-compaction: act soon")),
        (116_900, 1_000, 57, (5, "about 57 calls (33 to 91) until auto-compaction")),
        (49_900, 1_000, 134, None),
    ],
)
def test_the_prediction(folder: ClaudeFolder, last: int, step: int, calls: int, said: tuple[int, str] | None) -> None:
    """Calls left until the trigger of 167,000 at the growth forecast, with their range, the nearer the more urgent."""
    found = wasteful(folder, growing(folder, last, step))
    assert calls == found.advice.calls_until_compaction == found.window.calls_left
    predictions = [one for one in actions(found) if "compaction" in one[1]]
    assert ([said] if said else []) == predictions


def test_without_auto_compaction_there_is_no_prediction(folder: ClaudeFolder) -> None:
    """None, in JSON null."""
    folder.config.mkdir(parents=True, exist_ok=True)
    (folder.config / "settings.json").write_text('{"autoCompactEnabled": false}')
    t = folder.main()
    t.prompt("again")
    for _ in range(5):
        t.response(LONG, context=90_000)
    t.write()
    found = folder.crusts("waste", "--json").json()["recommendations"]
    assert found["estimated_calls_until_compaction"] is None
    assert found["estimated_messages_until_compaction"] is None


def test_compacting_is_worth_a_thought_from_half_of_the_limit(folder: ClaudeFolder) -> None:
    """With a focus if something can be named, else plain with a quarter of the window as its worth."""
    below = wasteful(folder, growing(folder, 99_000, 100))
    assert [] == [action for _, action in actions(below) if action.startswith("/compact")]
    above = wasteful(folder, growing(folder, 101_000, 100))
    plain = above.advice.recommendations[0]
    assert (1, "/compact", 25_265) == (plain.priority, plain.action, plain.impact)


def test_the_worst_findings_make_the_first_advice(folder: ClaudeFolder) -> None:
    """The command, what it saves, then the files read again."""
    found = wasteful(folder, three_kinds(folder))
    first, *others = found.advice.recommendations
    assert first.action.startswith('/compact focus "')
    assert 1 == first.priority
    assert first.impact > 2_000
    (again,) = [one for one in others if "kept.py" in one.action and one.priority == 2]
    assert f"read again without a change at #24: {CWD}/kept.py" == again.reason
    assert [one.priority for one in found.advice.recommendations] == sorted(
        one.priority for one in found.advice.recommendations
    )


def test_consumers_and_files(folder: ClaudeFolder) -> None:
    """By file, tool, server and part of the fixed context, the largest first; reads counted by their own results."""
    t = folder.main()
    t.prompt("look")
    t.read(f"{CWD}/one/index.ts", PAGE * 3, context=40_000)
    t.read(f"{CWD}/two/index.ts", PAGE, context=44_000)
    t.read(f"{CWD}/two/index.ts", PAGE, context=46_000)
    t.edit(f"{CWD}/two/index.ts", context=48_000)
    t.call("mcp__tracker__search", {"q": "x"}, "issue " * 500, context=50_000)
    t.bash("ls", "file\n" * 50, context=51_000)
    t.response(LONG, context=52_000)
    found = wasteful(folder, t)
    files = files_of(found.facts, found.waste)
    assert [("one/index.ts", 1, 0, 0), ("two/index.ts", 2, 1, found.tokens(7))] == [
        (file.path.removeprefix(f"{CWD}/"), file.reads, file.edits, file.wasted_tokens) for file in files
    ]
    assert [(3,), (5, 7)] == [file.messages for file in files]
    consumers = consumers_of(found.facts, found.window, found.waste)
    assert [one.tokens for one in consumers] == sorted((one.tokens for one in consumers), reverse=True)
    named = {one.name: (one.kind, one.uses, one.note) for one in consumers}
    assert ("file", 1, "read once") == named["one/index.ts"]
    assert ("tool", 1, "1 result") == named["MCP server tracker"]
    assert ("tool", 1, "1 result") == named["Bash results"]
    assert named["tool schemas"][0] == "schemas"
    assert sum(one.tokens for one in consumers if one.kind == "file") == found.tokens(3, 5, 7)


def test_the_latest_summary_is_a_consumer(folder: ClaudeFolder) -> None:
    """Of two compactions only the last summary is in the window."""
    t = folder.main()
    t.prompt("look")
    t.response(LONG, context=40_000)
    for said in ("first ", "second "):
        t.boundary("auto", 41_000, 900)
        t.summary(said * 400)
        t.response(LONG, context=41_000)
    found = wasteful(folder, t)
    summaries = [one for one in consumers_of(found.facts, found.window, found.waste) if one.kind == "summary"]
    assert [("the latest", found.tokens(5))] == [(one.note, one.tokens) for one in summaries]


def test_servers_that_were_not_used(folder: ClaudeFolder, tmp_path: Path) -> None:
    """Those configured and never called; one switched off is not told, one called neither."""
    project = tmp_path / "site"
    project.mkdir()
    servers = {"mail": {"command": "mail"}, "tracker": {"command": "t"}, "off": {"command": "o", "disabled": True}}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    os.utime(project / ".mcp.json", (1_700_000_000, 1_700_000_000))
    t = folder.main(project=str(project))
    t.prompt("look")
    t.call("mcp__tracker__search", {"q": "x"}, "none", context=40_000)
    t.response(LONG, context=41_000)
    t.write()
    said = folder.crusts("waste", "--json").json()["recommendations"]["recommendations"]
    (one,) = [one for one in said if "switching off" in one["action"]]
    assert ("consider switching off MCP servers not used here: mail", 5) == (one["action"], one["priority"])
    assert "used in this session: tracker" in one["reason"]


def test_habits(folder: ClaudeFolder) -> None:
    """Three compactions ask for /clear, five files read again for pointing at them; one habit at most."""
    t = folder.main()
    t.prompt("look")
    for name in "abcde":
        t.read(f"{CWD}/{name}.py", PAGE, context=40_000)
        t.read(f"{CWD}/{name}.py", PAGE, context=42_000)
    t.response(LONG + "a.py b.py c.py d.py e.py", context=50_000)
    many = wasteful(folder, t)
    assert (5, "point to what was read before instead of asking to read it") in actions(many)
    assert 5 == sum(priority == 2 for priority, _ in actions(many))
    for _ in range(3):
        t.boundary("auto", 50_000, 900)
        t.summary()
        t.response(LONG, context=30_000)
    compacted = wasteful(folder, t)
    assert (5, "use /clear between tasks") in actions(compacted)
    assert "point to what was read before instead of asking to read it" not in [one for _, one in actions(compacted)]


def test_health_is_that_of_the_window_shown(folder: ClaudeFolder) -> None:
    """Below 50, 70 and 85 per cent of the limit."""
    for last, health in ((99_000, "healthy"), (139_000, "warming"), (169_000, "hot"), (171_000, "critical")):
        found = wasteful(folder, growing(folder, last, 100))
        assert health == found.advice.context_health == found.window.health
