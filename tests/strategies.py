"""Random small Claude folders for property tests: what goes right, what goes odd, and what is damaged.

`folders()` draws the transcripts of one folder as bytes; `histories()` draws such a folder and a way to
write it in steps (any split, any order). Both shrink: fewer events, fewer files, whole lines.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.builders import OMIT, SHAPE, START, Clock, Json, Transcript, dumps, image_block, thinking_block, tool, usage

PROJECTS = ("/home/ada/site", "/home/ada/api_v2")
SESSIONS = tuple(f"5e551001-0000-4000-8000-00000000000{n}" for n in range(1, 5))
AGENTS = ("a1b2c3d", "acompact-77", "f00ba4")
MODELS = ("claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001", "claude-next-9")
PATHS = ("/home/ada/site/a.py", "/home/ada/site/b.py", "/home/ada/site/node_modules/x.js")
TEXTS = (
    "fix the parser",
    "thanks, that works",
    "naïve 🧪 café",
    "x = [1, 2]\nreturn x\n" * 9,
    "",
    "line\u2028break",
    "\ud83d cut",
)
REQUESTS = tuple(f"req_{n}" for n in range(4))  # few, so that calls meet across files
RESULTS = (
    "ok",
    "",
    "    1\tdef f():\n    2\t    return 1\n" * 20,
    [{"type": "text", "text": "a"}, image_block()],
    None,
)

texts = st.sampled_from(TEXTS)
paths = st.sampled_from(PATHS)
counts = st.integers(0, 300_000)
odd_numbers = st.sampled_from((None, -1, 1.5, 2.0**70, 2**60, -0.0, True, "12", "many", [], {}))
odd_times = st.sampled_from(
    (
        OMIT,
        None,
        "",
        0,
        "yesterday",
        "2026-10-05 09:00:00",
        "2026-10-05T11:00:00+02:00",
        "2026-10-05T09:00:00.123456789Z",
        "2026-13-45T99:00:00Z",
        "0001-01-01T00:00:00Z",
    )
)
odd_values = st.one_of(odd_numbers, st.sampled_from(("", "\x00", "x" * 300)))

Event = tuple[str, Any, Any, Any]


@dataclass
class Sheet:
    """A transcript being drawn, and what its events refer to."""

    transcript: Transcript
    uuids: list[str]
    calls: int = 0
    request: str | None = None
    """The last request, how many messages it had, and its shape."""
    sent: int = 0
    shape: str = SHAPE


@cache  # building strategies anew costs more than drawing from them
def usages(odd: bool) -> st.SearchStrategy[Json]:
    """The usage of a call; odd ones hold a value that is no token count."""
    plain = st.builds(usage, counts, counts, counts, counts)
    if not odd:
        return plain
    fields = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    one_odd = st.builds(
        lambda counted, field, value: {**counted, field: value}, plain, st.sampled_from(fields), odd_numbers
    )
    unsplit = plain.map(lambda counted: {**counted, "cache_creation": None})
    by_the_hour = plain.map(
        lambda counted: {
            **counted,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_1h_input_tokens": counted["cache_creation_input_tokens"]},
        }
    )
    return st.one_of(plain, unsplit, by_the_hour, one_odd)


@cache
def events(odd: bool = True) -> st.SearchStrategy[Event]:
    """One thing that happens in a thread: a name and up to three details."""
    nothing = st.none()
    kinds: list[tuple[str, Any, Any, Any]] = [
        ("prompt", texts, nothing, nothing),
        ("answer", texts, usages(odd), st.integers(1, 3)),
        ("request", st.sampled_from(REQUESTS), usages(odd), st.integers(1, 2)),
        ("no_request", st.sampled_from(("msg_same", None)), usages(odd), nothing),
        ("read", paths, st.sampled_from((None, 10)), st.sampled_from(RESULTS)),
        ("read", paths, nothing, st.sampled_from(RESULTS)),
        ("edit", paths, st.booleans(), nothing),
        ("bash", st.sampled_from(("pytest -q", "git checkout .", "crusts analyze")), texts, st.booleans()),
        ("mcp", st.sampled_from(("mcp__tracker__search", "ToolSearch", "Agent")), texts, nothing),
        ("parallel", st.lists(paths, min_size=2, max_size=3), nothing, nothing),
        ("compact", counts, st.one_of(nothing, counts), st.booleans()),
        ("rewind", st.integers(0, 99), texts, nothing),
        ("sidechain", texts, usages(odd), nothing),
        (
            "attachment",
            st.sampled_from(("file", "hook_success", "queued_command", "skill_listing", "new_kind")),
            texts,
            nothing,
        ),
        ("agent_progress", st.sampled_from(AGENTS), st.sampled_from(REQUESTS), usages(odd)),
        ("synthetic", texts, nothing, nothing),
        ("title", texts, nothing, nothing),
        ("leaf", st.integers(0, 99), nothing, nothing),
        ("microcompact", counts, nothing, nothing),
        ("rewrite", st.integers(0, 99), nothing, nothing),
        ("wait", st.integers(0, 9_000), nothing, nothing),
        ("api_request", st.integers(0, 3), st.sampled_from(("low", "high")), usages(odd)),
        ("shape", st.sampled_from(("5ade" * 16, "0dd5" * 16)), st.sampled_from(("Read", "Bash")), nothing),
        ("switch", st.sampled_from(MODELS), st.sampled_from(("2.1.300", "2.1.332")), nothing),
        ("instructions", st.sampled_from(("Be brief.", "Be kind.")), nothing, nothing),
    ]
    if odd:
        kinds += [
            ("odd_time", odd_times, texts, nothing),
            (
                "odd_field",
                st.sampled_from(("uuid", "message", "type", "sessionId", "parentUuid", "requestId")),
                odd_values,
                nothing,
            ),
            ("unknown", st.sampled_from(("quantum-state", "system", "")), odd_values, nothing),
            (
                "bare",
                st.sampled_from((b"[]", b"1", b"null", b'"text"', b"{}", b"", b"   ")),
                nothing,
                nothing,
            ),
        ]
    return st.one_of([st.tuples(st.just(name), *details) for name, *details in kinds])


def play(sheet: Sheet, event: Event) -> None:
    """Let one event happen in a transcript."""
    name, first, second, third = event
    PLAYED[name](sheet, first, second, third)
    t = sheet.transcript
    if t.parent and (not sheet.uuids or sheet.uuids[-1] != t.parent):
        sheet.uuids.append(t.parent)


def earlier(sheet: Sheet, place: int) -> str | None:
    """The uuid of a record that is already there."""
    return sheet.uuids[place % len(sheet.uuids)] if sheet.uuids else None


def _answer(sheet: Sheet, text: Any, counted: Any, blocks: Any) -> None:
    parts = [thinking_block(), text or "ok", "and more"][:blocks]
    sheet.transcript.response(*parts, usage=counted, placeholder=1)


def _request(sheet: Sheet, request: Any, counted: Any, blocks: Any) -> None:
    t = sheet.transcript
    t.response(*["part"] * blocks, usage=counted, request=request, message=f"msg_of_{request}", placeholder=2)


def _no_request(sheet: Sheet, message: Any, counted: Any, _: Any) -> None:
    sheet.transcript.response("hm", usage=counted, request=OMIT, message=message or OMIT)


def _read(sheet: Sheet, path: Any, limit: Any, result: Any) -> None:
    given = {"file_path": path} if limit is None else {"file_path": path, "offset": 1, "limit": limit}
    sheet.transcript.call("Read", given, result, context=_context(sheet))


def _edit(sheet: Sheet, path: Any, fails: Any, _: Any) -> None:
    sheet.transcript.edit(path, is_error=True if fails else OMIT, context=_context(sheet))


def _bash(sheet: Sheet, command: Any, output: Any, fails: Any) -> None:
    sheet.transcript.bash(command, output, is_error=True if fails else OMIT, context=_context(sheet))


def _mcp(sheet: Sheet, tool: Any, output: Any, _: Any) -> None:
    result = [{"type": "tool_reference", "tool_name": "mcp__tracker__search"}] if tool == "ToolSearch" else output
    sheet.transcript.call(tool, {"query": "open"}, result, context=_context(sheet))


def _parallel(sheet: Sheet, files: Any, *_: Any) -> None:
    t = sheet.transcript
    uses = [t.tool_use("Read", {"file_path": path}) for path in files]
    t.response(*uses, context=_context(sheet), placeholder=1)
    for use in reversed(uses):
        t.tool_result(use["id"], "x\n" * 50)


def _compact(sheet: Sheet, pre: Any, post: Any, summarised: Any) -> None:
    sheet.transcript.boundary("auto" if summarised else "manual", pre, OMIT if post is None else post)
    if summarised:
        sheet.transcript.summary()


def _rewind(sheet: Sheet, place: Any, text: Any, _: Any) -> None:
    sheet.transcript.prompt(text, parentUuid=earlier(sheet, place))


def _sidechain(sheet: Sheet, text: Any, counted: Any, _: Any) -> None:
    side = sheet.transcript.sidechain()
    side.prompt(text)
    side.response("found it", usage=counted)


def _attachment(sheet: Sheet, kind: Any, text: Any, _: Any) -> None:
    fields: Json = {"content": text}
    if kind == "file":
        fields = {
            "filename": PATHS[0],
            "content": {"type": "text", "file": {"filePath": PATHS[0], "content": text}},
        }
    elif kind == "queued_command":
        fields = {"prompt": text, "commandMode": "prompt"}
    sheet.transcript.attachment(kind, **fields)


def _agent_progress(sheet: Sheet, agent: Any, request: Any, counted: Any) -> None:
    t = sheet.transcript
    said = Transcript(t.session, agent=agent, clock=t.clock)
    said.ids = t.ids
    said.response("looking", usage=counted, request=request, message=f"msg_of_{request}")
    t.agent_progress(agent, said.lines())


def _microcompact(sheet: Sheet, pre: Any, *_: Any) -> None:
    meta = {
        "trigger": "auto",
        "preTokens": pre,
        "tokensSaved": 100,
        "compactedToolIds": [],
        "clearedAttachmentUUIDs": [],
    }
    sheet.transcript.system("microcompact_boundary", content="Context microcompacted", microcompactMetadata=meta)


def _rewrite(sheet: Sheet, place: Any, *_: Any) -> None:
    """An earlier line again under its own uuid, as a second compaction in one process leaves it."""
    pieces = sheet.transcript.pieces
    if pieces:
        pieces.append(pieces[place % len(pieces)])


def _wait(sheet: Sheet, seconds: Any, *_: Any) -> None:
    sheet.transcript.clock.now += timedelta(seconds=seconds)


def _api_request(sheet: Sheet, dropped: Any, effort: Any, counted: Any) -> None:
    """A request as newer versions log it, perhaps with fewer messages than the one before had, and its answer."""
    t = sheet.transcript
    kept = max(0, sheet.sent - dropped)
    asked = t.request(base=sheet.request or OMIT, keep=kept, tail=2, shape=sheet.shape, effort=effort)
    sheet.request, sheet.sent = asked, kept + 2
    t.response("so", usage=counted, requestRef=asked)


def _shape(sheet: Sheet, shape: Any, name: Any, _: Any) -> None:
    sheet.shape = shape
    sheet.transcript.request_shape(["You help."], [tool(name)], shape=shape)


def _switch(sheet: Sheet, model: Any, version: Any, _: Any) -> None:
    sheet.transcript.model, sheet.transcript.version = model, version


def _odd_field(sheet: Sheet, field: Any, value: Any, _: Any) -> None:
    t = sheet.transcript
    t.response("odd", context=_context(sheet))
    record = json.loads(t.pieces.pop())
    t.pieces.append(dumps({**record, field: value}) + b"\n")


def _unknown(sheet: Sheet, kind: Any, value: Any, _: Any) -> None:
    sheet.transcript.record(kind, subtype="never-seen", payload=value, compactMetadata=value)


def _context(sheet: Sheet) -> int:
    sheet.calls += 1
    return 20_000 + 1_000 * sheet.calls


PLAYED: dict[str, Callable[[Sheet, Any, Any, Any], Any]] = {
    "prompt": lambda sheet, text, *_: sheet.transcript.prompt(text),
    "answer": _answer,
    "request": _request,
    "no_request": _no_request,
    "read": _read,
    "edit": _edit,
    "bash": _bash,
    "mcp": _mcp,
    "parallel": _parallel,
    "compact": _compact,
    "rewind": _rewind,
    "sidechain": _sidechain,
    "attachment": _attachment,
    "agent_progress": _agent_progress,
    "synthetic": lambda sheet, text, *_: sheet.transcript.synthetic(text),
    "title": lambda sheet, text, *_: sheet.transcript.meta("custom-title", customTitle=text),
    "leaf": lambda sheet, place, *_: sheet.transcript.meta("last-prompt", leafUuid=earlier(sheet, place)),
    "microcompact": _microcompact,
    "rewrite": _rewrite,
    "wait": _wait,
    "api_request": _api_request,
    "shape": _shape,
    "switch": _switch,
    "instructions": lambda sheet, text, *_: sheet.transcript.instructions({"/home/ada/site/CLAUDE.md": text}),
    "odd_time": lambda sheet, time, text, _: sheet.transcript.prompt(text, timestamp=time),
    "odd_field": _odd_field,
    "unknown": _unknown,
    "bare": lambda sheet, data, *_: sheet.transcript.raw(data + b"\n"),
}

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda line: line[: len(line) // 2] + b"\n",
    "glued": lambda line: line.rstrip(b"\n"),
    "cut and glued": lambda line: line[: len(line) // 2],
    "nul run": lambda line: b"\x00" * 7 + line,
    "bad utf-8": lambda line: line.replace(b'"userType":"external"', b'"userType":"ext\xff\xfe\xc3"'),
    "lone surrogate": lambda line: line.replace(b'"userType":"external"', b'"userType":"\\ud83d"'),
    "escaped nul": lambda line: line.replace(b'"userType":"external"', b'"userType":"a\\u0000b"'),
    "control": lambda line: line.replace(b'"userType":"external"', b'"userType":"a\x07b"'),
    "not a number": lambda line: line.replace(b'"output_tokens":20', b'"output_tokens":NaN'),
    "bom": lambda line: b"\xef\xbb\xbf" + line,
    "crlf": lambda line: line.rstrip(b"\n") + b"\r\n",
    "blank": lambda line: b"\n" + line,
}


@st.composite
def damages(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    """The lines with up to three of them spoiled, and perhaps no newline at the end."""
    lines = list(lines)
    for _ in range(draw(st.integers(0, 3)) if lines else 0):
        place = draw(st.integers(0, len(lines) - 1))
        lines[place] = DAMAGES[draw(st.sampled_from(sorted(DAMAGES)))](lines[place])
    if lines and lines[-1] and draw(st.booleans()):
        lines[-1] = lines[-1][: -draw(st.integers(1, min(40, len(lines[-1]))))]
    return lines


@st.composite
def transcripts(draw: st.DrawFn, odd: bool = True, **options: Any) -> Transcript:
    """One transcript of up to a dozen events."""
    transcript = Transcript(**options, model=draw(st.sampled_from(MODELS)))
    sheet = Sheet(transcript, [])
    for event in draw(st.lists(events(odd), min_size=1, max_size=12)):
        play(sheet, event)
    return transcript


@st.composite
def folders(draw: st.DrawFn, odd: bool = True, damaged: bool = True) -> dict[str, bytes]:
    """Files of a config folder by relative path: one to three sessions, subagents, copies and forks."""
    made: dict[str, list[bytes]] = {}
    mains: list[Transcript] = []
    for number in range(draw(st.integers(1, 3))):
        clock = Clock(START + timedelta(hours=draw(st.integers(-60, 60))), timedelta(milliseconds=1_001))
        project = draw(st.sampled_from(PROJECTS))
        options: Json = {"session": SESSIONS[number], "cwd": project, "clock": clock}
        main = Transcript(**options, model=draw(st.sampled_from(MODELS)))
        if mains and draw(st.booleans()):
            source = draw(st.sampled_from(mains))
            kept = [line for line in source.lines() if line.startswith(b'{"')]
            how = draw(st.sampled_from(("resumed", "renamed", "forked", "asked")))
            taken = kept[: draw(st.integers(1, max(1, len(kept))))]
            main.copy(taken, forked=how == "forked", asked=how == "asked", rename=how == "renamed")
        sheet = Sheet(main, [main.parent] if main.parent else [])
        for event in draw(st.lists(events(odd), min_size=1, max_size=12)):
            play(sheet, event)
        mains.append(main)
        folder = "projects/" + project.replace("/", "-").replace("_", "-")
        made[f"{folder}/{main.session}.jsonl"] = main.lines()
        for agent in draw(st.lists(st.sampled_from(AGENTS), max_size=2, unique=True)):
            place = folder if draw(st.booleans()) else f"{folder}/{main.session}/subagents"
            thread = draw(transcripts(odd, **options, agent=agent))
            made[f"{place}/agent-{agent}.jsonl"] = thread.lines()
            if draw(st.booleans()):
                meta = {"agentType": "explorer", "toolUseId": "toolu_x"}
                made[f"{place}/agent-{agent}.meta.json"] = [json.dumps(meta).encode()]
    if damaged:
        made = {path: draw(damages(lines)) if path.endswith(".jsonl") else lines for path, lines in made.items()}
    return {path: b"".join(lines) for path, lines in made.items()}


Step = tuple[str, bytes]


@st.composite
def histories(draw: st.DrawFn, odd: bool = True, damaged: bool = True) -> list[Step]:
    """A folder in steps (relative path, bytes to append): files grow in any order and are cut anywhere."""
    rest = draw(folders(odd=odd, damaged=damaged))
    steps: list[Step] = []
    while rest:
        path = draw(st.sampled_from(sorted(rest)))
        data = rest.pop(path)
        size = draw(st.one_of(st.just(len(data)), st.integers(0, len(data)))) if path.endswith(".jsonl") else len(data)
        steps.append((path, data[:size]))
        if size < len(data):
            rest[path] = data[size:]
        if len(steps) >= 10:
            steps.extend(sorted(rest.items()))
            break
    return steps


def write_step(config: Path, step: Step) -> Path:
    """Append one step's bytes below a config folder."""
    path = config / step[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(step[1])
    return path


def write_folder(config: Path, files: dict[str, bytes]) -> None:
    """Lay a drawn folder down below a config folder, replacing what is there."""
    for name, data in files.items():
        path = config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
