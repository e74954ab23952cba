"""Records made-up sessions as Claude Code would log them, with the usage that their contents add up to.

The recorder keeps the tokens that the window holds. A call reads what the call before left in the cache,
writes the rest, and adds its output; blocks add what such texts weigh (D9). So curves, peaks and cache shares
of a demo are those of a real session of that size, and estimates over its text come near its usage.
"""

import base64
import json
import random
import re
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]

NEWER_TOKENIZER = 1.38
AROUND_RESULT, AROUND_TEXT, AROUND_USE, A_KEY = 18, 3, 49, 5
_MARKS = re.compile(r"[0-9!-/:-@\[-`{-~]+")
LONGEST_EDGE = 1_568  # pixels; larger pictures are scaled down to it
SYSTEM_TOKENS = 27_500  # system prompt and core tool schemas: in the window, not in the transcript
SHARED_TOKENS = 15_200  # the part of them that another session has usually left in the cache
AUTO_COMPACT_BUFFER = 33_000


@dataclass(frozen=True)
class Tool:
    """A tool use and what came back: `content` is what the model saw, `kept` the program's own copy of it."""

    name: str
    input: Json
    content: str | list[Json]
    kept: Any
    is_error: bool = False


def tokens_of(content: str | list[Json], factor: float = NEWER_TOKENIZER, around: int = 0) -> int:
    """Tokens that a result or a prompt weighs, and what stands around it."""
    blocks: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [block.get("text") or block.get("tool_name") or "" for block in blocks]
    media = sum(_weigh_picture(block["source"]["data"]) for block in blocks if block["type"] == "image")
    return round(factor * (sum(map(_weigh, texts)) + around)) + media


def _weigh_picture(data: str) -> int:
    """A PNG in base64, by the size that its header tells."""
    size: tuple[int, int] = struct.unpack(">II", base64.b64decode(data[:32])[16:24])
    scale = min(1, LONGEST_EDGE / max(size))
    return round(min(1600, size[0] * size[1] * scale * scale / 750)) + 35


def _weigh(text: str) -> float:
    soft = len("".join(text.split())) + 2 * (len(text.encode("utf-8", "replace")) - len(text))
    marks = len(_MARKS.findall(text)) + 2 * text.count("\n")
    return 0.207 * soft + 1.12 * marks


def _weigh_answer(block: Json) -> float:
    """A block of an answer; thinking weighs what it is said to."""
    if block["type"] == "thinking":
        return 0
    if block["type"] == "text":
        return _weigh(block["text"]) + AROUND_TEXT
    given = json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))
    return _weigh(given) + AROUND_USE + A_KEY * len(block["input"])


class Recorder:
    """One thread being recorded: a main session, or a subagent of one (`agent` given)."""

    def __init__(
        self,
        session: str,
        *,
        cwd: Path,
        start: datetime,
        model: str,
        version: str,
        branch: str = "main",
        limit: int = 200_000,
        fixed: int = SYSTEM_TOKENS,
        agent: str | None = None,
    ) -> None:
        self.session, self.cwd, self.version, self.branch, self.agent = session, cwd, version, branch, agent
        self.model, self.limit, self.fixed = model, limit, fixed
        self.factor = 1.0 if "-4-5" in model else NEWER_TOKENIZER
        self.start = self.now = start
        self.chance = random.Random(f"{session}/{agent}")
        self.texture = random.Random(f"{session}/{agent}/texture")  # no text weighs just what its characters tell
        self.files: dict[str, str] = {}
        self.lines: list[bytes] = []
        self.parent: str | None = None
        self.prompt_id = ""
        self.held = fixed  # tokens the next call will send
        self.cached = SHARED_TOKENS  # tokens of them that the cache still has
        self.last_call = start
        self.held_at: dict[str, int] = {}  # tokens held when a response was over, by its uuid
        self.dropped = 0
        self.used: list[str] = []  # ids of the last response's tool uses
        self.recent: list[tuple[str, int]] = []  # (uuid, tokens) of the records since the last prompt

    # records

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def new_uuid(self) -> str:
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def new_id(self, prefix: str) -> str:
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
        return f"{prefix}_01" + "".join(self.chance.choices(letters, k=22))

    def stamp(self) -> str:
        self.wait(0.2 + self.chance.random())
        return self.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"

    def put(self, record: Json) -> None:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        self.lines.append(text.encode("utf-8", "replace") + b"\n")

    def record(self, type: str, *, adds: int = 0, **fields: Any) -> str:
        """Log a record with its envelope; `adds` is what it puts into the window. Returns its uuid."""
        record: Json = {"parentUuid": self.parent, "isSidechain": self.agent is not None}
        if self.agent is not None:
            record["agentId"] = self.agent
        record |= {"type": type, **fields, "uuid": self.new_uuid(), "timestamp": self.stamp()}
        record |= {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self.cwd),
            "sessionId": self.session,
        }
        record |= {"version": self.version, "gitBranch": self.branch}
        self.put(record)
        self.parent = record["uuid"]
        self.held += adds
        self.recent.append((record["uuid"], adds))
        return str(record["uuid"])

    def meta(self, type: str, **fields: Any) -> None:
        """Log bookkeeping without an envelope: a title, the last prompt, …"""
        self.put({"type": type, **fields, "sessionId": self.session})

    def attach(self, kind: str, *, adds: int = 0, **fields: Any) -> str:
        return self.record("attachment", adds=adds, attachment={"type": kind, **fields})

    def prompt(self, text: str, *, images: Sequence[str] = (), back_to: str | None = None, **fields: Any) -> str:
        """What the person typed. `back_to` names the record that a rewind went back to."""
        if self.agent is None:
            self.wait(self.chance.uniform(20, 140))
        self.prompt_id = self.new_uuid()
        self.recent.clear()
        if back_to is not None:
            self.parent = back_to
            self.held = self.held_at[back_to]
        content: str | list[Json] = text
        if images:
            content = [{"type": "text", "text": text}, *(image(data) for data in images)]
        marks = {} if self.agent else {"permissionMode": "acceptEdits", "promptSource": "typed"}
        message = {"role": "user", "content": content}
        adds = tokens_of(content, self.factor)
        return self.record("user", adds=adds, message=message, promptId=self.prompt_id, **marks, **fields)

    # calls

    def say(self, text: str, *, thinking: int = 0) -> str:
        """A response that ends the turn."""
        return self.use(text=text, thinking=thinking)

    def use(self, *tools: Tool, text: str = "", thinking: int = 0) -> str:
        """One API response (thinking, text, tool uses; a line each) and the results of its tools."""
        blocks: list[Json] = []
        if thinking:
            signature = "".join(self.chance.choices("ABCDEFGHabcdefgh0123456789+/", k=120)) + "=="
            blocks.append({"type": "thinking", "thinking": "", "signature": signature})
        if text:
            blocks.append({"type": "text", "text": text})
        uses: list[Json] = [
            {"type": "tool_use", "id": self.new_id("toolu"), "name": t.name, "input": t.input} for t in tools
        ]
        blocks += uses
        self.used = [use["id"] for use in uses]
        usage, output = self._bill(blocks, thinking)
        request, message = self.new_id("req"), self.new_id("msg")
        for place, block in enumerate(blocks, 1):
            last = place == len(blocks)
            body: Json = {
                "model": self.model,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [block],
            }
            body |= {
                "stop_reason": ("tool_use" if tools else "end_turn") if last else None,
                "stop_sequence": None,
            }
            self.record("assistant", message={**body, "usage": usage}, requestId=request)
        self.held += output
        answer = self.parent or ""
        self.recent[-1] = (answer, output)
        self.held_at[answer] = self.held
        for use, tool in zip(uses, tools, strict=True):
            self.wait(self.chance.uniform(0.1, 4))
            self._result(use["id"], tool, answer)
        return answer

    def _bill(self, blocks: list[Json], thinking: int) -> tuple[Json, int]:
        """The usage of the next call and its output tokens; the cache holds its input side afterwards."""
        lifetime = timedelta(minutes=5 if self.agent else 60)
        output = round(self._factor() * sum(map(_weigh_answer, blocks))) + thinking
        self.wait(1.5 + output / 70)
        fresh = 3
        read = min(self.cached, self.held - fresh) if self.now - self.last_call < lifetime else 0
        write = self.held - fresh - read
        self.cached, self.last_call = self.held - fresh, self.now
        hour = 0 if self.agent else write
        usage: Json = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": write,
            "cache_read_input_tokens": read,
            "output_tokens": output,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": write - hour},
            "speed": "standard",
        }
        if thinking:
            usage["output_tokens_details"] = {"thinking_tokens": thinking}
        return usage, output

    def _result(self, use_id: str, tool: Tool, answer: str) -> None:
        block: Json = {"tool_use_id": use_id, "type": "tool_result", "content": tool.content}
        if tool.is_error:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        links = {"toolUseResult": tool.kept, "sourceToolAssistantUUID": answer}
        adds = tokens_of(tool.content, self._factor(), AROUND_RESULT)
        self.record("user", adds=adds, message=message, promptId=self.prompt_id, **links)

    def _factor(self) -> float:
        return self.factor * self.texture.uniform(0.95, 1.06)

    # what happens to the window

    @property
    def trigger(self) -> int:
        """Tokens at which the program compacts by itself."""
        return self.limit - AUTO_COMPACT_BUFFER

    def compact(self, summary: str, *, trigger: str = "auto", focus: str = "", keep: int = 5) -> None:
        """Compact: a boundary, a summary, and the last `keep` records kept word for word."""
        kept = self.recent[-keep:]
        post = tokens_of(summary, self.factor) + sum(tokens for _, tokens in kept)
        before, anchor, tail = self.held, self.new_uuid(), self.parent
        self.dropped += before - self.fixed - post
        self.wait(74)
        ids = [kept_uuid for kept_uuid, _ in kept]
        metadata: Json = {"trigger": trigger, "preTokens": before, "durationMs": 74_310}
        if focus:
            metadata["userContext"] = focus
        metadata |= {
            "preservedSegment": {"headUuid": ids[0], "anchorUuid": anchor, "tailUuid": ids[-1]},
            "preservedMessages": {"anchorUuid": anchor, "uuids": ids, "allUuids": ids},
            "postTokens": post,
            "cumulativeDroppedTokens": self.dropped,
        }
        self.parent = None
        self.record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=tail,
            isMeta=False,
            level="info",
            compactMetadata=metadata,
        )
        self._summary(summary, anchor)
        self.held = self.fixed + post
        self.cached = min(self.cached, SHARED_TOKENS)

    def _summary(self, text: str, anchor: str) -> None:
        """The summary under the uuid that the boundary announced."""
        message = {"role": "user", "content": text}
        made = self.record("user", message=message, isVisibleInTranscriptOnly=True, isCompactSummary=True)
        self.lines[-1] = self.lines[-1].replace(made.encode(), anchor.encode())
        self.parent = anchor
        self.recent = [(anchor, 0)]

    def copy_of(self, source: "Recorder", records: int) -> None:
        """Begin with another session's first records, as a fork does; they keep their uuids and ids."""
        for line in source.lines[:records]:
            record = json.loads(line)
            if "uuid" in record:
                record |= {"sessionId": self.session}
                record["forkedFrom"] = {"sessionId": source.session, "messageUuid": record["uuid"]}
                self.parent = record["uuid"]
                counts = (record.get("message") or {}).get("usage") if record["type"] == "assistant" else None
                if counts:
                    sides = (
                        "input_tokens",
                        "cache_read_input_tokens",
                        "cache_creation_input_tokens",
                        "output_tokens",
                    )
                    self.held = sum(counts[side] for side in sides)
            else:
                record["sessionId"] = self.session
            self.put(record)


def image(data: str) -> Json:
    """An image block of base64 PNG data."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
