"""Random config folders in which everything is related: copies, parts, forks and snapshots of sessions, in two roots.

`families()` draws the files of up to two config folders; `happenings()` what happens in one transcript beyond what
`tests.strategies` lets happen. Few names and few times, so that ids meet and ties are common.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.builders import (
    OMIT,
    START,
    Clock,
    Json,
    Transcript,
    dumps,
    hash_of,
    image_block,
    picture,
    text_block,
    thinking_block,
    tool,
    usage,
)
from tests.strategies import AGENTS, MODELS, PATHS, PROJECTS, SESSIONS, Event, Sheet, Step, earlier, events, play

ROOTS = ("here", "there")
TOOLS = ("toolu_a", "toolu_b", "toolu_c")
NOT_A_UUID = "[trimmed]"
TEXTS = (
    "fix the parser",
    "why?",
    "<command-name>/review</command-name><command-args>all</command-args>",
    "<ide_opened_file>a.py is open</ide_opened_file>fix it",
    "<teammate-message>done</teammate-message>",
    "",
)
CWDS = (*PROJECTS, "C:\\work\\api", "c:/work/api/", "/home/ada/site/.claude/worktrees/try")
TITLES = ("Parser", "Build", "")
NAMES = ("mcp__tracker__search", "WebFetch", "EnterPlanMode")
KINDS = {
    "hook_success": {"content": "fine", "hookName": "Stop:fmt", "hookEvent": "Stop", "stdout": "x" * 50},
    "hook_additional_context": {"content": ["mind the gap"], "hookName": "UserPromptSubmit", "hookEvent": "Submit"},
    "file": {"filename": PATHS[0], "content": {"type": "text", "file": {"filePath": PATHS[0], "content": "x = 1\n"}}},
    "queued_command": {"prompt": "and then this", "commandMode": "prompt"},
    "deferred_tools_delta": {"addedNames": [*NAMES], "removedNames": [], "addedLines": [*NAMES]},
    "mcp_instructions_delta": {"addedNames": ["tracker"], "addedBlocks": ["Use it."], "removedNames": []},
    "skill_listing": {"content": "- review: reviews", "skillCount": 1},
    "agent_listing_delta": {"addedTypes": ["Explore"], "addedLines": ["- Explore: looks"], "removedTypes": []},
    "task_reminder": {"content": [], "itemCount": 0},
    "prompt_snapshot": {
        "systemPrompt": ["You are"],
        "tools": [{"name": "Read", "description": "Reads.", "schema": tool("Read", "Reads.", file_path="string")}],
    },
    "instructions": {"files": [{"path": "/home/ada/site/CLAUDE.md", "type": "Project", "content": "Use tabs."}]},
}
ASKED = tuple(f"5e551001-0000-4000-8000-0000000000a{n}" for n in range(3))
"""Ids of requests, few, so that answers find theirs and bases theirs."""
METAS: dict[str, Callable[[str], Json]] = {
    "custom-title": lambda text: {"customTitle": text},
    "ai-title": lambda text: {"aiTitle": text},
    "agent-name": lambda text: {"agentName": text},
    "summary": lambda text: {"summary": text, "sessionId": OMIT},
    "last-prompt": lambda text: {"lastPrompt": text},
    "tag": lambda text: {"tag": text},
    "mode": lambda text: {"mode": text},
    "relocated": lambda text: {"relocatedCwd": f"/moved/{text}"},
    "worktree-state": lambda text: {"worktreeSession": {"originalCwd": PROJECTS[0], "worktreeName": text}},
    "cost-state": lambda text: {"totalCostUSD": 1, "modelUsage": {text: {"inputTokens": len(text), "costUSD": 0.5}}},
}
DERIVED = ("snapshot", "part", "fork", "fork anew", "new fork", "branch", "resumed", "replay", "alone")

place = st.integers(0, 99)
some_usages = st.builds(usage, st.sampled_from((3, 900)), st.sampled_from((0, 40)), st.integers(0, 150_000))


@cache
def happenings() -> st.SearchStrategy[Event]:
    """One thing that happens in a transcript: a name and up to three details."""
    kinds: list[tuple[str, Any, Any, Any]] = [
        ("twice", place, place, st.sampled_from(TEXTS)),
        ("twice answered", place, place, some_usages),
        ("no uuid", st.sampled_from(TEXTS), st.booleans(), st.none()),
        ("replay", st.integers(1, 8), st.booleans(), st.none()),
        ("use", st.sampled_from(TOOLS), st.sampled_from(("Read", "Edit", "Agent", "Bash")), st.sampled_from(PATHS)),
        ("result", st.sampled_from(TOOLS), st.sampled_from(("x = 1\n", "ok")), st.sampled_from((OMIT, *AGENTS))),
        ("nested use", st.sampled_from(TOOLS), st.sampled_from(AGENTS), st.booleans()),
        ("notice", st.sampled_from(sorted(KINDS)), st.booleans(), st.none()),
        ("said last", st.sampled_from(sorted(METAS)), st.sampled_from(TITLES), st.none()),
        ("compacted", st.lists(place, max_size=3), st.sampled_from(("messages", "segment", "none")), st.booleans()),
        ("taken out", st.sampled_from(("micro", "replaced", "retracted", "superseded")), place, st.sampled_from(TOOLS)),
        ("request alone", st.sampled_from(("req_0", "msg_of_req_0")), some_usages, st.booleans()),
        ("advised", st.sampled_from(("req_0", "req_1")), some_usages, st.none()),
        ("context", st.sampled_from((20_000, 40_000)), st.none(), st.none()),
        ("sidechain", st.sampled_from((None, *AGENTS)), st.booleans(), some_usages),
        ("leaf", place, st.none(), st.none()),
        ("asked", st.sampled_from(ASKED), st.sampled_from((OMIT, *ASKED)), st.integers(0, 3)),
        ("shaped", st.sampled_from(("You are", "You were")), st.sampled_from(NAMES), st.none()),
        ("facts", st.sampled_from(sorted(FACTS)), st.integers(1, 3), some_usages),
        ("thought", st.sampled_from((0, 12, 700, 4_000)), st.sampled_from((None, 0, 30)), st.sampled_from(MODELS)),
        ("pictured", st.sampled_from((9, 900)), st.booleans(), st.none()),
    ]
    return st.one_of([st.tuples(st.just(name), *details) for name, *details in kinds])


def happen(sheet: Sheet, event: Event) -> None:
    """Let one event of either kind happen in a transcript."""
    name, first, second, third = event
    if name not in HAPPENED:
        play(sheet, event)
        return
    HAPPENED[name](sheet, first, second, third)
    t = sheet.transcript
    if t.parent and (not sheet.uuids or sheet.uuids[-1] != t.parent):
        sheet.uuids.append(t.parent)


def _twice(sheet: Sheet, uuid: int, parent: int, text: str) -> None:
    """Another prompt under a uuid that stood before."""
    t = sheet.transcript
    t.prompt(text, uuid=earlier(sheet, uuid) or t.new_uuid(), parentUuid=earlier(sheet, parent))


def _twice_answered(sheet: Sheet, uuid: int, parent: int, counted: Json) -> None:
    t = sheet.transcript
    t.response("ok", usage=counted, uuid=earlier(sheet, uuid) or t.new_uuid(), parentUuid=earlier(sheet, parent))
    t.prompt("on")


def _no_uuid(sheet: Sheet, text: str, is_linked: bool, _: Any) -> None:
    """Records whose uuids are all one text that is none."""
    t = sheet.transcript
    t.prompt(text, uuid=NOT_A_UUID, **({"parentUuid": NOT_A_UUID} if is_linked else {}))


def _replay(sheet: Sheet, count: int, is_root: bool, _: Any) -> None:
    """The last lines again under new uuids, as a rewind in an older version leaves them."""
    t = sheet.transcript
    lines = [line for line in t.pieces if is_whole(line)][-count:]
    t.pieces += renewed(t, lines, is_root=is_root)
    t.parent = json.loads(t.pieces[-1]).get("uuid") if lines else t.parent


def _use(sheet: Sheet, tool: str, name: str, path: str) -> None:
    t = sheet.transcript
    given = {"Agent": {"subagent_type": path[-4:], "prompt": "look"}, "Bash": {"command": f"cat {path}"}}
    t.response(t.tool_use(name, given.get(name, {"file_path": path}), tool), context=20_000 + len(t.pieces))


def _result(sheet: Sheet, tool: str, text: str, agent: Any) -> None:
    told = OMIT if agent is OMIT else {"agentId": agent, "status": "completed"}
    sheet.transcript.tool_result(tool, text, tool_use_result=told)


def _nested_use(sheet: Sheet, tool: str, agent: str, is_result: bool) -> None:
    t = sheet.transcript
    said = Transcript(t.session, agent=agent, clock=t.clock)
    said.ids = t.ids
    if is_result:
        said.tool_result(tool, "nested")
    else:
        said.response(said.tool_use("Read", {"file_path": PATHS[0]}, tool), usage=usage(9), request="req_2")
    t.agent_progress(agent, said.lines())


def _notice(sheet: Sheet, kind: str, is_rendered: bool, _: Any) -> None:
    envelope = {"rendered": [{"content": f"<system-reminder>{kind}</system-reminder>"}]} if is_rendered else None
    sheet.transcript.attachment(kind, envelope=envelope, **KINDS[kind])


def _said_last(sheet: Sheet, kind: str, text: str, _: Any) -> None:
    sheet.transcript.meta(kind, **METAS[kind](text))


def _compacted(sheet: Sheet, kept: list[int], how: str, is_summed: bool) -> None:
    t = sheet.transcript
    uuids = [uuid for one in kept if (uuid := earlier(sheet, one))]
    told: Json = {}
    if uuids and how == "messages":
        told = {"preservedMessages": {"anchorUuid": uuids[0], "uuids": uuids, "allUuids": uuids}}
    elif uuids and how == "segment":
        told = {"preservedSegment": {"headUuid": uuids[0], "anchorUuid": uuids[0], "tailUuid": uuids[-1]}}
    t.boundary("auto", 150_000, 9_000, preCompactDiscoveredTools=[*NAMES], **told)
    if is_summed:
        t.summary()


def _taken_out(sheet: Sheet, how: str, one: int, tool: str) -> None:
    t, uuid = sheet.transcript, earlier(sheet, one)
    if how == "micro":
        taken = {"compactedToolIds": [tool], "clearedAttachmentUUIDs": [uuid] if uuid else [], "tokensSaved": 70}
        t.system("microcompact_boundary", microcompactMetadata=taken)
    elif how == "replaced":
        t.record("content-replacement", uuid=OMIT, replacements=[{"toolUseId": tool, "replacement": "gone"}])
    elif how == "retracted":
        t.system("informational", retractedMessageUuids=[uuid] if uuid else [])
    else:
        t.response("rather so", context=21_000, supersedesUuids=[uuid] if uuid else [])


def _request_alone(sheet: Sheet, request: str, counted: Json, has_message: bool) -> None:
    message = f"msg_of_{request}" if has_message else OMIT
    sheet.transcript.response("ok", usage=counted, request=request, message=message)


def _advised(sheet: Sheet, request: str, counted: Json, _: Any) -> None:
    advice = {"type": "advisor_message", "model": "claude-opus-4-8", "input_tokens": 50, "output_tokens": 5}
    told = {**counted, "iterations": [{"type": "message"}, advice]}
    sheet.transcript.response("ok", "so", usage=told, request=request, message=f"msg_of_{request}", placeholder=1)


def _context(sheet: Sheet, used: int, *_: Any) -> None:
    text = (
        "## Context Usage\n\n**Model:** claude-opus-4-8\n"
        f"**Tokens:** {used // 1000}k / 200k ({used // 2000}%)\n\n"
        "| Category | Tokens | Percentage |\n|---|---|---|\n| System prompt | 3.1k | 1.5% |\n| Messages | 9k | 4% |\n"
    )
    sheet.transcript.prompt(f"<local-command-stdout>{text}</local-command-stdout>")


def _sidechain(sheet: Sheet, agent: str | None, is_linked: bool, counted: Json) -> None:
    side = sheet.transcript.sidechain()
    side.agent = agent
    if is_linked:
        side.parent = sheet.transcript.parent
    side.prompt("look there")
    side.response("found it", usage=counted)


FACTS: dict[str, Json] = {
    "asked": {"requestRef": ASKED[0], "requestedModel": "claude-opus-4-8[1m]"},
    "skill": {"attributionSkill": "review", "attributionPlugin": "forge"},
    "server": {"attributionMcpServer": "tracker", "attributionMcpTool": "search", "attributionAgent": "explorer"},
    "branch": {"gitBranch": "try", "effort": "high"},
    "cut": {"isAbortedMidStream": True},
}


def _facts(sheet: Sheet, kind: str, blocks: int, counted: Json) -> None:
    sheet.transcript.response(*["part " * 40] * blocks, usage=counted, placeholder=1, **FACTS[kind])


def _asked(sheet: Sheet, id: str, base: Any, kept: int) -> None:
    sheet.transcript.request(id=id, base=base, keep=kept)


def _shaped(sheet: Sheet, system: str, name: str, _: Any) -> None:
    sheet.transcript.request_blob(system)
    sheet.transcript.request_shape([system], [tool(name)], hash_of(system + name))


def _thought(sheet: Sheet, length: int, thinking: int | None, model: str) -> None:
    told = {} if thinking is None else {"output_tokens_details": {"thinking_tokens": thinking}}
    thought = thinking_block("hm" * (length % 5), signature="s" * length)
    sheet.transcript.response(thought, "so " * 50, usage=usage(9, output=120, **told), model=model)


def _pictured(sheet: Sheet, width: int, is_result: bool, _: Any) -> None:
    t, shown = sheet.transcript, [text_block("look"), image_block(picture(width, 600))]
    if is_result:
        t.call("Read", {"file_path": PATHS[0]}, shown, context=22_000)
    else:
        t.prompt(shown)


HAPPENED: dict[str, Callable[[Sheet, Any, Any, Any], Any]] = {
    "twice": _twice,
    "twice answered": _twice_answered,
    "no uuid": _no_uuid,
    "replay": _replay,
    "use": _use,
    "result": _result,
    "nested use": _nested_use,
    "notice": _notice,
    "said last": _said_last,
    "compacted": _compacted,
    "taken out": _taken_out,
    "request alone": _request_alone,
    "advised": _advised,
    "context": _context,
    "sidechain": _sidechain,
    "asked": _asked,
    "shaped": _shaped,
    "facts": _facts,
    "thought": _thought,
    "pictured": _pictured,
    "leaf": lambda sheet, one, *_: sheet.transcript.meta("last-prompt", leafUuid=earlier(sheet, one), lastPrompt=OMIT),
}


def renewed(t: Transcript, lines: list[bytes], *, is_root: bool = True) -> list[bytes]:
    """The lines under new uuids; a parent that is not among them is none, or stays."""
    known: dict[str, str] = {}
    made = []
    for line in lines:
        record = json.loads(line)
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if isinstance(parent, str):
            record["parentUuid"] = known.get(parent, None if is_root else parent)
        if isinstance(uuid, str) and uuid:
            record["uuid"] = known[uuid] = t.new_uuid()
        made.append(dumps(record) + b"\n")
    return made


def fork_of(lines: list[bytes], session: str, *, has_origin: bool = False) -> list[bytes]:
    """What `--fork-session` writes: the session rewritten, and on answers the one that made the request.

    `has_origin`: as `/branch` writes it, with `forkedFrom` beside it.
    """
    made = []
    for line in lines:
        record = json.loads(line)
        before = record.get("sessionId")
        if "sessionId" in record:
            record["sessionId"] = session
        if record.get("type") == "assistant" and "requestSessionId" not in record:
            record["requestSessionId"] = before
        if has_origin and isinstance(record.get("uuid"), str):
            record["forkedFrom"] = {"sessionId": before, "messageUuid": record["uuid"]}
        made.append(dumps(record) + b"\n")
    return made


def is_whole(line: bytes) -> bool:
    """Whether a line is one whole record."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@st.composite
def members(draw: st.DrawFn, before: list[Transcript], number: int) -> Transcript:
    """One more main transcript: a new session, or one that has to do with one before."""
    seconds = draw(st.sampled_from((0, 0, 1, 7_200, -90_000)))
    clock = Clock(START + timedelta(seconds=seconds), timedelta(milliseconds=draw(st.sampled_from((0, 1_001)))))
    how = draw(st.sampled_from(DERIVED)) if before else "alone"
    source = draw(st.sampled_from(before)) if before else None
    session = source.session if source and how in ("snapshot", "part") else SESSIONS[number % len(SESSIONS)]
    t = Transcript(session, cwd=draw(st.sampled_from(CWDS)), clock=clock, model=draw(st.sampled_from(MODELS)))
    t.ids = random.Random(f"{session}/{number}")
    if source is not None:
        whole = [line for line in source.lines() if is_whole(line)]
        taken = whole[: draw(st.integers(0, len(whole)))]
        if how in ("snapshot", "resumed", "fork"):
            t.copy(taken, forked=how == "fork")
        elif how in ("new fork", "branch"):
            t.pieces += fork_of(taken, session, has_origin=how == "branch")
        elif how == "fork anew":
            t.copy(taken, forked=True)
            t.pieces = renewed(t, t.pieces)
        elif how == "replay":
            t.pieces += taken
            _replay(Sheet(t, []), 99, True, None)  # noqa: FBT003 - the detail of an event
    uuids = [uuid for line in t.lines() if isinstance(uuid := json.loads(line).get("uuid"), str) and uuid]
    t.parent = uuids[-1] if uuids else None
    sheet = Sheet(t, uuids)
    least = 0 if how == "snapshot" else 1
    for event in draw(st.lists(st.one_of(happenings(), events(odd=False)), min_size=least, max_size=9)):
        happen(sheet, event)
    return t


@st.composite
def families(draw: st.DrawFn) -> dict[str, bytes]:
    """Files of two config folders by relative path, the root first."""
    made: dict[str, bytes] = {}
    mains: list[Transcript] = []
    for number in range(draw(st.integers(1, 4))):
        main = draw(members(mains, number))
        mains.append(main)
        stem = draw(st.sampled_from((main.session, main.session, main.session, "notes", f"x{number}")))
        root = draw(st.sampled_from((ROOTS[0], *ROOTS)))
        folder = f"{root}/projects/{draw(st.sampled_from(('-p', '-q', '-r', 'subagents')))}"
        while f"{folder}/{stem}.jsonl" in made:
            folder += "-"
        made[f"{folder}/{stem}.jsonl"] = main.data()
        for agent in draw(st.lists(st.sampled_from(AGENTS), max_size=2, unique=True)):
            where = folder if draw(st.booleans()) else f"{folder}/{main.session}/subagents"
            side = Transcript(main.session, agent=agent, cwd=main.cwd, clock=main.clock, model=main.model)
            side.ids = random.Random(f"{main.session}/{number}/{agent}")
            sheet = Sheet(side, [])
            for event in draw(st.lists(st.one_of(happenings(), events(odd=False)), min_size=1, max_size=4)):
                happen(sheet, event)
            made[f"{where}/agent-{agent}.jsonl"] = side.data()
            if draw(st.booleans()):
                told = {
                    "agentType": draw(st.sampled_from(("Explore", "Plan"))),
                    "toolUseId": draw(st.sampled_from(TOOLS)),
                }
                made[f"{where}/agent-{agent}.meta.json"] = json.dumps(told).encode()
    return made


@st.composite
def growths(draw: st.DrawFn, files: dict[str, bytes]) -> list[Step]:
    """The files in steps (relative path, bytes to append): any order, cut anywhere, at line ends as a rule."""
    rest = dict(files)
    steps: list[Step] = []
    while rest:
        path = draw(st.sampled_from(sorted(rest)))
        data = rest.pop(path)
        size = len(data)
        if path.endswith(".jsonl") and len(steps) < 12:
            ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
            size = draw(st.one_of(st.just(size), st.sampled_from(ends or [size]), st.integers(0, size)))
        steps.append((path, data[:size]))
        if size < len(data):
            rest[path] = data[size:]
    return steps


def roots_below(base: Path) -> list[Path]:
    """The config folders of a family laid down below `base`."""
    return [base / name for name in ROOTS]
