"""Made-up transcripts for tests: records as Claude Code logs them, and a config folder to put them in.

    folder = ClaudeFolder(tmp_path)
    t = folder.main(project="/home/ada/site")
    t.prompt("why is the build slow?")
    t.read("/home/ada/site/build.py", "import os\n" * 40, context=21_000)
    t.response("It walks the tree twice.", context=21_400)
    t.write()
    assert folder.crusts("list", "--json").json()["sessions"]

Ids and timestamps follow from the session id and the order of the calls, so a test that fails fails again.
"""

import base64
import hashlib
import json
import os
import random
import re
import struct
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.process import run

Json = dict[str, Any]
OMIT: Any = object()  # as the value of a field: leave the field out

SESSION = "5e551001-0000-4000-8000-000000000001"
CWD = "/home/ada/site"
START = datetime(2026, 10, 5, 9, 0, tzinfo=UTC)
SHAPE = "5ade" * 16
"""The hash of a request's shape."""


def dumps(record: object) -> bytes:
    """One record as Claude Code writes it: compact, UTF-8, half an emoji as its escape."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def stamp(time: datetime) -> str:
    """`2026-10-05T09:00:00.000Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def usage(input: int = 3, write: int = 0, read: int = 0, output: int = 20, write_1h: int = 0, **more: Any) -> Json:
    """The usage of one call; `write_1h` is the part of `write`, the whole cache write, that lives an hour."""
    return without_omitted(
        {
            "input_tokens": input,
            "cache_creation_input_tokens": write,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": write - write_1h,
                "ephemeral_1h_input_tokens": write_1h,
            },
            "output_tokens": output,
            "service_tier": "standard",
            **more,
        }
    )


def text_block(text: str) -> Json:
    """Text of a person or a model."""
    return {"type": "text", "text": text}


def thinking_block(text: str = "", signature: str = "c2lnbmF0dXJl") -> Json:
    """Thinking, which is logged without its text as a rule."""
    return {"type": "thinking", "thinking": text, "signature": signature}


def image_block(data: str = "iVBORw0KGgo=", media_type: str = "image/png") -> Json:
    """A picture in base64."""
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def picture(width: int, height: int) -> str:
    """The beginning of a PNG of that size in base64: as much of a picture as its size takes."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 6, 0, 0, 0)
    return base64.b64encode(head).decode()


def tool(name: str, description: str = "Does it.", **properties: str) -> Json:
    """A tool as it is sent: its properties by name and type."""
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"name": name, "description": description, "input_schema": schema}


USUAL = 1.0
"""The factor of the tokenizer that the builders' usual model has (D9)."""


def weighs(text: str, around: float = 0, factor: float = USUAL) -> int:
    """Tokens of a text of ASCII letters, white space and single marks, with what stands `around` it (D9)."""
    soft = sum(not character.isspace() for character in text)
    marks = len(re.findall(r"[^\sA-Za-z]+", text)) + 2 * text.count("\n")
    return int(factor * (0.207 * soft + 1.12 * marks + around) + 0.5)


def hash_of(text: str) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def snake(name: str) -> str:
    """The name in the other spelling."""
    return re.sub("(ID|[A-Z])", lambda found: "_" + found.group().lower(), name)


def respelled(value: Any) -> Any:
    """A record with Claude Code's own names in the other spelling; what the API names (that has a role) stays."""
    if isinstance(value, list):
        return [respelled(part) for part in value]
    if not isinstance(value, dict) or "role" in value:
        return value
    return {snake(name): respelled(part) for name, part in value.items()}


def without_omitted(fields: Mapping[str, Any]) -> Json:
    """The fields without those whose value is OMIT."""
    return {key: value for key, value in fields.items() if value is not OMIT}


class Clock:
    """Gives each record its time, one step after the one before. Threads of one file share one."""

    def __init__(self, start: datetime = START, step: timedelta = timedelta(seconds=1)) -> None:
        self.now = start
        self.step = step

    def tick(self) -> str:
        time = stamp(self.now)
        self.now += self.step
        return time


class Transcript:
    """One transcript, made record by record. Methods that add a record return its uuid."""

    def __init__(
        self,
        session: str = SESSION,
        *,
        path: Path | None = None,
        cwd: str = CWD,
        version: str = "2.1.220",
        model: str = "claude-opus-4-6",
        branch: str = "main",
        agent: str | None = None,
        clock: Clock | None = None,
        start: datetime = START,
    ) -> None:
        self.session, self.path, self.cwd, self.version = session, path, cwd, version
        self.model, self.branch, self.agent = model, branch, agent
        self.clock = clock or Clock(start)
        self.is_sidechain = agent is not None
        self.parent: str | None = None
        self.pieces: list[bytes] = []
        self.written = 0
        self.ids = random.Random(f"{session}/{agent}")

    # ids

    def new_uuid(self) -> str:
        return str(uuid.UUID(int=self.ids.getrandbits(128), version=4))

    def new_id(self, prefix: str) -> str:
        """`req_…`, `msg_…` or `toolu_…`."""
        return f"{prefix}_01" + "".join(
            self.ids.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789", k=22)
        )

    # records

    def record(self, type: str, **fields: Any) -> str:
        """Any record with the envelope around it. `parentUuid=…` rewinds, `field=OMIT` leaves a field out."""
        record: Json = {
            "parentUuid": self.parent,
            "isSidechain": self.is_sidechain,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
            "type": type,
            "agentId": OMIT if self.agent is None else self.agent,
            "uuid": OMIT if "uuid" in fields else self.new_uuid(),
            "timestamp": self.clock.tick(),
        }
        record = without_omitted({**record, **fields})
        self.pieces.append(dumps(record) + b"\n")
        self.parent = record.get("uuid", self.parent)
        return str(record.get("uuid", ""))

    def meta(self, type: str, **fields: Any) -> None:
        """A record without an envelope: `custom-title`, `last-prompt`, `summary`, `cost-state`, …"""
        self.pieces.append(dumps(without_omitted({"type": type, "sessionId": self.session, **fields})) + b"\n")

    def raw(self, data: bytes) -> None:
        """Bytes as they are, without a newline of their own."""
        self.pieces.append(data)

    def prompt(self, content: str | list[Json] = "go on", **fields: Any) -> str:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def response(
        self,
        *blocks: str | Json,
        usage: Any = None,
        context: int = 0,
        output: int = 20,
        placeholder: int | None = None,
        request: Any = None,
        message: Any = None,
        model: str | None = None,
        stop: str | None = None,
        **fields: Any,
    ) -> str:
        """One API response: one line a block, with the ids and the usage on every line.

        `context` is a short way to a usage of that many input-side tokens. `placeholder` is the output count
        of the lines before the last. `request=OMIT` leaves the request id out, `usage=OMIT` the usage.
        """
        counts = usage_of(context, output) if usage is None else usage
        request = self.new_id("req") if request is None else request
        message = self.new_id("msg") if message is None else message
        uuid = ""
        content: list[Json] = [text_block(block) if isinstance(block, str) else block for block in blocks]
        for place, block in enumerate(content, 1):
            last = place == len(content)
            early = not last and placeholder is not None and isinstance(counts, dict)
            line_usage = {**counts, "output_tokens": placeholder} if early else counts
            ending = stop or ("tool_use" if block["type"] == "tool_use" else "end_turn")
            body = {
                "model": model or self.model,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": ending if last else None,
                "stop_sequence": None,
                "usage": line_usage,
            }
            uuid = self.record("assistant", message=without_omitted(body), requestId=request, **fields)
        return uuid

    def synthetic(self, text: str = "No response requested.", **fields: Any) -> str:
        """A line the program wrote in the model's name: no call."""
        nothing = usage(input=0, output=0)
        return self.response(text, usage=nothing, model="<synthetic>", request=OMIT, isApiErrorMessage=True, **fields)

    def tool_use(self, name: str, input: Json | None = None, id: str | None = None) -> Json:
        """A block for `response`; its `id` is what `tool_result` answers."""
        return {"type": "tool_use", "id": id or self.new_id("toolu"), "name": name, "input": input or {}}

    def tool_result(
        self,
        id: str,
        content: Any = "done",
        *,
        is_error: Any = OMIT,
        tool_use_result: Any = OMIT,
        **fields: Any,
    ) -> str:
        block = {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": is_error}
        message = {"role": "user", "content": [without_omitted(block)]}
        return self.record("user", **{"message": message, "toolUseResult": tool_use_result, **fields})

    # a response with one tool use, and its result

    def call(
        self,
        name: str,
        input: Json,
        result: Any = "done",
        *,
        id: str | None = None,
        is_error: Any = OMIT,
        tool_use_result: Any = OMIT,
        **response: Any,
    ) -> str:
        """Use a tool and log its result; returns the tool use's id."""
        block = self.tool_use(name, input, id)
        self.response(block, **response)
        self.tool_result(block["id"], result, is_error=is_error, tool_use_result=tool_use_result)
        return str(block["id"])

    def read(
        self,
        path: str,
        text: str = "x\n",
        *,
        offset: int | None = None,
        limit: int | None = None,
        **more: Any,
    ) -> str:
        lines = text.splitlines()
        file = {
            "filePath": path,
            "content": text,
            "numLines": len(lines),
            "startLine": 1,
            "totalLines": len(lines),
        }
        given = {"file_path": path, "offset": offset or OMIT, "limit": limit or OMIT}
        return self.call("Read", without_omitted(given), text, tool_use_result={"type": "text", "file": file}, **more)

    def edit(self, path: str, old: str = "a", new: str = "b", *, original: str = "a\n", **more: Any) -> str:
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        done = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": original,
            "structuredPatch": [],
            "userModified": False,
            "replaceAll": False,
        }
        return self.call("Edit", given, f"The file {path} has been updated.", tool_use_result=done, **more)

    def bash(self, command: str, output: str = "", **more: Any) -> str:
        done = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        given = {"command": command, "description": "Run it"}
        return self.call("Bash", given, output, tool_use_result=done, **more)

    # what is neither said by a person nor by the model

    def boundary(self, trigger: str = "auto", pre: Any = 167_000, post: Any = OMIT, **metadata: Any) -> str:
        """A compaction boundary; `metadata` stands beside trigger, preTokens and postTokens."""
        counted = without_omitted({"trigger": trigger, "preTokens": pre, "postTokens": post, **metadata})
        return self.system(
            "compact_boundary",
            parentUuid=None,
            logicalParentUuid=self.parent,
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata=counted,
        )

    def summary(self, text: str = "This session is being continued: the parser is done.", **fields: Any) -> str:
        return self.prompt(text, isCompactSummary=True, isVisibleInTranscriptOnly=True, **fields)

    def system(self, subtype: str, **fields: Any) -> str:
        return self.record("system", **{"subtype": subtype, **fields})

    def attachment(self, kind: str, *, envelope: Json | None = None, **fields: Any) -> str:
        return self.record("attachment", attachment={"type": kind, **fields}, **(envelope or {}))

    def progress(self, kind: str, *, tool: str = "toolu_progress", **data: Any) -> str:
        return self.record("progress", data={"type": kind, **data}, toolUseID=tool, parentToolUseID=tool)

    def agent_progress(self, agent: str, lines: Iterable[bytes], *, tool: str = "toolu_progress") -> None:
        """What a subagent said, nested whole (with its usage) in progress records, one a line."""
        for line in lines:
            said = json.loads(line)
            keys = ("type", "message", "requestId", "uuid", "timestamp", "toolUseResult")
            nested = {key: said[key] for key in keys if key in said}
            self.progress(
                "agent_progress",
                tool=tool,
                message=nested,
                normalizedMessages=[],
                prompt="look",
                agentId=agent,
            )

    # the requests themselves, which newer versions log

    def request(
        self,
        *,
        id: str | None = None,
        base: Any = OMIT,
        keep: int = 0,
        tail: int = 2,
        shape: str = SHAPE,
        model: str | None = None,
        effort: Any = "medium",
        source: str = "repl_main_thread",
        ttl: Any = OMIT,
        **fields: Any,
    ) -> str:
        """What is about to be sent; returns the id that the answer's `requestRef` names."""
        id = id or self.new_uuid()
        place = {"path": ["messages", max(0, keep + tail - 1), "content", 0]}
        kept = without_omitted({"type": "ephemeral", "ttl": ttl})
        self.meta(
            "api-request",
            **{
                "id": id,
                "timestamp": self.clock.tick(),
                "version": self.version,
                "querySource": source,
                "agentId": OMIT if self.agent is None else self.agent,
                "shapeHash": shape,
                "params": {
                    "model": model or self.model,
                    "betas": ["context-management-2025-06-27"],
                    "max_tokens": 128_000,
                    "thinking": {"type": "adaptive", "display": "omitted"},
                    "output_config": OMIT if effort is OMIT else {"effort": effort},
                },
                "thread": {"type": "none"},
                "echoWireToolInputs": False,
                "base": base,
                "keep": keep,
                "tail": [hash_of(f"{id}/{place}") for place in range(tail)],
                "cacheControl": [{"path": ["system", 0], "value": kept}, {**place, "value": kept}],
                "requestDigest": hash_of(id),
                **fields,
            },
        )
        return id

    def request_shape(self, system: Iterable[str], tools: Iterable[Json], shape: str = SHAPE, **fields: Any) -> None:
        """The parts before the messages, logged once and again when they change."""
        sent = {"system": [text_block(text) for text in system], "tools": list(tools)}
        about = {"shapeHash": shape, "timestamp": self.clock.tick(), "version": self.version}
        self.meta("api-request-shape", **{**about, "shape": sent, **fields})

    def request_blob(self, *content: str, role: str = "user", **fields: Any) -> None:
        """One message of a request, by its hash."""
        message = {"role": role, "content": [text_block(text) for text in content]}
        self.meta("api-request-blob", **{"hash": hash_of(str(content)), "message": message, **fields})

    def prompt_snapshot(self, system: list[str], tools: Iterable[Json] | None = None, **fields: Any) -> str:
        """The fixed context itself; only a later one has the tools."""
        told = [] if tools is None else list(tools)
        schemas = [{"name": tool["name"], "description": tool["description"], "schema": tool} for tool in told]
        return self.attachment(
            "prompt_snapshot",
            systemPrompt=system,
            **without_omitted({"tools": OMIT if tools is None else schemas, "cliPrefix": OMIT, **fields}),
        )

    def instructions(self, files: Mapping[str, str], kind: str = "Project", **fields: Any) -> str:
        """What CLAUDE.md files were sent, by path."""
        told = [{"path": path, "type": kind, "content": text} for path, text in files.items()]
        rendered = [{"content": "\n".join(files.values())}]
        return self.attachment("instructions", envelope={"rendered": rendered}, files=told, **fields)

    def sidechain(self) -> "Transcript":
        """A thread of its own inside this transcript: same file and clock, own root."""
        thread = Transcript(self.session, cwd=self.cwd, version=self.version, model=self.model, clock=self.clock)
        thread.pieces, thread.ids, thread.is_sidechain = self.pieces, self.ids, True
        return thread

    def copy(self, lines: Iterable[bytes], *, forked: bool = False, asked: bool = False, rename: bool = False) -> None:
        """Lines of another transcript again, as resuming (none of the three) and forking write them.

        `asked`: only answers name the session that asked, as `--fork-session` does; with `forked`, as `/branch`.
        """
        for line in lines:
            record = json.loads(line)
            if forked and "uuid" in record:
                record["forkedFrom"] = {"sessionId": record.get("sessionId"), "messageUuid": record["uuid"]}
            if asked and record.get("type") == "assistant":
                record.setdefault("requestSessionId", record.get("sessionId"))
            if rename or forked or asked:
                record["sessionId"] = self.session
            self.pieces.append(dumps(record) + b"\n")
            self.parent = record.get("uuid", self.parent)

    # to disk

    def lines(self) -> list[bytes]:
        return list(self.pieces)

    def data(self) -> bytes:
        return b"".join(self.pieces)

    def write(self, path: Path | None = None) -> Path:
        """The whole transcript, in place of whatever is there."""
        return self._put("wb", self.data(), path)

    def append(self, path: Path | None = None) -> Path:
        """What came since the last `write` or `append`."""
        return self._put("ab", b"".join(self.pieces[self.written :]), path)

    def _put(self, mode: str, data: bytes, path: Path | None) -> Path:
        target = path or self.path
        assert target is not None, "no path: give one, or make the transcript with ClaudeFolder"
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open(mode) as file:
            file.write(data)
        self.written = len(self.pieces)
        return target


def usage_of(context: int, output: int) -> Json:
    """A usage of `context` input-side tokens: three uncached, the rest read from the cache."""
    fresh = min(3, context)
    return usage(input=fresh, read=context - fresh, output=output)


@dataclass(frozen=True)
class Outcome:
    """How a run of the command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


class ClaudeFolder:
    """A home with Claude Code's config folder in it, and the command to run on it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.config = home / ".claude"
        self.projects = self.config / "projects"
        self.projects.mkdir(parents=True, exist_ok=True)

    def project_folder(self, project: str) -> Path:
        return self.projects / re.sub(r"[^A-Za-z0-9]", "-", project)

    def main(self, session: str = SESSION, project: str = CWD, **options: Any) -> Transcript:
        """A main transcript, not yet on disk: call its `write()`."""
        path = self.project_folder(project) / f"{session}.jsonl"
        return Transcript(session, path=path, **{"cwd": project, **options})

    def subagent(
        self,
        session: str = SESSION,
        agent: str = "a1b2c3d",
        *,
        project: str = CWD,
        meta: Json | None = None,
        old_place: bool = False,
        under: str = "",
        **options: Any,
    ) -> Transcript:
        """A subagent's transcript; `meta` becomes its `.meta.json`, `under` is a folder below `subagents`."""
        place = self.project_folder(project)
        place = place if old_place else place / session / "subagents" / under
        if meta is not None:
            place.mkdir(parents=True, exist_ok=True)
            (place / f"agent-{agent}.meta.json").write_text(json.dumps(meta))
        path = place / f"agent-{agent}.jsonl"
        return Transcript(session, path=path, agent=agent, **{"cwd": project, **options})

    def env(self, home: Path | None = None, **more: str) -> dict[str, str]:
        """The environment of a run: nothing of the machine's but what starts a process."""
        home = home or self.home
        kept = ("PATH", "SYSTEMROOT", "TMPDIR", "VIRTUAL_ENV")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CRUSTS_HOME": str(home / ".claude-crusts"),
            "TZ": "UTC",
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
            **more,
        }

    def crusts(self, *args: str, stdin: str | bytes = "", cwd: Path | None = None, **env: str) -> Outcome:
        """Run the command: inside this process, or where the test is marked `process` as one of its own."""
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        code, out, err = run(args, data, cwd or self.home, self.env(**env))
        return Outcome(code, out.decode("utf-8"), err.decode("utf-8", "replace"))
