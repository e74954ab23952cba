"""What to do: the one ranked list, its sources, and that every command has the same."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crusts_index.insight.waste.files import files_of
from tests.builders import CWD, SESSION, START, ClaudeFolder, Transcript
from tests.wasteful import LONG, PAGE, Wasteful, chat, three_kinds, wasteful

KEYS = ("id", "do", "why", "frees_tokens", "frees_from", "saves_usd_a_call", "saves_usd_a_day", "evidence")
OTHER = "5e551002-0000-4000-8000-00000000000"


def growing(folder: ClaudeFolder, last: int, step: int, session: str = SESSION) -> Transcript:
    """Calls whose context grows by `step` up to `last`; each answer is 60 tokens."""
    t = folder.main(session)
    t.prompt("go on and on, as long as it takes")
    for context in range(last - 5 * step, last + 1, step):
        t.response(LONG, context=context, output=60)
    return t


def actions(folder: ClaudeFolder, *arguments: str) -> list[dict[str, Any]]:
    """The list as `analyze --json` has it."""
    found: list[dict[str, Any]] = folder.crusts("analyze", "--json", *arguments).json()["actions"]
    return found


def compacted(folder: ClaudeFolder, number: int, before: int, after: int, days: int = -9) -> None:
    """A session of before that was compacted from `before` tokens of context to `after`."""
    t = folder.main(f"{OTHER}{number}", start=START + timedelta(days=days))
    t.prompt("look")
    t.response(LONG, context=before)
    t.boundary("manual", before, 900)
    t.summary("We looked.")
    t.response(LONG, context=after)
    t.write()


# ---------------------------------------------------------------------- compacting


@pytest.mark.parametrize(("last", "step", "told"), [(99_000, 100, []), (101_000, 100, ["compact"])])
def test_compacting_is_worth_it_from_half_of_the_limit(
    folder: ClaudeFolder, last: int, step: int, told: list[str]
) -> None:
    """Of 200,000 tokens, from 100,000 on."""
    assert told == [one.id for one in wasteful(folder, growing(folder, last, step)).actions]


def test_near_the_trigger_it_is_worth_it_however_small_the_window(folder: ClaudeFolder) -> None:
    """Where compaction is set to come early."""
    growing(folder, 60_000, 1_000).write()
    (folder.home / ".claude-crusts").mkdir()
    (folder.home / ".claude-crusts" / "config.json").write_text('{"autocompactBufferTokens": 130000}')
    assert ["compact"] == [one["id"] for one in actions(folder)]


def test_what_it_frees_is_what_the_users_own_compactions_freed(folder: ClaudeFolder) -> None:
    """The median share of the context before, of those until then; 0.68 where there are none, said so."""
    growing(folder, 150_000, 1_000).write()
    (first,) = actions(folder)
    assert round(0.68 * 150_060) == first["frees_tokens"]
    assert "none of yours is logged yet" in first["frees_from"]
    for number, after in enumerate((75_000, 60_000, 15_000)):
        compacted(folder, number, 150_000, after)
    (first,) = actions(folder, SESSION)
    assert round(0.6 * 150_060) == first["frees_tokens"]
    assert "0.60 of the window of 150,060 tokens, the median of your 3 compactions" == first["frees_from"]


def test_compactions_to_come_do_not_count(folder: ClaudeFolder) -> None:
    """What is said of a session is what could be known at its last record."""
    growing(folder, 150_000, 1_000).write()
    before = actions(folder)
    compacted(folder, 1, 150_000, 15_000, days=1)
    assert before == actions(folder, SESSION)


def test_the_worst_findings_are_named(folder: ClaudeFolder) -> None:
    """The evidence is what the focus names, with its tokens."""
    found = wasteful(folder, three_kinds(folder))
    first = found.actions[0]
    assert first.do.startswith('/compact focus "')
    assert ("compact-focus", round(0.68 * found.window.size)) == (first.id, first.frees_tokens)
    worst = [item for item in found.waste if item.severity in ("high", "medium")]
    assert [f"{item.description} ({item.estimated_tokens:,} tokens)" for item in worst] == list(first.evidence)


def test_in_a_small_window_the_focus_is_for_the_next_compaction(folder: ClaudeFolder) -> None:
    """It is told, with the tokens of the findings alone, and with when it is worth typing."""
    found = wasteful(folder, three_kinds(folder, context=70_000))
    first = found.actions[0]
    assert first.do.startswith('/compact focus "')
    assert "at the next break" in first.why
    assert first.frees_tokens == sum(item.estimated_tokens for item in found.waste)
    assert "the findings that it names, each counted once" == first.frees_from


def test_money_is_tokens_at_the_price_of_a_cache_read(folder: ClaudeFolder) -> None:
    """A call; and a day, by the project's calls on days with any, until the compaction to come at most."""
    growing(folder, 150_000, 1_000).write()
    found = Wasteful(indexed(folder))
    (first,) = found.actions
    price = found.facts.calls[-1].cache_read_usd
    assert price is not None
    assert first.frees_tokens is not None
    assert pytest.approx(first.frees_tokens * price / 1e6) == first.saves_usd_a_call
    assert found.window.calls_left is not None
    calls = min(6, found.window.calls_left)  # the session's own day has six
    assert first.saves_usd_a_call is not None
    assert pytest.approx(first.saves_usd_a_call * calls) == first.saves_usd_a_day


def indexed(folder: ClaudeFolder) -> Path:
    """The store, with prices."""
    assert 0 == folder.crusts("index").code
    return folder.home / ".claude-crusts" / "index.db"


# ---------------------------------------------------------------------- re-reads


def test_files_read_again_are_to_be_said(folder: ClaudeFolder) -> None:
    """From two re-reads, or one of 1,000 tokens, on; what that frees is not known, and nothing is claimed."""
    t = folder.main()
    t.prompt("look")
    t.read(f"{CWD}/a.py", "x = 1\n" * 50, context=40_000)
    t.read(f"{CWD}/a.py", "x = 1\n" * 50, context=42_000)
    t.response(LONG + "a.py", context=43_000)
    assert "session-prompt" not in [one.id for one in wasteful(folder, t).actions]
    t.read(f"{CWD}/a.py", "x = 1\n" * 50, context=44_000)
    t.response(LONG + "a.py", context=45_000)
    (one,) = [one for one in wasteful(folder, t).actions if one.id == "session-prompt"]
    assert "- a.py (read again without need at #5, #8)" in one.do.splitlines()
    assert (None, None) == (one.frees_tokens, one.saves_usd_a_call)


# ---------------------------------------------------------------------- what is announced and not used


SERVERS = {
    "mcp__mail__send": "mcp__mail__send",
    "mcp__mail__read": "mcp__mail__read",
    "mcp__tracker__search": "mcp__tracker__search",
    "Monitor": "Monitor",
}
LINT = "Check it well. " * 20 + "\n" + "In all ways. " * 20
SKILLS = f"- deploy: Deploy it.\n- lint: {LINT}\n- kit:draw: {'Draw a plan. ' * 20}"


def earlier(folder: ClaudeFolder, project: str = CWD, sessions: int = 2) -> list[Transcript]:
    """Sessions of a project before, that used nothing."""
    transcripts = []
    for number in range(sessions):
        t = folder.main(f"{OTHER}{number + 5}", project=project, start=START - timedelta(days=number + 1))
        t.prompt("look")
        t.response(LONG, context=20_000)
        transcripts.append(t)
    return transcripts


def announcing(folder: ClaudeFolder, session: str = SESSION) -> Transcript:
    """A session in which two servers and three skills are announced."""
    t = folder.main(session)
    t.attachment("deferred_tools_delta", addedNames=list(SERVERS), addedLines=list(SERVERS.values()), removedNames=[])
    blocks = ["## mail\n" + "Say who it is from. " * 30, "## tracker\nSearch it."]
    t.attachment("mcp_instructions_delta", addedNames=["mail", "tracker"], addedBlocks=blocks, removedNames=[])
    t.attachment("skill_listing", content=SKILLS, names=["deploy", "lint", "kit:draw"], skillCount=3, isInitial=True)
    t.prompt("look")
    t.response(LONG, context=30_000)
    return t


def test_servers_and_skills_that_nothing_used(folder: ClaudeFolder) -> None:
    """With what their names and instructions weigh in every call, each by its own share of what was logged."""
    found = wasteful(folder, announcing(folder), *earlier(folder))
    by_id = {one.id: one for one in found.actions}
    servers, skills = by_id["mcp-disable"], by_id["skills-off"]
    assert "switch off for this project in /mcp: mail, tracker" == servers.do
    weights = {block.subtype: block.tokens for block in found.facts.blocks if block.kind == "attachment"}
    tools = sum(len(name) + 1 for name in SERVERS)
    announced = weights["deferred_tools_delta"] * (tools - len("Monitor\n")) / tools
    assert round(announced + weights["mcp_instructions_delta"]) == servers.frees_tokens
    assert ["mail", "tracker"] == [line.split(":")[0] for line in servers.evidence]
    assert weights["skill_listing"] == skills.frees_tokens
    assert "deploy" in skills.do
    assert "those of plugins in /plugin" in skills.do
    assert ["lint", "kit:draw", "deploy"] == [line.rpartition(":")[0] for line in skills.evidence]


def test_what_the_project_used_is_left_alone(folder: ClaudeFolder) -> None:
    """In any of its last 20 sessions, by a subagent too; a skill by its own name, as a command, or in its plugin."""
    other = folder.main(f"{OTHER}1")
    other.prompt("search it")
    agent = folder.subagent(session=f"{OTHER}1", clock=other.clock)
    agent.prompt("search it")
    agent.call("mcp__tracker__search", {"query": "x"}, "none", context=9_000)
    other.call("Skill", {"skill": "deploy"}, "done", context=20_000)
    other.call("Skill", {"skill": "draw"}, "done", context=21_000)
    other.response(LONG, context=22_000)
    found = wasteful(folder, announcing(folder), other, agent, *earlier(folder))
    by_id = {one.id: one for one in found.actions}
    assert "switch off for this project in /mcp: mail" == by_id["mcp-disable"].do
    assert by_id["skills-off"].do.endswith(": lint")


def test_what_another_project_used_does_not_count(folder: ClaudeFolder) -> None:
    """Servers and skills are switched by project."""
    other = folder.main(f"{OTHER}1", project="/home/ada/shop")
    other.prompt("search it")
    other.call("mcp__tracker__search", {"query": "x"}, "none", context=9_000)
    other.response(LONG, context=20_000)
    found = wasteful(folder, announcing(folder), other, *earlier(folder))
    (servers,) = [one for one in found.actions if one.id == "mcp-disable"]
    assert "switch off for this project in /mcp: mail, tracker" == servers.do


@pytest.mark.parametrize(("calls", "weight", "told"), [(1, 30, False), (30, 30, True), (29, 30, False), (30, 1, False)])
def test_a_session_or_two_are_not_enough_to_say_that_nothing_uses_it(
    folder: ClaudeFolder, calls: int, weight: int, told: bool
) -> None:
    """From three sessions on; before, by 30 calls of a project in which it weighs 500 tokens."""
    t = folder.main()
    blocks = ["## mail\n" + "Say who it is from, and to whom it goes. " * 3 * weight]
    t.attachment("mcp_instructions_delta", addedNames=["mail"], addedBlocks=blocks, removedNames=[])
    t.prompt("look")
    for turn in range(calls):
        t.response(LONG, context=30_000 + turn)
    assert told == any(one.id == "mcp-disable" for one in wasteful(folder, t).actions)


def test_only_the_last_20_sessions_count(folder: ClaudeFolder) -> None:
    """A server that was used before them is not used."""
    transcripts = []
    for number in range(20):
        t = folder.main(f"{OTHER[:-1]}{number:02d}", start=START - timedelta(days=40 - number))
        t.prompt("look")
        if number == 0:
            t.call("mcp__tracker__search", {"query": "x"}, "none", context=9_000)
        t.response(LONG, context=20_000)
        transcripts.append(t)
    now = announcing(folder)
    (servers,) = [one for one in wasteful(folder, now, *transcripts).actions if one.id == "mcp-disable"]
    assert "the last 20 sessions of this project" in servers.why
    assert servers.do.endswith("mail, tracker")


def test_servers_that_are_configured_and_not_announced(folder: ClaudeFolder, tmp_path: Path) -> None:
    """Those never called; what they weigh is not logged, so null. One switched off is not told, one called neither."""
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
    for before in earlier(folder, str(project)):
        before.write()
    (one,) = actions(folder, SESSION)
    assert ("mcp-disable", "switch off for this project in /mcp: mail", None) == (
        *(one["id"], one["do"], one["frees_tokens"]),
    )
    assert "not logged" in one["frees_from"]


def test_large_instructions_are_to_be_shortened_as_they_are_now(folder: ClaudeFolder, tmp_path: Path) -> None:
    """What is above the threshold, file by file; an observation of a file that was shortened since is no action."""
    project = tmp_path / "site"
    project.mkdir()
    (project / "CLAUDE.md").write_text("Do it well and so. " * 400)
    os.utime(project / "CLAUDE.md", (1_700_000_000, 1_700_000_000))
    t = folder.main(project=str(project))
    t.prompt("look")
    t.response(LONG, context=40_000)
    t.write()
    (one,) = actions(folder)
    assert ("claudemd-oversized", 400) == (one["id"], one["frees_tokens"])
    assert f"{project}/CLAUDE.md: about 1,900 tokens" in one["do"]
    (project / "CLAUDE.md").write_text("Do it well.")
    assert [] == actions(folder)


# ---------------------------------------------------------------------- one list


def everything(folder: ClaudeFolder, base: Path) -> None:
    """A session that has all kinds of actions, in a project on disk."""
    project = base / "site"
    project.mkdir()
    (project / "CLAUDE.md").write_text("Do it well and so. " * 400)
    t = three_kinds(folder)
    t.attachment("deferred_tools_delta", addedNames=list(SERVERS), addedLines=list(SERVERS.values()), removedNames=[])
    t.attachment("skill_listing", content=SKILLS, names=["deploy", "lint", "kit:draw"], skillCount=3, isInitial=True)
    t.prompt("and what else is there?")
    t.read(f"{project}/node_modules/x/index.js", PAGE, context=151_000)
    t.read(f"{project}/node_modules/x/index.js", PAGE, context=153_000)
    t.response("index.js: " + LONG, context=155_000)
    t.pieces = [line.replace(CWD.encode(), str(project).encode()) for line in t.pieces]
    t.write()
    (folder.home / ".claude-crusts").mkdir(exist_ok=True)
    (folder.home / ".claude-crusts" / "config.json").write_text('{"autoInject": {"enabled": true, "threshold": 60}}')
    compacted(folder, 1, 150_000, 60_000)
    for before in earlier(folder, str(project)):
        before.write()


def test_every_command_has_the_same_list(folder: ClaudeFolder, tmp_path: Path) -> None:
    """analyze, waste, fix, optimize, report, overview and auto-inject: the same JSON for the same session."""
    everything(folder, tmp_path)
    told = actions(folder, SESSION)
    assert {
        *("compact-focus", "session-prompt", "mcp-disable", "skills-off", "claudemd-oversized", "permissions-deny"),
    } == {one["id"] for one in told}
    for one in told:
        assert KEYS == tuple(one)
        assert one["do"]
        assert one["why"]
        assert one["frees_from"]
        assert one["evidence"]
    freed = [one["frees_tokens"] or 0 for one in told]
    assert sorted(freed, reverse=True) == freed
    for command in ("waste", "fix", "optimize", "report"):
        assert told == folder.crusts(command, SESSION, "--json").json()["actions"], command
    assert told == folder.crusts("overview", "--json").json()["actions"]
    path = next(folder.config.glob(f"projects/*/{SESSION}.jsonl"))
    payload = {"session_id": SESSION, "transcript_path": str(path), "hook_event_name": "UserPromptSubmit"}
    done = folder.crusts("auto-inject", stdin=json.dumps(payload))
    assert all(one["do"].split("\n")[0] in done.out.replace("\\n", "\n").replace('\\"', '"') for one in told)
    entries = folder.crusts("hooks", "auto-inject", "log", "--json").json()["entries"]
    (entry,) = [entry for entry in entries if entry.get("kind") != "cold"]  # after so long the cache is cold as well
    assert told == entry["actions"]


def test_every_page_shows_the_same_list(folder: ClaudeFolder, tmp_path: Path) -> None:
    """What is to be done, what it frees and where the number is from, for people."""
    everything(folder, tmp_path)
    told = actions(folder, SESSION)
    folder.crusts("report", SESSION, "--format", "md", "-o", str(tmp_path / "r.md"))
    pages = [folder.crusts(name, SESSION, COLUMNS="100000").out for name in ("analyze", "waste", "fix")]
    for page in (*pages, (tmp_path / "r.md").read_text()):
        for one in told:
            assert one["do"].split("\n")[0] in page
            assert one["frees_tokens"] is None or f"{one['frees_tokens']:,} tokens" in page
            assert one["frees_tokens"] is None or one["frees_from"] in page


def test_older_programs_find_the_same_list_under_their_keys(folder: ClaudeFolder) -> None:
    """`recommendations` has each action with its tokens and its reason, the first the most urgent."""
    three_kinds(folder).write()
    found = folder.crusts("waste", "--json").json()
    told = found["recommendations"]["recommendations"]
    assert [(one["do"], one["frees_tokens"] or 0, one["why"]) for one in found["actions"]] == [
        (one["action"], one["impact"], one["reason"]) for one in told
    ]
    assert sorted(one["priority"] for one in told) == [one["priority"] for one in told]


def test_until(folder: ClaudeFolder) -> None:
    """The list of the session as it stood at a message."""
    three_kinds(folder).write()
    assert [] == actions(folder, "--until", "2")


def test_a_healthy_session_has_nothing_to_do(folder: ClaudeFolder) -> None:
    """And a page says nothing of it."""
    t = folder.main()
    chat(t, 2)
    t.write()
    assert [] == actions(folder)
    assert "What to do" not in folder.crusts("analyze").out


# ---------------------------------------------------------------------- what takes most


def test_files_of_the_window(folder: ClaudeFolder) -> None:
    """Each with its reads and edits, what is waste of it, and the numbers of the messages that read it."""
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
