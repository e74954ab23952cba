"""What newer versions of Claude Code write: records that are no messages, bodies of skills, answers cut off, what a
compaction is followed by, and the snake_case spelling of fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.analysed import analysed
from tests.builders import OMIT, ClaudeFolder, Json, Transcript, dumps, respelled, tool
from tests.picture import ask, assert_same, index, new_store, one, picture, read, scratch
from tests.test_status import from_all_rows, from_status

HASH = "ab" * 32
NUMBERS = "select type, subtype, message from records where message is not null order by id"


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """The main transcript of the first session."""
    return folder.main(version="2.1.332")


def rendered(t: Transcript, kind: str, text: str, **fields: Any) -> str:
    """An attachment with what it renders to."""
    return t.attachment(kind, envelope={"rendered": [{"content": text}], "renderedRole": "system"}, **fields)


def request(t: Transcript, source: str = "repl_main_thread") -> None:
    """The records of one API request."""
    system = [{"type": "text", "text": "be kind " * 200}]
    t.meta("api-request-shape", shapeHash=HASH, shape={"system": system, "tools": []}, timestamp=t.clock.tick())
    t.meta("api-request-blob", hash=HASH, message={"role": "user", "content": [{"type": "text", "text": "hello"}]})
    t.meta("api-request", id=t.new_uuid(), querySource=source, shapeHash=HASH, keep=0, tail=[HASH])
    t.meta("tools-used", tools=["Read"])


def snapshot(t: Transcript) -> None:
    """The fixed context, logged whole."""
    tools = [{"name": "Read", "description": "reads " * 100, "schema": {}}]
    t.attachment("prompt_snapshot", systemPrompt=["be kind " * 500], tools=tools, cliPrefix="you are")


def bookkeeping(t: Transcript) -> None:
    """What stands between the messages."""
    for kind, fields in (
        ("mode", {"mode": "default"}),
        ("permission-mode", {"permissionMode": "auto"}),
        ("atis-latch", {"atis": ""}),
        ("queue-operation", {"operation": "enqueue", "content": "later", "reason": "busy"}),
        ("custom-title", {"customTitle": "the lighthouse"}),
        ("file-history-snapshot", {"snapshot": {}, "sessionId": OMIT}),
        ("file-history-delta", {"backup": {"backupFileName": "a"}, "sessionId": OMIT}),
        ("fork-context-ref", {"agentId": "a1", "parentLastUuid": "x", "contextLength": 5}),
    ):
        t.meta(kind, **fields)


def begin(t: Transcript) -> None:
    """A prompt and what comes with it, one call: messages 1 to 4."""
    bookkeeping(t)
    t.prompt("begin")
    rendered(t, "environment", "a machine", snapshot={})
    rendered(t, "session_context", "clean", context={"gitStatus": "clean"})
    t.attachment("session_context", context={}, envelope={"rendered": []})
    snapshot(t)
    request(t)
    t.response("yes", context=20_000)
    snapshot(t)
    t.system("stop_hook_summary", hookCount=1, session_id="another")
    t.system("turn_duration", durationMs=5, messageCount=9)
    t.synthetic()


def drawing(t: Transcript) -> None:
    """`/context`: the command, its drawing for the user alone, and what the model is told: two messages."""
    t.system("local_command", content="<command-name>/context</command-name>")
    run = {"command": "context", "args": ""}
    t.system("local_command", content="▓▓░░ 12 %", isDisplayOnly=True, commandRun=run)
    t.prompt("## Context Usage\n\n**Model:** x", isMeta=True)


def test_only_what_reaches_the_model_is_a_message(folder: ClaudeFolder, t: Transcript) -> None:
    """Requests, snapshots, drawings, bookkeeping and synthetic lines bear no number; the rest are numbered on."""
    begin(t)
    drawing(t)
    t.prompt("go on")
    t.response("on", context=21_000)
    expected = [
        ("user", None, 1),
        ("attachment", "environment", 2),
        ("attachment", "session_context", 3),
        ("assistant", None, 4),
        ("system", "local_command", 5),
        ("user", None, 6),
        ("user", None, 7),
        ("assistant", None, 8),
    ]
    assert expected == ask(read(folder, t), NUMBERS)
    assert 8 == analysed(folder, t).facts.session.messages


@pytest.mark.long
def test_all_readers_number_alike(folder: ClaudeFolder, t: Transcript) -> None:
    """However much is indexed, status counts the messages and finds the window that the index finds."""
    begin(t)
    drawing(t)
    t.prompt("go on")
    t.response("on", context=21_000)
    t.response("cut", context=22_000, output=1, isAbortedMidStream=True, stop_reason=None)
    path, lines = t.path, t.lines()
    assert path is not None
    for split in range(len(lines) + 1):
        with suppress(FileNotFoundError):
            (folder.home / "index.db").unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines[:split]))
        db = new_store(folder.home)
        index(db, folder.config)
        path.write_bytes(b"".join(lines))
        ahead, messages = from_status(db, path, t.session)
        index(db, folder.config)
        whole = from_all_rows(db, t.session)
        assert whole[0] == ahead
        assert split == 0 or whole[1] == messages


def test_a_compaction_and_what_follows_it(folder: ClaudeFolder, t: Transcript) -> None:
    """Instructions, context and date before the summary, snapshots again: once each, and in the new epoch."""
    begin(t)
    t.boundary("manual", pre=20_020, post=2_000)
    for kind in ("instructions", "session_context", "date"):
        rendered(t, kind, kind + " of today")
    t.summary("what was done")
    t.prompt("<local-command-caveat>made by hand</local-command-caveat>", isMeta=True)
    t.prompt("<command-name>/compact</command-name>")
    t.prompt("<local-command-stdout>Compacted</local-command-stdout>")
    snapshot(t)
    t.prompt("after")
    snapshot(t)
    request(t)
    t.response("on", context=9_000)
    found = analysed(folder, t)
    assert [0] * 4 + [1] * 9 == [
        epoch for (epoch,) in ask(folder.home / "index.db", NUMBERS.replace("type, subtype, message", "epoch"))
    ]
    assert list(range(5, 14)) == found.in_window()
    assert 9_020 == found.window.size


@pytest.mark.parametrize(
    "command",
    [
        "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>",
        "<command-name>/tidy</command-name>\n<command-args>now</command-args>",
    ],
)
def test_the_body_of_a_skill_is_state(folder: ClaudeFolder, t: Transcript, command: str) -> None:
    """Called by name, its body follows the command and names no tool use; called by the model, it names one."""
    t.prompt(command)
    t.meta("file-history-snapshot", snapshot={})
    t.prompt("how to tidy up", isMeta=True)
    t.attachment("command_permissions", allowedTools=[])
    t.response("tidied", context=20_000)
    t.prompt("one more thing to know", isMeta=True)
    use = t.call("Skill", {"skill": "tidy"}, "Launching skill: tidy", context=21_000)
    t.prompt("how to tidy up", isMeta=True, sourceToolUseID=use)
    t.attachment("invoked_skills", skills=[{"name": "tidy", "path": "x", "content": "how to tidy up"}])
    sql = "select b.category, r.origin from blocks b join records r on r.id = b.record_id where r.is_meta order by r.id"
    db = read(folder, t)
    assert [("state", "skill"), ("system", "meta"), ("state", "skill")] == ask(db, sql)
    assert "state" == one(
        db, "select category from blocks b join records r on r.id = b.record_id where subtype = 'invoked_skills'"
    )


def test_what_a_command_prints_has_no_skill_behind_it(folder: ClaudeFolder, t: Transcript) -> None:
    """Behind the output of a command, behind `/context`, or with a wrapper of its own, a meta text is system."""
    t.prompt("<command-name>/model</command-name>")
    t.prompt("<local-command-stdout>Set model</local-command-stdout>")
    t.prompt("the model changed", isMeta=True)
    drawing(t)
    t.prompt("<command-name>/x</command-name>")
    t.prompt("<system-reminder>mind</system-reminder>", isMeta=True)
    t.prompt("<command-name>/y</command-name>")
    t.response("no body", context=9_000)
    t.prompt("go on", isMeta=True)
    sql = "select distinct b.category from blocks b join records r on r.id = b.record_id where r.is_meta"
    assert [("system",)] == ask(read(folder, t), sql)


def test_a_skill_called_in_an_earlier_run(folder: ClaudeFolder, t: Transcript) -> None:
    """The command was read in one run, its body comes in the next."""
    t.prompt("<command-name>/tidy</command-name>")
    read(folder, t)
    t.prompt("how to tidy up", isMeta=True)
    assert "state" == one(read(folder, t), "select category from blocks order by id desc limit 1")


@pytest.mark.parametrize("split", [None, 1, 2])
def test_an_answer_cut_off_is_never_exact(folder: ClaudeFolder, t: Transcript, split: int | None) -> None:
    """Its output is what was known at the start, be it large or small: blocks are estimated, the window derived."""
    words = "the light turns and turns " * 40
    t.prompt("tell me")
    cut: Json = {"request": "req_a", "message": "msg_a", "isAbortedMidStream": True, "output": 250}
    t.response(words, context=20_000, **cut)
    t.response(t.tool_use("Read", {"file_path": "/a"}), context=20_000, **cut)
    t.prompt("[Request interrupted by user]", interruptedMessageId="msg_a")
    if split is not None:
        whole, t.pieces = t.pieces, t.pieces[: split + 1]
        read(folder, t)
        t.pieces = whole
    found = analysed(folder, t)
    blocks = [block for block in found.facts.blocks if block.call_id is not None]
    assert [(block.estimate, False) for block in blocks] == [(block.tokens, block.is_exact) for block in blocks]
    assert "derived" == found.window.basis
    assert 250 == one(folder.home / "index.db", "select output_tokens from api_calls")
    t.response("whole again", context=21_000, output=20)
    assert "exact" == analysed(folder, t).window.basis


def test_a_fork_knows_that_an_answer_was_cut_off(folder: ClaudeFolder, t: Transcript) -> None:
    """Where a call stands in two sessions, its blocks are spread anew, and still not believed."""
    t.response("the light turns " * 40, context=20_000, output=200, isAbortedMidStream=True)
    fork = folder.main("22222222-0000-4000-8000-000000000000")
    fork.copy(t.lines(), asked=True)
    assert [(0,), (0,)] == ask(read(folder, t, fork), "select is_exact from blocks where tokens = estimate")


def test_zeros_of_a_payload_are_no_window(folder: ClaudeFolder, t: Transcript) -> None:
    """After a compaction the payload's usage is all zero: the window is what the transcript says it is."""
    for context in (20_000, 70_000, 120_000, 166_000):
        t.prompt("go on")
        t.response("on", context=context)
    t.boundary(pre=166_020, post=6_000)
    t.summary()
    t.write()
    zeros = dict.fromkeys(
        ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"), 0
    )
    said = {
        "session_id": t.session,
        "transcript_path": str(t.path),
        "model": {"id": t.model},
        "context_window": {"context_window_size": 200_000, "used_percentage": 0, "current_usage": zeros},
    }
    without: Json = {**said, "context_window": {"context_window_size": 200_000, "current_usage": None}}
    for _ in range(2):
        line = folder.crusts("statusline", "--format", "{tokens} {percent}", stdin=json.dumps(said)).out
        assert folder.crusts("statusline", "--format", "{tokens} {percent}", stdin=json.dumps(without)).out == line
        tokens = line.split()[0]
        assert 20 <= float(tokens.removesuffix("k")) < 30
        folder.crusts("index")


# ---------------------------------------------------------------- the other spelling


def everything(t: Transcript) -> None:
    """Records whose own fields say something."""
    t.meta("custom-title", customTitle="the lighthouse")
    begin(t)
    drawing(t)
    t.read("/repo/a.py", "x = 1\n" * 30, context=21_000)
    use = t.call(
        "Agent",
        {"subagent_type": "explorer", "prompt": "look"},
        "found",
        tool_use_result={"agentId": "a1", "resolvedModel": "claude-opus-4-8[1m]"},
        context=22_000,
    )
    t.agent_progress("a1", [t.pieces[-2]], tool=use)
    t.call("Skill", {"skill": "tidy"}, "Launching", context=23_000)
    t.prompt("how to tidy up", isMeta=True, sourceToolUseID=use)
    wrong = t.prompt("oops")
    t.system("informational", content="taken back", retractedMessageUuids=[wrong])
    t.system("microcompact_boundary", microcompactMetadata={"tokensSaved": 50, "compactedToolIds": [use]})
    t.meta("content-replacement", replacements=[{"toolUseId": use, "kind": "x"}])
    t.attachment("queued_command", prompt="and this", commandMode="prompt")
    t.attachment("deferred_tools_delta", addedNames=["mcp__a__b"], addedLines=["mcp__a__b"], removedNames=[])
    t.attachment("hook_success", content="", hookName="Stop", hookEvent="Stop")
    aside = t.sidechain()
    aside.prompt("aside", agentId="a9")
    aside.response("aside", context=500, agentId="a9")
    kept = t.parent
    t.boundary(pre=23_000, post=4_000, cumulativeDroppedTokens=19_000, durationMs=7, messagesSummarized=4,
               preservedMessages={"anchorUuid": kept, "uuids": [kept], "allUuids": [kept]},
               preCompactDiscoveredTools=["Read"], userContext="the lamp")  # fmt: skip
    t.summary()
    t.response("cut", context=9_000, isAbortedMidStream=True, output=90)
    t.prompt("seen by no model", isVisibleInTranscriptOnly=True)
    t.response("asked elsewhere", context=9_500, requestSessionId="22222222-0000-4000-8000-000000000000")
    t.prompt("forked", forkedFrom={"sessionId": "22222222-0000-4000-8000-000000000000", "messageUuid": "x"})
    t.meta("last-prompt", lastPrompt="forked", leafUuid=t.parent)
    t.meta("relocated", relocatedCwd="/elsewhere")
    t.request_shape(["You are."], [tool("Read", file_path="string")])
    asked = t.request()
    t.request(base=asked, keep=2)
    t.response("due to a skill", context=9_600, requestRef=asked, requestedModel="claude-opus-4-8[1m]",
               attributionSkill="tidy", attributionPlugin="forge", attributionMcpServer="tracker",
               attributionMcpTool="search", attributionAgent="explorer")  # fmt: skip
    t.prompt_snapshot(["You are."], [tool("Read")], cliPrefix="An agent.")
    t.instructions({"/repo/CLAUDE.md": "# Rules"})


def alike(lines: list[bytes]) -> tuple[bytes, bytes]:
    """The lines in both spellings, each as long as the other, so that places agree."""
    usual, other = b"", b""
    for line in lines:
        record = json.loads(line)
        twin = respelled(record)
        more = len(dumps(twin)) - len(dumps(record))
        usual += dumps({**record, "pad": "x" * max(0, more)}) + b"\n"
        other += dumps({**twin, "pad": "x" * max(0, -more)}) + b"\n"
    return usual, other


def test_both_spellings_say_the_same(folder: ClaudeFolder, t: Transcript) -> None:
    """Every fact of a transcript is the same with all of its own fields in snake_case."""
    everything(t)
    usual, other = alike(t.lines())
    assert [] == [name for name in (b"session_id", b"parent_uuid", b"pre_tokens", b"all_uuids") if name not in other]
    pictures = []
    for data in (usual, other):
        with scratch() as home:
            place = ClaudeFolder(home)
            db = new_store(home)
            path = place.main().path
            assert path is not None
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
            index(db, place.config)
            pictures.append(picture(db, place.config))
            assert [] == ask(db, "select * from problems")
            (whole, messages), (few, counted) = (
                from_all_rows(db, t.session),
                from_status(home / "none.db", path, t.session),
            )
            assert (whole["size"], messages) == (few["size"], counted)
    assert_same(*pictures)


def test_of_two_spellings_camel_case_holds(folder: ClaudeFolder, t: Transcript) -> None:
    """Newer versions write `session_id` beside `sessionId`, and after a branch it names the session before."""
    t.prompt("one", session_id="another")
    t.response("two", context=10, session_id="another", isMeta=False, is_meta=True)
    db = read(folder, t)
    assert [(t.session,)] == ask(db, "select distinct record_session from transcripts")
    assert (t.session, 0) == one(db, "select record_session, is_copied from responses"), "and it is no mark of a copy"
    assert 0 == one(db, "select max(is_meta) from records")
