"""One made-up transcript for the benchmarks, and the count of what it holds."""

import json
from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tests.bench.pools import PARTS, cut

if TYPE_CHECKING:
    from tests.bench.corpus import Maker

try:
    from orjson import dumps
except ImportError:  # slower, same bytes

    def dumps(record: Any) -> bytes:  # type: ignore[misc]
        """Compact JSON."""
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


Json = dict[str, Any]

OLD = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001")
NEW = ("claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001")
TOOLS = ("Bash", "Read", "Edit", "Grep", "TaskUpdate", "Write", "Glob", "mcp__tracker__search", "WebFetch")
TOOL_WEIGHTS = tuple(accumulate((33, 23, 20, 11, 7, 2, 2, 1, 1)))
FIELDS = ("calls", "input", "cache_write", "cache_read", "output")


class Truth:
    """What was written, and so what an index of the corpus must agree with."""

    def __init__(self) -> None:
        self.files = self.lines = self.bytes = self.tool_uses = self.compactions = 0
        self.damaged = self.copied = 0
        self.longest = 0
        self.kinds: dict[str, list[int]] = {}
        self.models: dict[str, list[int]] = {}
        self.original_bytes = self.result_bytes = self.prose_bytes = 0

    def count(self, kind: str, size: int) -> None:
        self.lines += kind != "torn"  # what is torn has no end of its own
        self.bytes += size
        self.longest = max(self.longest, size)
        counted = self.kinds.setdefault(kind, [0, 0])
        counted[0] += 1
        counted[1] += size

    def bill(self, model: str, fresh: int, write: int, read: int, output: int) -> None:
        counted = self.models.setdefault(model, [0] * len(FIELDS))
        for place, number in enumerate((1, fresh, write, read, output)):
            counted[place] += number

    def manifest(self) -> Json:
        """As written beside the corpus; totals take each request once, with the usage of its last line."""
        models = {model: dict(zip(FIELDS, counted, strict=True)) for model, counted in sorted(self.models.items())}
        parts = {
            "originalFile": self.original_bytes,
            "tool_result": self.result_bytes,
            "prose": self.prose_bytes,
        }
        return {
            "files": self.files,
            "lines": self.lines,
            "bytes": self.bytes,
            "longest_line": self.longest,
            "calls": sum(counted[0] for counted in self.models.values()),
            "tool_uses": self.tool_uses,
            "compactions": self.compactions,
            "damaged_lines": self.damaged,
            "copied_lines": self.copied,
            "models": models,
            "kinds": {kind: {"lines": n, "bytes": size} for kind, (n, size) in sorted(self.kinds.items())},
            "parts": parts,
        }


class Thread:
    """One transcript in the making. `old`: of a version that logged progress; `agent`: a subagent's id."""

    def __init__(self, maker: "Maker", session: str, cwd: str, start_ms: int, *, old: bool, agent: str = "") -> None:
        self.maker, self.session, self.cwd, self.now = maker, session, cwd, start_ms
        self.old, self.agent = old, agent
        chance = maker.chance
        self.chance, self.pools, self.truth = chance, maker.pools, maker.truth
        self.model = chance.choices(OLD if old else NEW, (5, 3, 2))[0]
        self.limit = 967_000 if self.model == "claude-sonnet-5" else 167_000
        self.context = chance.randint(14_000, 32_000)
        self.cached = 0
        self.parent: str | None = None
        self.paths = [f"{cwd}/{path}" for path in chance.choices(self.pools.paths, k=25)]
        self.lines: list[bytes] = []
        self.size = 0
        self.turns: list[int] = []  # numbers of lines at which a turn was over
        self.told: list[Json] = []  # of a subagent: the messages that its parent logs as progress
        envelope: Json = {
            "isSidechain": bool(agent),
            "userType": "external",
            "cwd": cwd,
            "sessionId": session,
        }
        envelope |= {"version": f"2.1.{chance.randint(11, 62) if old else chance.randint(111, 240)}"}
        envelope |= {"gitBranch": "main", "slug": "calm-steady-river"}
        if agent:
            envelope["agentId"] = agent
        self.envelope = envelope

    # ids, times, text

    def uuid(self) -> str:
        digits = f"{self.chance.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def id(self, prefix: str) -> str:
        return f"{prefix}_01{self.chance.getrandbits(88):022x}"

    def stamp(self, most: int = 6_000) -> str:
        self.now += self.chance.randrange(20, most)
        seconds, ms = divmod(self.now, 1_000)
        return f"{self.maker.second(seconds)}.{ms:03d}Z"

    def code(self, size: int) -> str:
        return cut(self.pools.code, self.chance, size)

    def prose(self, size: int) -> str:
        self.truth.prose_bytes += size
        return cut(self.pools.prose, self.chance, size)

    def about(self, mean: float, most: int = 60_000) -> int:
        """A size with that mean, long-tailed."""
        wide = 1.35 if self.agent else 0.75
        return min(most, 20 + int(self.chance.expovariate(1.0) ** 1.5 * mean * wide))

    # lines

    def put(self, kind: str, data: bytes) -> None:
        self.lines.append(data)
        self.size += len(data)
        self.truth.count(kind, len(data))

    def record(self, kind: str, record: Json) -> None:
        """A record with its envelope; `kind` is what it is counted as."""
        uuid = self.uuid()
        whole = {
            "parentUuid": self.parent,
            **self.envelope,
            **record,
            "uuid": uuid,
            "timestamp": self.stamp(),
        }
        self.put(kind, dumps(whole) + b"\n")
        self.parent = uuid

    def meta(self, kind: str, record: Json) -> None:
        self.put(kind, dumps({**record, "sessionId": self.session}) + b"\n")

    def prompt(self) -> None:
        text = self.prose(self.about(260))
        if self.chance.random() < 0.002:
            text += "\ud83d"
        content: Any = text
        if not self.agent and self.chance.random() < 0.012:
            data = cut(self.pools.base64, self.chance, self.about(90_000, 900_000))
            picture = {"type": "base64", "media_type": "image/png", "data": data}
            content = [{"type": "text", "text": text}, {"type": "image", "source": picture}]
        message = {"role": "user", "content": content}
        self.told.append({"type": "user", "message": message})
        record = {"type": "user", "message": message, "permissionMode": "default"}
        if text.endswith("\ud83d"):
            self.half_emoji(record)
        else:
            self.record("user", record)
        self.context += len(text) // 4

    def half_emoji(self, record: Json) -> None:
        """A lone surrogate, which only the standard library writes: as its escape."""
        self.truth.damaged += 1
        uuid = self.uuid()
        whole = {
            "parentUuid": self.parent,
            **self.envelope,
            **record,
            "uuid": uuid,
            "timestamp": self.stamp(),
        }
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        self.put("user", text.encode("utf-8", "backslashreplace") + b"\n")
        self.parent = uuid
        self.told.pop()

    def call(self) -> bool:
        """One API response, a line a block, and the results of its tools. False if it ended the turn."""
        chance = self.chance
        blocks: list[Json] = []
        if chance.random() < 0.44:
            text = self.prose(self.about(160)) if self.old and chance.random() < 0.3 else ""
            signature = cut(self.pools.base64, chance, self.about(1_350))
            blocks.append({"type": "thinking", "thinking": text, "signature": signature})
        if chance.random() < 0.46:
            blocks.append({"type": "text", "text": self.prose(self.about(280))})
        uses = []
        for _ in range(chance.choices((0, 1, 2, 3), (9, 80, 8, 3))[0]):
            uses.append(self.tool())
            blocks.append({"type": "tool_use", "id": self.id("toolu"), "name": uses[-1][0], "input": uses[-1][1]})
        if not blocks:
            blocks.append({"type": "text", "text": self.prose(200)})
        self.bill(blocks, bool(uses))
        for use, (name, _, result, kept) in zip(blocks[-len(uses) :] if uses else [], uses, strict=True):
            self.result(use, name, result, kept)
        return bool(uses)

    def bill(self, blocks: list[Json], goes_on: bool) -> None:
        """The lines of a response: ids and usage on each, the true output on the last."""
        request, message = self.id("req"), self.id("msg")
        output = 40 + 90 * len(blocks) + self.chance.randrange(1_400)
        if self.chance.random() < 0.03:
            self.cached = 0
        fresh, read = 3, self.cached
        write = max(0, self.context - read)
        self.cached = read + write
        hour = 0 if self.agent else write
        usage: Json = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": write,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": write - hour, "ephemeral_1h_input_tokens": hour},
            "output_tokens": output,
            "service_tier": "standard",
            "inference_geo": "not_available",
        }
        started = {**usage, "output_tokens": self.chance.randint(1, 8)}
        for place, block in enumerate(blocks, 1):
            last = place == len(blocks)
            body: Json = {"model": self.model, "id": message, "type": "message", "role": "assistant"}
            ending = "tool_use" if goes_on else "end_turn"
            body |= {"content": [block], "stop_reason": ending if last else None, "stop_sequence": None}
            body["usage"] = usage if last else started
            self.record("assistant", {"message": body, "requestId": request, "type": "assistant"})
            self.told.append({"type": "assistant", "message": body, "requestId": request})
        self.truth.bill(self.model, fresh, write, read, output)
        self.context += output

    def tool(self) -> tuple[str, Json, str, Any]:
        """A tool's name, input, result as the model saw it, and the program's own copy."""
        name = self.chance.choices(TOOLS, cum_weights=TOOL_WEIGHTS)[0]
        path = self.chance.choice(self.paths)
        self.truth.tool_uses += 1
        return MADE[name](self, path) if name in MADE else small_tool(self, name)

    def result(self, use: Json, name: str, result: str, kept: Any) -> None:
        hooks = self.chance.choices((0, 1, 2, 3), (2, 7, 70, 21))[0] if self.old and not self.agent else 0
        for number in range(hooks):
            event = "PostToolUse" if number else "PreToolUse"
            data = {"type": "hook_progress", "hookEvent": event, "hookName": f"{event}:{name}"}
            self.progress("hook_progress", {**data, "command": "callback"}, use["id"])
        if name == "Bash" and self.old and self.chance.random() < 0.44:
            output = kept["stdout"][:700]
            for second in range(2, 3 + self.chance.randrange(8)):
                data = {
                    "type": "bash_progress",
                    "output": output[:200],
                    "fullOutput": output,
                    "totalLines": 9,
                }
                self.progress("bash_progress", {**data, "elapsedTimeSeconds": second}, use["id"])
        block = {"tool_use_id": use["id"], "type": "tool_result", "content": result}
        if self.chance.random() < 0.04:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        self.truth.result_bytes += len(result)
        self.told.append({"type": "user", "message": message, "toolUseResult": kept})
        answered = {"toolUseResult": kept, "sourceToolAssistantUUID": self.parent}
        self.record("user", {"type": "user", "message": message, **answered})
        if self.chance.random() < 0.0004:
            self.tear()
        self.context += len(result) // 4
        if not self.old and self.chance.random() < 0.8:
            self.attachment(use["id"], name)

    def tear(self) -> None:
        """The last line again, cut in the middle and with the next record glued to it."""
        self.truth.damaged += 1
        self.put("torn", self.lines[-1][: len(self.lines[-1]) // 2])

    def progress(self, kind: str, data: Json, tool: str) -> None:
        self.record(kind, {"type": "progress", "data": data, "parentToolUseID": tool, "toolUseID": tool})

    def attachment(self, tool: str, name: str) -> None:
        chance = self.chance.random()
        attachment: Json
        if chance < 0.8:
            attachment = {
                "type": "hook_success",
                "hookName": f"PostToolUse:{name}",
                "hookEvent": "PostToolUse",
                "content": "",
                "stdout": self.code(self.about(120)),
                "stderr": "",
                "exitCode": 0,
                "durationMs": 31,
                "toolUseID": tool,
                "command": "make format",
            }
        elif chance < 0.9:
            attachment = {
                "type": "hook_additional_context",
                "content": [self.code(700)],
                "hookName": "PreToolUse",
                "toolUseID": tool,
                "hookEvent": "PreToolUse",
            }
        elif chance < 0.95:
            tasks = [{"id": str(n), "subject": "check the result", "status": "pending"} for n in range(6)]
            attachment = {"type": "task_reminder", "content": tasks, "itemCount": 6}
        else:
            text, path = self.code(self.about(5_000)), self.paths[0]
            file = {"filePath": path, "content": text, "numLines": 9, "startLine": 1, "totalLines": 9}
            content = {"type": "text", "file": file}
            attachment = {"type": "file", "filename": path, "content": content, "displayPath": path}
        self.record("attachment", {"type": "attachment", "attachment": attachment})

    def delegate(self, target: int) -> None:
        """A subagent, mostly with a transcript of its own; the older generation logs it as progress too."""
        chance = self.chance
        agent = f"a{chance.getrandbits(64):016x}"
        thread = Thread(self.maker, self.session, self.cwd, self.now, old=self.old, agent=agent)
        has_file = self.maker.subagents and (not self.old or chance.random() < 0.8)
        if not has_file:  # billed all the same, and all of it stands in the progress
            thread.truth = Truth()
            thread.truth.models = self.truth.models
            target = min(target, 60_000)
        thread.run(target)
        if not has_file:
            self.truth.tool_uses += thread.truth.tool_uses
        self.now = max(self.now, thread.now)
        ask = {"description": "look around", "prompt": self.prose(600), "subagent_type": "general-purpose"}
        use = {"type": "tool_use", "id": self.id("toolu"), "name": "Agent", "input": ask}
        self.truth.tool_uses += 1
        self.bill([use], goes_on=True)
        if self.old:
            for nested in thread.told[: 90 if has_file else None]:
                if has_file and nested["type"] == "assistant" and chance.random() < 0.35:
                    continue
                message = {**nested, "uuid": self.uuid(), "timestamp": self.stamp(400)}
                again = [message] if chance.random() < 0.85 else []
                data = {
                    "message": message,
                    "normalizedMessages": again,
                    "type": "agent_progress",
                    "prompt": "",
                }
                self.progress("agent_progress", {**data, "agentId": agent}, use["id"])
        report = self.prose(900)
        kept = {
            "status": "completed",
            "prompt": ask["prompt"],
            "agentId": agent,
            "totalDurationMs": 90_000,
            "content": [{"type": "text", "text": report}],
            "totalTokens": thread.context,
            "totalToolUseCount": 9,
        }
        self.result(use, "Agent", report, kept)
        if has_file:
            kind = {"agentType": "general-purpose", "description": "look around"}
            self.maker.write(thread, {**kind, "toolUseId": use["id"]})

    def end_turn(self) -> None:
        """Bookkeeping after a turn."""
        chance = self.chance
        self.turns.append(len(self.lines))
        if self.agent:
            return
        for _ in range(chance.choices((0, 1, 2), (1, 6, 3))[0]):
            backups = {
                path: {"backupFileName": f"{n:016x}@v2", "version": 2, "backupTime": self.stamp()}
                for n, path in enumerate(self.paths[: chance.randrange(12)])
            }
            inner = {"messageId": self.parent, "trackedFileBackups": backups, "timestamp": self.stamp()}
            snapshot = {"type": "file-history-snapshot", "messageId": self.parent, "snapshot": inner}
            self.put("file-history-snapshot", dumps({**snapshot, "isSnapshotUpdate": False}) + b"\n")
        if chance.random() < 0.85:
            hooks = {"hookCount": 1, "hookInfos": [{"command": "make check"}], "hookErrors": []}
            rest = {
                "preventedContinuation": False,
                "stopReason": "",
                "hasOutput": False,
                "level": "suggestion",
            }
            summary = {"type": "system", "subtype": "stop_hook_summary", **hooks, **rest}
            self.record("system", {**summary, "toolUseID": self.id("toolu")})
        if chance.random() < 0.5:
            took = {"durationMs": 61_000, "isMeta": False}
            self.record("system", {"type": "system", "subtype": "turn_duration", **took})
        for operation in ("enqueue", "dequeue") if chance.random() < 0.22 else ():
            self.meta(
                "queue-operation",
                {
                    "type": "queue-operation",
                    "operation": operation,
                    "timestamp": self.stamp(),
                    "content": "and then the tests",
                },
            )
        if chance.random() < 0.65:
            self.meta(
                "metadata",
                {"type": "last-prompt", "lastPrompt": "and then the tests", "leafUuid": self.parent},
            )

    def compact(self) -> None:
        post = self.chance.randint(4_000, 16_000)
        metadata = {"trigger": "auto", "preTokens": self.context, "postTokens": post}
        tail, self.parent = self.parent, None
        boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
        rest = {"logicalParentUuid": tail, "isMeta": False, "level": "info", "compactMetadata": metadata}
        self.record("system", {**boundary, **rest})
        text = "This session is being continued. " + self.prose(9_000)
        message = {"role": "user", "content": text}
        marks = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        self.record("user", {"type": "user", "message": message, **marks})
        self.context, self.cached = post + 20_000, 15_000
        self.truth.compactions += 1

    def run(self, target: int) -> None:
        """Turns until the transcript has about `target` bytes."""
        chance = self.chance
        if not self.agent:
            self.meta("metadata", {"type": "custom-title", "customTitle": "Tidy the store"})
        while self.size < target:
            self.prompt()
            while self.call() and self.size < target:
                if self.context > self.limit:
                    self.compact()
                if not self.agent and chance.random() < 0.0175:
                    self.delegate(min(target, self.about(130_000, 900_000)))
            self.end_turn()


Made = tuple[str, Json, str, Any]


def bash(t: Thread, path: str) -> Made:
    """A run of the tests."""
    output = t.code(t.about(1_650, 30_000)) if t.chance.random() < 0.85 else ""
    given = {
        "command": f"pytest {path} -q 2>&1 | tail -40 && " + t.code(t.about(120)),
        "description": "Run the tests",
    }
    return "Bash", given, output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}


def read(t: Thread, path: str) -> Made:
    """A file, or some lines of one."""
    pools = t.pools
    first = t.chance.randrange(len(pools.code_starts) - 2_000)
    last = min(first + 1_500, bisect_left(pools.code_starts, pools.code_starts[first] + t.about(3_000)))
    text = pools.code[pools.code_starts[first] : pools.code_starts[last] - 1]
    shown = pools.shown[pools.shown_starts[first] : pools.shown_starts[last] - 1]
    given: Json = {"file_path": path}
    if t.chance.random() < 0.6:
        given |= {"offset": 1 + first % 900, "limit": 40 * (1 + t.chance.randrange(6))}
    file = {"filePath": path, "content": text, "numLines": last - first, "startLine": 1, "totalLines": 1_800}
    return "Read", given, shown, {"type": "text", "file": file}


def edit(t: Thread, path: str) -> Made:
    """A change, with the whole file before it."""
    old, new, whole = t.code(t.about(520)), t.code(t.about(720)), t.code(t.about(13_000, 120_000))
    t.truth.original_bytes += len(whole)
    lines = ["-" + line for line in old.split("\n")] + ["+" + line for line in new.split("\n")]
    patch = [{"oldStart": 3, "oldLines": 4, "newStart": 3, "newLines": 9, "lines": lines}]
    kept = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": whole,
        "structuredPatch": patch,
        "userModified": False,
        "replaceAll": False,
    }
    given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
    return "Edit", given, f"The file {path} has been updated:\n{new[:900]}", kept


def grep(t: Thread, path: str) -> Made:
    """A search with its hits."""
    found = cut(t.pools.listing, t.chance, t.about(1_500, 30_000))
    given = {"pattern": t.chance.choice(PARTS), "path": path, "output_mode": "content", "-n": True}
    return (
        "Grep",
        given,
        found,
        {"mode": "content", "numFiles": 0, "filenames": [], "content": found, "numLines": 9},
    )


def write(t: Thread, path: str) -> Made:
    """A new file."""
    text = t.code(t.about(5_000))
    kept = {"type": "create", "filePath": path, "content": text, "structuredPatch": [], "originalFile": None}
    return "Write", {"file_path": path, "content": text}, f"File created successfully at: {path}", kept


def small_tool(t: Thread, name: str) -> Made:
    """Any other tool."""
    text = t.code(t.about(500))
    given = {"query": t.chance.choice(PARTS), "taskId": "4", "status": "completed"}
    return name, given, text, {"success": True, "text": text}


MADE: dict[str, Callable[[Thread, str], Made]] = {
    "Bash": bash,
    "Read": read,
    "Edit": edit,
    "Grep": grep,
    "Write": write,
}
