"""analyze, timeline and diff as commands: their JSON, their text, their errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crusts_index.render.text import width
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript, thinking_block

OTHER = "5e551002-0000-4000-8000-000000000002"

CATEGORIES = ["conversation", "retrieved", "user", "system", "tools", "state"]


def story(folder: ClaudeFolder) -> Transcript:
    """A session with everything in it: reads, a rewind, MCP, deferred tools, a compaction, a microcompaction."""
    t = folder.main(version="2.1.220", model="claude-opus-4-8")
    t.meta("custom-title", customTitle="Why is the build slow?")
    t.attachment("skill_listing", content="- pdf: make a PDF\n- tidy: tidy up", names=["pdf", "tidy"])
    t.attachment(
        "deferred_tools_delta",
        addedNames=["WebFetch", "mcp__tracker__search", "mcp__mail__send"],
        addedLines=["WebFetch", "mcp__tracker__search", "mcp__mail__send"],
    )
    t.prompt("why is the build slow?")
    t.read(f"{CWD}/build.py", "import os\n" * 400, context=33_000, output=60)
    start = t.response(thinking_block(), "It walks the tree twice.", context=34_300, output=300)
    t.prompt("delete everything")
    t.response("No.", context=35_000)
    t.prompt("then walk it once", parentUuid=start)
    reference = {"type": "tool_reference", "tool_name": "mcp__tracker__search"}
    t.call("ToolSearch", {"query": "issues"}, [reference], context=34_800)
    t.call("mcp__tracker__search", {"query": "slow build"}, "#12 build is slow " * 40, context=35_300)
    t.edit(f"{CWD}/build.py", context=36_000)
    t.bash("pytest -q", "1 passed\n" * 80, context=36_600)
    t.response("Done: it walks once now.", context=37_200, output=40)
    t.boundary(
        "manual", 37_240, 2_600, userContext="keep the build", preCompactDiscoveredTools=["mcp__tracker__search"]
    )
    t.summary("The build walked the tree twice; build.py was changed to walk once. Tests pass. " * 10)
    t.prompt("and the tests?")
    late = t.read(f"{CWD}/tests/test_build.py", "def test_it():\n    pass\n" * 100, context=30_000, output=50)
    t.response("They are fine.", context=31_500, output=30)
    t.system(
        "microcompact_boundary",
        microcompactMetadata={"compactedToolIds": [late], "clearedAttachmentUUIDs": [], "tokensSaved": 900},
    )
    t.prompt("thank you")
    t.response("You are welcome.", context=30_700, output=25)
    return t


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> ClaudeFolder:
    """A config folder with the story in it, indexed."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("story"))
    story(folder).write()
    assert 0 == folder.crusts("index").code
    return folder


def plain_json(value: Any) -> str:
    """JSON for a golden file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("analyze", ("analyze",)),
        ("analyze-verbose", ("analyze", "--verbose", "--until", "20")),
        ("timeline", ("timeline",)),
        ("diff", ("diff", "--from", "5", "--to", "17")),
    ],
)
def test_text(told: ClaudeFolder, golden: Callable[[str, str], None], name: str, arguments: tuple[str, ...]) -> None:
    """What a person reads, at 100 columns."""
    done = told.crusts(*arguments, "--no-index", COLUMNS="100")
    assert (0, "") == (done.code, done.err)
    golden(f"{name}.txt", done.out)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("analyze", ("analyze", SESSION)),
        ("timeline", ("timeline", SESSION[:8])),
        ("diff", ("diff", SESSION, "--from", "5", "--to", "17")),
    ],
)
def test_json(told: ClaudeFolder, golden: Callable[[str, str], None], name: str, arguments: tuple[str, ...]) -> None:
    """What a program reads."""
    golden(f"{name}.json", plain_json(told.crusts(*arguments, "--no-index", "--json").json()))


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
@pytest.mark.parametrize("arguments", [("analyze", "-v"), ("timeline", "--all"), ("diff", "--from", "1", "--to", "9")])
def test_no_line_is_wider_than_the_terminal(told: ClaudeFolder, columns: int, arguments: tuple[str, ...]) -> None:
    """Text is wrapped or cut to the terminal's width."""
    done = told.crusts(*arguments, "--no-index", COLUMNS=str(columns))
    assert 0 == done.code, done.err
    assert [] == [line for line in done.out.splitlines() if width(line) > columns]


def test_breakdown_has_the_keys_that_programs_rely_on(told: ClaudeFolder) -> None:
    """The shape of `analyze --json`; the window now adds up to its exact size."""
    found = told.crusts("analyze", "--no-index", "--json").json()
    assert {"sessionId", "project", "messageCount", "breakdown", "waste", "recommendations"} <= found.keys()
    assert {"calibration", "configData", "schema_version"} <= found.keys()
    breakdown = found["breakdown"]
    assert {
        *("buckets", "total_tokens", "contentSumTokens", "context_limit", "free_tokens", "usage_percentage"),
        *("toolBreakdown", "mcpBreakdown", "model", "modelHistory", "durationSeconds", "compactionEvents"),
        *("currentContext", "derivedOverhead", "claudeCodeVersion", "reconciliation"),
    } <= breakdown.keys()
    assert "messages" not in breakdown
    now = breakdown["currentContext"]
    assert CATEGORIES == [bucket["category"] for bucket in now["buckets"]]
    assert "window" == now["reconciliation"]["basis"]
    assert 30_725 == now["total_tokens"] == sum(bucket["tokens"] for bucket in now["buckets"])


def test_tools_loaded_used_and_deferred(told: ClaudeFolder) -> None:
    """Deferred tools count as loaded only once ToolSearch loaded them; servers by their tools' names."""
    breakdown = told.crusts("analyze", "--no-index", "--json").json()["breakdown"]
    tools = breakdown["toolBreakdown"]
    assert ["Read", "ToolSearch", "mcp__tracker__search", "Edit", "Bash"] == tools["usedTools"]
    assert ["mcp__tracker__search"] == tools["loadedDeferred"]
    assert (["WebFetch"], ["mcp__mail__send"]) == (tools["deferredBuiltIn"], tools["deferredMcp"])
    assert not {"WebFetch", "mcp__mail__send"} & {*tools["loadedTools"], *tools["unusedTools"]}
    servers = {server["name"]: server for server in breakdown["mcpBreakdown"]["servers"]}
    assert (1, False) == (servers["tracker"]["invocationCount"], servers["tracker"]["unused"])
    assert ["mail"] == breakdown["mcpBreakdown"]["unusedServers"]


def test_the_timeline_tells_every_message_once(told: ClaudeFolder) -> None:
    """Numbers from 1, exact windows at calls, the rewound branch marked."""
    found = told.crusts("timeline", "--no-index", "--json").json()
    messages = found["messages"]
    assert list(range(1, found["messageCount"] + 1)) == [one["index"] for one in messages]
    assert 30_725 == messages[-1]["windowTokens"]
    assert ["delete everything", "No."] == [one["contentPreview"] for one in messages if not one["onLivePath"]]
    assert [37_240] == [event["tokensBefore"] for event in found["compactionEvents"]]


def test_diff_names_its_basis_and_adds_up(told: ClaudeFolder) -> None:
    """Deltas of the categories sum to the delta of the total, on the basis named."""
    found = told.crusts("diff", "--from", "5", "--to", "17", "--no-index", "--json").json()
    assert "window" == found["basis"]
    assert found["totalDelta"] == sum(change["delta"] for change in found["categoryDeltas"])
    assert (found["windowFrom"], found["windowTo"]) == (found["totalFrom"], found["totalTo"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("analyze", "--until", "99"), 1, "numbered 1 to"),
        (("analyze", "nobody"), 1, "no session begins with"),
        (("analyze", "--last", "7"), 1, "there are only"),
        (("diff", "--from", "7", "--to", "7"), 1, "--from must be below --to"),
        (("diff", "--from", "1", "--to", "99"), 1, "numbered 1 to"),
        (("diff", "--from", "1"), 2, "--to"),
    ],
)
def test_errors_say_what_is_wrong(told: ClaudeFolder, arguments: tuple[str, ...], code: int, said: str) -> None:
    """One line on stderr, nothing on stdout."""
    done = told.crusts(*arguments, "--no-index")
    assert (code, "") == (done.code, done.out)
    assert said in done.err


def test_sessions_are_chosen_by_prefix_place_and_age(tmp_path: Path) -> None:
    """A prefix must be unambiguous; without one the folder's own session comes first, else the newest."""
    folder = ClaudeFolder(tmp_path)
    here = tmp_path / "here"
    here.mkdir()
    for session, project in ((SESSION, str(here)), (OTHER, "/home/ada/other")):
        t = folder.main(session, project)
        t.clock.now = t.clock.now.replace(day=5 if session == SESSION else 6)
        t.prompt("hello")
        t.response("hi", context=20_000)
        t.write()
    folder.crusts("index")

    def chosen(*arguments: str, cwd: Path | None = None) -> str:
        return str(folder.crusts("analyze", *arguments, "--no-index", "--json", cwd=cwd).json()["sessionId"])

    assert OTHER == chosen()
    assert SESSION == chosen(cwd=here)
    assert SESSION == chosen("--last", "2")
    assert SESSION == chosen("--project", "HERE")
    assert SESSION == chosen("5e551001")
    done = folder.crusts("analyze", "5e55", "--no-index")
    assert 1 == done.code
    assert SESSION in done.err
    assert OTHER in done.err


def test_a_session_without_messages_is_analysed_too(tmp_path: Path) -> None:
    """An empty conversation: no messages, a window that is not known, no error."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.meta("custom-title", customTitle="nothing yet")
    t.system("informational", content="started")
    t.write()
    folder.crusts("index")
    found = folder.crusts("analyze", SESSION, "--no-index", "--json").json()
    assert (0, None, None) == (found["messageCount"], found["breakdown"]["total_tokens"], found["window"]["tokens"])
    for command in ("analyze", "timeline"):
        assert 0 == folder.crusts(command, SESSION, "--no-index").code


def test_text_of_transcripts_does_no_harm(tmp_path: Path) -> None:
    """Control sequences of a transcript never reach the terminal (D16)."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(model="claude-\x1b[31mred", version="2.1\x1b]0;x\x07")
    t.meta("custom-title", customTitle="\x1b[2Jcleared")
    t.prompt("look \x1b]8;;http://x\x07here\x1b]8;;\x07")
    t.call("mcp__\x1b[5mx__y", {"query": "\x1b[1m"}, "\x1b[31mresult", context=20_000)
    t.write()
    folder.crusts("index")
    for command in (("analyze", "-v"), ("timeline",), ("analyze", "--json"), ("timeline", "--json")):
        done = folder.crusts(*command, "--no-index")
        assert 0 == done.code, done.err
        assert "\x1b" not in done.out


def test_thresholds_of_the_user_are_listed(folder: ClaudeFolder) -> None:
    """With --verbose: those of config.json that differ from the defaults."""
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=20_000, output=20)
    t.write()
    home = folder.home / ".claude-crusts"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.json").write_text('{"wasteThresholds": {"staleReadThreshold": 30}}')
    said = " ".join(folder.crusts("analyze", "-v").out.split())
    assert "threshold from config.json: staleReadThreshold 30 (default 15)" in said
    assert "threshold from" not in folder.crusts("analyze").out
