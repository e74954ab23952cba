"""A left fold over the records of one transcript: gives every record its thread, branch, epoch and message number, and
turns it into rows (D1, D7, D8, D10). It can stop at any record and go on later: numbers, once given, stay."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from crusts_index.transcript import categories
from crusts_index.transcript.attachments import read_attachment
from crusts_index.transcript.content import (
    clip,
    document_tokens,
    measure_result,
    measure_use,
    preview,
    raw_text,
)
from crusts_index.transcript.past import NoPast, Past, Place, Uuid
from crusts_index.transcript.responses import Response
from crusts_index.transcript.rows import Batch, record_id, thread_id
from crusts_index.transcript.shapes import Block, Message, Progress, Raw, Record
from crusts_index.transcript.state import State, ThreadState
from crusts_index.transcript.times import milliseconds
from crusts_index.transcript.tokens import IMAGE_TOKENS, spread, text_tokens
from crusts_index.transcript.tools import ToolUse, outcome

SYNTHETIC = "<synthetic>"
TIMED = frozenset("user assistant system attachment progress".split())

# Bookkeeping records of which the last one wins, and the field that says it; None = the whole record.
LAST_WINS = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "summary": "summary",
    "last-prompt": "lastPrompt",
    "agent-name": "agentName",
    "agent-setting": "agentSetting",
    "tag": "tag",
    "mode": "mode",
    "permission-mode": "permissionMode",
    "relocated": "relocatedCwd",
    "pr-link": None,
    "cost-state": None,
    "worktree-state": None,
}
_TEXTS_OF_THE_USER = frozenset("custom-title ai-title summary last-prompt agent-name tag".split())

_decode_progress = msgspec.json.Decoder(Progress).decode


def uuid_key(text: str | None) -> Uuid | None:
    """16 bytes for a well-formed uuid, the text itself for anything else, None for none."""
    if not text:
        return None
    if len(text) == 36 and text[8] == text[13] == text[18] == text[23] == "-":
        try:
            key = bytes.fromhex(text.replace("-", ""))
        except ValueError:
            return text
        if len(key) == 16:
            return key
    return text


class Fold:
    """The fold over one transcript."""

    def __init__(
        self,
        transcript_id: int,
        kind: str,
        past: Past | None = None,
        state: State | None = None,
        keep_text: bool = True,
    ) -> None:
        self._transcript_id, self._keep_text = transcript_id, keep_text
        self._past: Past = past or NoPast()
        self._is_fresh = past is None
        self._is_agent_file = kind == "subagent"
        self.state = state or State(threads=[])
        self.batch = Batch()
        if not self.state.threads:
            self._open_thread(kind, None, None)
        self._at: dict[Uuid, Place] = {}
        self._places: dict[Place, Place] = {}
        self._openers: set[tuple[int, Uuid | None]] = set()
        self._responses: dict[tuple[int, str], list[Response]] = {}
        self._asked: set[tuple[int, str]] = set()
        self._tools: dict[str, ToolUse] = {}
        self._reads: dict[tuple[int, str, object, object], int | None] = {}
        self._edits: dict[tuple[int, str], int | None] = {}
        self._use_places: dict[int, Place] = {}
        self._touched: dict[int, Response] = {}
        self._changed_tools: dict[int, ToolUse] = {}

    # ------------------------------------------------------------------ taking records

    def add(self, offset: int, length: int, record: Record, line: bytes) -> None:
        """Take the next record; `line` holds its bytes."""
        rid = record_id(self._transcript_id, offset)
        kind = record.type
        time_ms = self._time(offset, length, record)
        self._note(record, time_ms)
        key = uuid_key(record.uuid)
        if key is not None and self._is_duplicate(key):
            self._write_duplicate(rid, length, record, key, time_ms)
            return
        parent = uuid_key(record.parent_uuid or record.logical_parent_uuid or record.leaf_uuid)
        step = _Step(rid, offset, length, record, line, time_ms, key, parent)
        self._locate(step)
        if kind == "assistant":
            self._assistant(step)
        elif kind == "user":
            self._user(step)
        elif kind == "progress":
            self._progress(step)
        elif kind == "attachment":
            self._attachment(step)
        elif kind == "system":
            self._system(step)
        elif kind in LAST_WINS:
            self._bookkeeping(step)
        elif kind == "content-replacement":
            self._replacement(step)
        self._write(step)

    def problem(self, offset: int, length: int, reason: str) -> None:
        """Note damage at an offset."""
        self.batch.rows["problems"].append((self._transcript_id, offset, reason, length))

    def take(self) -> Batch:
        """The rows since the last take; the fold goes on empty."""
        batch = self.batch
        for response in self._touched.values():
            if response.is_continued:
                batch.continued.append(response.id)
            else:
                self._spread(response)
            batch.rows["responses"].append(response.row())
            # Lines still to come find the earlier ones in the store.
            response.is_continued, response.parts = True, []
        batch.rows["tool_uses"] += [use.row() for use in self._changed_tools.values()]
        self._touched, self._changed_tools = {}, {}
        self.batch = Batch()
        return batch

    @staticmethod
    def _spread(response: Response) -> None:
        if not response.has_usage or not response.parts:
            return
        facts = [(int(str(part[5])), part[2] == "thinking", part[4] == 0) for part in response.parts]
        shares = spread(response.output_tokens, response.thinking_tokens, facts)
        for part, (tokens, is_exact) in zip(response.parts, shares, strict=True):
            part[6], part[7] = tokens, int(is_exact)

    # ------------------------------------------------------------------ where a record stands

    def _time(self, offset: int, length: int, record: Record) -> int | None:
        time_ms = milliseconds(record.timestamp)
        if time_ms is None:
            if record.type not in TIMED:
                return None
            self.problem(offset, length, "no valid timestamp")
            return self.state.time_ms
        self.state.time_ms = time_ms
        about = self.state.about
        if about.first_ms is None:
            about.first_ms = time_ms
        if about.last_ms is None or time_ms > about.last_ms:
            about.last_ms = time_ms
        return time_ms

    def _note(self, record: Record, time_ms: int | None) -> None:
        state, about = self.state, self.state.about
        self.batch.records += 1
        about.records += 1
        if record.session_id:
            state.sessions[record.session_id] = state.sessions.get(record.session_id, 0) + 1
        if record.cwd:
            about.last_cwd = record.cwd
            if about.first_cwd is None:
                about.first_cwd = record.cwd
        if record.version:
            about.last_version = record.version
            if about.version is None:
                about.version = record.version
        if record.git_branch:
            about.git_branch = record.git_branch
        if record.entrypoint:
            about.entrypoint = record.entrypoint
        if record.agent_id and self._is_agent_file:
            about.agent_id = record.agent_id

    def _is_duplicate(self, key: Uuid) -> bool:
        return isinstance(key, bytes) and self._place_of(key) is not None

    def _place_of(self, key: Uuid | None) -> Place | None:
        if key is None:
            return None
        found = self._at.get(key)
        if found is None and not self._is_fresh:
            found = self._past.place(key)
            if found is not None:
                self._at[key] = found
        return found

    def _locate(self, step: _Step) -> None:
        """Thread, branch and epoch by the parent's; without a known parent, by the record before it (D10)."""
        above = self._place_of(step.parent)
        number = self._thread_of(step.record, above)
        thread = self.state.threads[number]
        step.number, step.thread = number, thread
        if above is not None and above.thread == number:
            thread.is_chained = True
            step.branch, step.epoch = above.branch, above.epoch
        else:
            step.branch, step.epoch = thread.branch, thread.epoch

    def _thread_of(self, record: Record, above: Place | None) -> int:
        if self._is_agent_file or not record.is_sidechain:
            return 0
        if record.agent_id:
            number = self._agent_thread("sidechain", record.agent_id, None)
        elif above is not None and self.state.threads[above.thread].kind == "sidechain":
            number = above.thread
        elif record.parent_uuid and above is None and self.state.sidechain is not None:
            number = self.state.sidechain
        else:
            number = self._open_thread("sidechain", None, None)
        self.state.sidechain = number
        return number

    def _agent_thread(self, kind: str, agent_id: str, parent_tool_use_id: str | None) -> int:
        name = f"{kind}:{agent_id}"
        number = self.state.agents.get(name)
        if number is None:
            number = self.state.agents[name] = self._open_thread(kind, agent_id, parent_tool_use_id)
        return number

    def _open_thread(self, kind: str, agent_id: str | None, parent_tool_use_id: str | None) -> int:
        number = len(self.state.threads)
        self.state.threads.append(ThreadState(kind))
        tid = thread_id(self._transcript_id, number)
        self.batch.rows["threads"].append((tid, self._transcript_id, kind, agent_id, parent_tool_use_id))
        return number

    def _open_branch(self, step: _Step) -> None:
        """A prompt or boundary whose parent already has one opens a new branch (D10)."""
        step.opens = 1
        thread = self.state.threads[step.number]
        if step.parent is None and (step.key is None or not thread.is_chained):
            self._openers.add((step.number, None))
            return
        opener = (step.number, step.parent)
        if opener in self._openers or (not self._is_fresh and self._past.has_opener(step.parent, step.number)):
            thread.branches += 1
            tid = thread_id(self._transcript_id, step.number)
            fork = step.parent
            self.batch.rows["branches"].append((tid, thread.branches, step.branch, fork, step.rid))
            step.branch = thread.branches
            if fork is None:
                step.epoch = 0
        self._openers.add(opener)

    # ------------------------------------------------------------------ the kinds of records

    def _assistant(self, step: _Step) -> None:
        message = step.record.message
        if message is None or SYNTHETIC in (message.model, step.record.model):
            return
        response = self._response(step, message, step.record.request_id, step.number, is_nested=False)
        step.response, step.message = response.id, response.message
        step.branch, step.epoch, step.ordinal = response.branch, response.epoch, response.ordinal
        parts = response.parts
        content = message.content
        if isinstance(content, str):
            content = [Block(type="text", text=content)]
        for place, block in enumerate(content or ()):
            if isinstance(block, str):
                block = Block(type="text", text=block)
            row = self._assistant_block(step, place, block)
            if row is not None:
                parts.append(row)
                self.batch.rows["blocks"].append(row)  # type: ignore[arg-type]
        for place, uuid in enumerate(step.record.supersedes_uuids or ()):
            self._remove(step.rid, place, "superseded", None, uuid_key(uuid), None)

    def _assistant_block(self, step: _Step, place: int, block: Block) -> list[object] | None:
        kind = block.type
        bid = step.rid + place
        if kind == "text":
            text = block.text or ""
            self._keep(bid, clip(text))
            return [bid, step.rid, kind, categories.CONVERSATION, len(text), *_twice(text_tokens(text)), 0, None]
        if kind in ("thinking", "redacted_thinking"):
            text = block.thinking or ""
            self._keep(bid, preview(text))
            estimate = text_tokens(text) if text else 0
            return [bid, step.rid, "thinking", categories.CONVERSATION, len(text), *_twice(estimate), 0, None]
        if kind in ("tool_use", "server_tool_use"):
            use = self._use(step.rid, bid, step.number, block, step.time_ms, step.record, is_nested=False)
            where = Place(step.number, step.branch, step.epoch)
            self._use_places[use.id] = self._places.setdefault(where, where)
            chars, estimate = measure_use(block)
            if use.path is None and use.command is None:
                self._keep(bid, preview(raw_text(block.input)))
            category = categories.of_tool_use(block.name)
            return [bid, step.rid, "tool_use", category, chars, *_twice(estimate), 0, use.id]
        return None

    def _user(self, step: _Step) -> None:
        record, message = step.record, step.record.message
        if message is None:
            return
        content = message.content
        blocks = [Block(type="text", text=content)] if isinstance(content, str) else list(content or ())
        if record.is_compact_summary:
            step.is_summary = 1
        elif record.is_visible_in_transcript_only:
            return
        texts = [block if isinstance(block, str) else block.text or "" for block in blocks if _is_text(block)]
        has_result = any(isinstance(block, Block) and block.type == "tool_result" for block in blocks)
        category = self._judge(step, texts, has_result)
        outcomes = outcome(record.tool_use_result) if has_result else None
        counted = False
        for place, block in enumerate(blocks):
            if isinstance(block, str):
                block = Block(type="text", text=block)
            if block.type == "tool_result":
                counted = self._result(step, place, block, outcomes) or counted
                outcomes = None
            else:
                counted = self._user_block(step, place, block, category) or counted
        if counted:
            self._number(step)

    def _judge(self, step: _Step, texts: list[str], has_result: bool) -> str:
        """The category of a user record's own texts; marks prompts and says why others are none (D8)."""
        record = step.record
        if step.is_summary:
            step.origin = "summary"
            return categories.SYSTEM
        wrapped = [categories.wrapper(text) for text in texts if text.strip()]
        own = [found for found in wrapped if found is None]
        first = next((found for found in wrapped if found is not None), None)
        kind = record.origin.kind if record.origin else None
        if record.is_meta:
            if record.source_tool_use_id:
                step.origin = "skill"
                return categories.STATE
            step.origin = first[0] if first else "meta"
            return first[1] if first and first[0] == "notification" else categories.SYSTEM
        if kind not in (None, "human"):
            step.origin = kind
            return categories.STATE if kind == "task-notification" else categories.CONVERSATION
        if first is not None and (not own or first[0] not in ("ide", "reminder", "caveat")):
            step.origin = first[0]
            return first[1]
        if own and not has_result:
            step.is_prompt = 1
            self._open_branch(step)
        return categories.CONVERSATION

    def _user_block(self, step: _Step, place: int, block: Block, category: str) -> bool:
        bid = step.rid + place
        rows = self.batch.rows["blocks"]
        if block.type == "text":
            text = block.text or ""
            if not text:
                return False
            if step.is_prompt and (found := categories.wrapper(text)):
                category = found[1]
            self._keep(bid, clip(text) if step.is_prompt or step.is_summary else preview(text))
            rows.append((bid, step.rid, "text", category, len(text), *_twice(text_tokens(text)), 0, None))
            head = text[:400]
            if "## Context Usage" in head and head.lstrip().startswith(("## Context Usage", "<local-command-stdout>")):
                version = step.record.version or self.state.about.last_version
                self.batch.rows["context_outputs"].append((step.rid, step.time_ms, version, text[:LONGEST_CONTEXT]))
            return True
        if block.type == "image":
            rows.append((bid, step.rid, "image", category, 0, *_twice(IMAGE_TOKENS), 0, None))
            return True
        if block.type == "document":
            rows.append((bid, step.rid, "document", category, 0, *_twice(document_tokens(block.source)), 0, None))
            return True
        return False

    def _result(self, step: _Step, place: int, block: Block, outcomes: Any) -> bool:
        bid = step.rid + place
        use = self._find_use(block.tool_use_id)
        if use is None:
            use = ToolUse(bid, self._transcript_id, thread_id(self._transcript_id, step.number), block.tool_use_id)
            use.is_copied = int(step.record.forked_from is not None)
            if block.tool_use_id:
                self._tools[block.tool_use_id] = use
        elif use.use_record_id is not None:
            self._follow(step, use)
        result = measure_result(block.content)
        use.end(result.texts, result.chars, result.size_tokens, bool(block.is_error), step.rid, step.time_ms)
        if outcomes is not None:
            if use.name in categories.AGENT_TOOLS and outcomes.agent_id:
                use.agent_id = outcomes.agent_id
            if use.name == "ToolSearch" or result.loaded:
                names = dict.fromkeys([*result.loaded, *(outcomes.matches or ())])
                self.batch.rows["tool_loads"] += [(step.rid, name) for name in names]
        self._changed_tools[use.id] = use
        if result.texts:
            self._keep(bid, preview(result.texts[0]))
        category = categories.of_tool_result(use.name)
        self.batch.rows["blocks"].append(
            (bid, step.rid, "tool_result", category, result.chars, *_twice(result.estimate), 0, use.id)
        )
        return True

    def _follow(self, step: _Step, use: ToolUse) -> None:
        """A result takes the branch of its call (D10)."""
        if use.use_record_id is None or use.thread_id != thread_id(self._transcript_id, step.number):
            return
        if self._place_of(step.parent) is not None:
            return
        place = self._use_places.get(use.id) or self._past.place_at(use.use_record_id)
        if place is not None:
            step.branch, step.epoch = place.branch, place.epoch

    def _attachment(self, step: _Step) -> None:
        facts = read_attachment(step.record.attachment, step.record.rendered)
        if facts is None:
            return
        step.subtype = facts.type
        added = _names(facts.added)
        row = (step.rid, facts.type, facts.name, facts.event, added, _names(facts.removed))
        self.batch.rows["attachments"].append(row)
        if not facts.text and not facts.estimate:
            return
        category = categories.of_attachment(facts.type)
        if facts.is_prompt:
            step.is_prompt, category = 1, categories.CONVERSATION
            self._open_branch(step)
        elif facts.type == "queued_command":
            category = categories.STATE
        self._keep(step.rid, clip(facts.text) if facts.is_prompt else preview(facts.text))
        self.batch.rows["blocks"].append(
            (step.rid, step.rid, "attachment", category, len(facts.text), *_twice(facts.estimate), 0, None)
        )
        self._number(step)

    def _system(self, step: _Step) -> None:
        record = step.record
        if record.subtype == "compact_boundary":
            self._boundary(step)
        elif record.subtype == "microcompact_boundary":
            body = _object(record.microcompact_metadata)
            saved = _whole(body.get("tokensSaved"))
            ids = [("tool", one) for one in _strings(body.get("compactedToolIds"))]
            ids += [("uuid", one) for one in _strings(body.get("clearedAttachmentUUIDs"))]
            for place, (kind, one) in enumerate(ids or [("none", "")]):
                tool, uuid = (one, None) if kind == "tool" else (None, uuid_key(one))
                self._remove(step.rid, place, "microcompact", tool, uuid, saved if place == 0 else None)
        elif record.subtype == "local_command":
            text = _decode_text(record.content)
            if text:
                self._keep(step.rid, preview(text))
                self.batch.rows["blocks"].append(
                    (step.rid, step.rid, "text", "conversation", len(text), *_twice(text_tokens(text)), 0, None)
                )
                step.origin = "command"
                self._number(step)
        for place, uuid in enumerate(record.retracted_message_uuids or ()):
            self._remove(step.rid, place, "retraction", None, uuid_key(uuid), None)

    def _boundary(self, step: _Step) -> None:
        self._open_branch(step)
        thread = self.state.threads[step.number]
        thread.epochs += 1
        step.epoch = thread.epochs
        body = _object(step.record.compact_metadata)

        def whole(camel: str, snake: str) -> int | None:
            return _whole(body.get(camel, body.get(snake)))

        forked = step.record.forked_from
        kept = body.get("preservedMessages")
        preserved = _strings(kept.get("allUuids") or kept.get("uuids")) if isinstance(kept, dict) else []
        if not preserved and isinstance(segment := body.get("preservedSegment"), dict):
            preserved = [one for one in (segment.get("headUuid"), segment.get("tailUuid")) if isinstance(one, str)]
            preserved = ["segment", *preserved] if preserved else []
        trigger, focus = body.get("trigger"), body.get("userContext")
        self.batch.rows["compactions"].append(
            (
                *(step.rid, self._transcript_id, thread_id(self._transcript_id, step.number)),
                uuid_key(forked.message_uuid) if forked and forked.message_uuid else step.key,
                trigger if isinstance(trigger, str) else None,
                *(whole("preTokens", "pre_tokens"), whole("postTokens", "post_tokens")),
                whole("cumulativeDroppedTokens", "cumulative_dropped_tokens"),
                *(whole("durationMs", "duration_ms"), whole("messagesSummarized", "messages_summarized")),
                clip(focus) if isinstance(focus, str) and focus and self._keep_text else None,
                _names(preserved),
                _names(_strings(body.get("preCompactDiscoveredTools"))),
            )
        )

    def _progress(self, step: _Step) -> None:
        raw = step.record.data
        if raw is None:
            return
        try:
            data = _decode_progress(raw)
        except (msgspec.MsgspecError, RecursionError):
            return
        step.subtype = data.type
        nested = data.message
        if data.type != "agent_progress" or nested is None or nested.message is None:
            return
        number = self._agent_thread("progress", data.agent_id or "", step.record.parent_tool_use_id)
        message, content = nested.message, nested.message.content
        if nested.type == "assistant" and message.model != SYNTHETIC:
            said = milliseconds(nested.timestamp)
            step.time_ms, outer = step.time_ms if said is None else said, step.time_ms
            self._response(step, message, nested.request_id, number, is_nested=True)
            step.time_ms = outer
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, str):
                continue
            if block.type == "tool_use":
                self._use(step.rid, step.rid + place, number, block, step.time_ms, step.record, is_nested=True)
            elif block.type == "tool_result":
                self._nested_result(step, step.rid + place, number, block)

    def _nested_result(self, step: _Step, bid: int, number: int, block: Block) -> None:
        use = self._find_use(block.tool_use_id)
        if use is None:
            use = ToolUse(bid, self._transcript_id, thread_id(self._transcript_id, number), block.tool_use_id)
            use.is_nested = 1
            if block.tool_use_id:
                self._tools[block.tool_use_id] = use
        result = measure_result(block.content)
        use.end(result.texts, result.chars, result.size_tokens, bool(block.is_error), step.rid, step.time_ms)
        self._changed_tools[use.id] = use

    def _bookkeeping(self, step: _Step) -> None:
        kind = step.record.type or ""
        body = _generic(step.line)
        name = LAST_WINS[kind]
        value: Any = body.get(name) if name else {k: v for k, v in body.items() if k not in ("type", "sessionId")}
        if value is None:
            return
        if kind in _TEXTS_OF_THE_USER and not self._keep_text:
            return
        text = clip(value) if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        self.batch.rows["meta_records"].append((self._transcript_id, kind, step.rid, text))

    def _replacement(self, step: _Step) -> None:
        try:
            parts = msgspec.json.decode(step.record.replacements) if step.record.replacements is not None else []
        except (msgspec.MsgspecError, RecursionError):
            return
        for place, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                tool = part.get("toolUseId") or part.get("tool_use_id") or part.get("toolUseID")
                uuid = part.get("uuid") or part.get("messageUuid")
                self._remove(
                    step.rid,
                    place,
                    "replacement",
                    tool if isinstance(tool, str) else None,
                    uuid_key(uuid) if isinstance(uuid, str) else None,
                    None,
                )

    # ------------------------------------------------------------------ responses and tool uses

    def _response(
        self, step: _Step, message: Message, request_id: str | None, number: int, *, is_nested: bool
    ) -> Response:
        """The response that this record is a line of, brought up to date by it."""
        request_id, message_id = request_id or None, message.id or None
        response = self._find_response(step, message, request_id, message_id, number, is_nested)
        if response is None:
            response = self._new_response(step, request_id, message_id, message, number, is_nested)
        response.last_record_id = max(response.last_record_id, step.rid)
        response.last_ms = step.time_ms if step.time_ms is not None else response.last_ms
        usage = message.usage
        if usage is not None:
            if not response.take_usage(usage, message.model):
                self.problem(step.offset, step.length, "a usage count is out of range")
            for place, iteration in enumerate(usage.iterations or ()):
                if iteration.type == "advisor_message":
                    self._advisor(step, response, place, iteration)
        response.stop_reason = message.stop_reason or response.stop_reason
        response.effort = step.record.effort or response.effort
        self._touched[response.id] = response
        return response

    def _find_response(
        self,
        step: _Step,
        message: Message,
        request_id: str | None,
        message_id: str | None,
        number: int,
        is_nested: bool,
    ) -> Response | None:
        for response in self._same_message(number, request_id, message_id):
            if (
                response.request_id == request_id
                and response.message_id == message_id
                and response.record_session == step.record.session_id
                and response.is_nested == is_nested
                and response.is_copied == (step.record.forked_from is not None)
                and (request_id is not None or response.has_input_of(message.usage))
            ):
                return response
        return None

    def _same_message(self, number: int, request_id: str | None, message_id: str | None) -> list[Response]:
        """Responses of the thread with that message id, or, without one, with that request id."""
        name = message_id or (f"request {request_id}" if request_id else None)
        if name is None:
            return []
        known = self._responses.setdefault((number, name), [])
        if not known and not self._is_fresh and (number, name) not in self._asked:
            self._asked.add((number, name))
            tid = thread_id(self._transcript_id, number)
            rows = map(Response.of_row, self._past.responses(None if message_id else request_id, message_id))
            known += [one for one in rows if one.thread_id == tid and not one.is_advisor]
        return known

    def _new_response(
        self,
        step: _Step,
        request_id: str | None,
        message_id: str | None,
        message: Message,
        number: int,
        is_nested: bool,
    ) -> Response:
        thread = self.state.threads[number]
        response = Response(step.rid, self._transcript_id, thread_id(self._transcript_id, number))
        response.request_id, response.message_id = request_id, message_id
        response.record_session = step.record.session_id
        response.is_copied, response.is_nested = int(step.record.forked_from is not None), int(is_nested)
        response.first_ms = response.last_ms = step.time_ms
        response.branch, response.epoch = (step.branch, step.epoch) if not is_nested else (0, 0)
        thread.calls += 1
        response.ordinal = thread.calls
        known = self._same_message(number, request_id, message_id)
        # One message over several request ids keeps its number; without any, an equal id alone says nothing (D1, D7).
        shared = next((one for one in known if request_id is not None or one.request_id is not None), None)
        if is_nested:
            response.message = None
        elif shared is not None and shared.message is not None:
            response.message = shared.message
        else:
            thread.messages += 1
            response.message = thread.messages
        if message_id or request_id:
            known.append(response)
        return response

    def _advisor(self, step: _Step, parent: Response, place: int, iteration: Any) -> None:
        """An advisor's iteration is a call of its own model; its key derives from the call's and its place (D1)."""
        aid = parent.id + 1 + place
        response = self._touched.get(aid)
        if response is None:
            response = Response(aid, self._transcript_id, parent.thread_id)
            response.request_id = f"{parent.request_id}#{place}" if parent.request_id else None
            response.message_id = f"{parent.message_id}#{place}" if parent.message_id else None
            response.record_session, response.is_copied = parent.record_session, parent.is_copied
            response.is_nested, response.is_advisor, response.ordinal = parent.is_nested, 1, parent.ordinal
            response.branch, response.epoch, response.message = parent.branch, parent.epoch, parent.message
            response.first_ms = parent.first_ms
        response.last_record_id, response.last_ms = parent.last_record_id, parent.last_ms
        if not response.take_usage(iteration, iteration.model):
            self.problem(step.offset, step.length, "a usage count is out of range")
        self._touched[aid] = response

    def _use(
        self,
        rid: int,
        bid: int,
        number: int,
        block: Block,
        time_ms: int | None,
        record: Record,
        *,
        is_nested: bool,
    ) -> ToolUse:
        use = self._find_use(block.id)
        if use is not None and use.use_record_id is not None:
            return use
        if use is None:
            use = ToolUse(bid, self._transcript_id, thread_id(self._transcript_id, number), block.id or None)
            if block.id:
                self._tools[block.id] = use
        use.is_copied, use.is_nested = int(record.forked_from is not None), int(is_nested)
        use.begin(block.name, block.input, rid, time_ms, self._keep_text)
        path = use.path
        if path is not None and (use.is_read or use.is_edit):
            if use.is_read:
                key = (use.thread_id, path, use.read_offset, use.read_limit)
                use.prior_read_id = self._reads[key] if key in self._reads else self._past.prior_read(*key)
                self._reads[key] = use.id
                edit = (use.thread_id, path)
                use.prior_edit_id = self._edits[edit] if edit in self._edits else self._past.prior_edit(*edit)
                self._edits[edit] = use.prior_edit_id
            else:
                self._edits[(use.thread_id, path)] = use.id
        self._changed_tools[use.id] = use
        return use

    def _find_use(self, tool_use_id: str | None) -> ToolUse | None:
        if not tool_use_id:
            return None
        use = self._tools.get(tool_use_id)
        if use is None and not self._is_fresh:
            rows = self._past.tool_uses(tool_use_id)
            if rows:
                use = self._tools[tool_use_id] = ToolUse.of_row(rows[0])
        return use

    # ------------------------------------------------------------------ writing rows

    def _number(self, step: _Step) -> None:
        thread = self.state.threads[step.number]
        thread.messages += 1
        step.message = thread.messages

    def _keep(self, bid: int, text: str) -> None:
        if text and self._keep_text:
            self.batch.rows["texts"].append((bid, text))

    def _remove(
        self, rid: int, place: int, kind: str, tool: str | None, uuid: Uuid | None, saved: int | None
    ) -> None:
        self.batch.rows["removals"].append((rid, place, kind, tool, uuid, saved))

    def _write(self, step: _Step) -> None:
        record, number = step.record, step.number
        thread = self.state.threads[number]
        thread.branch, thread.epoch = step.branch, step.epoch
        if step.key is not None:
            place = Place(number, step.branch, step.epoch)
            self._at[step.key] = self._places.setdefault(place, place)
        if step.message is not None and number == 0 and step.time_ms is not None:
            about = self.state.about
            if about.last_message_ms is None or step.time_ms > about.last_message_ms:
                about.last_message_ms = step.time_ms
        self.batch.rows["records"].append(
            (
                *(step.rid, self._transcript_id, step.length, record.type, step.subtype or record.subtype),
                *(step.key, step.parent, step.time_ms, thread_id(self._transcript_id, number)),
                *(step.branch, step.epoch, step.ordinal if step.response else thread.calls),
                *(step.message, step.response, step.opens, step.is_prompt, step.is_summary),
                *(1 if record.is_meta else 0, 0 if record.forked_from is None else 1, 0, step.origin),
            )
        )

    def _write_duplicate(self, rid: int, length: int, record: Record, key: Uuid, time_ms: int | None) -> None:
        place = self._place_of(key) or Place(0, 0, 0)
        tid = thread_id(self._transcript_id, place.thread)
        ordinal = self.state.threads[place.thread].calls
        self.batch.rows["records"].append(
            (
                *(rid, self._transcript_id, length, record.type, record.subtype, key, None, time_ms),
                *(tid, place.branch, place.epoch, ordinal, None, None, 0, 0, 0),
                *(1 if record.is_meta else 0, 0 if record.forked_from is None else 1, 1, None),
            )
        )


LONGEST_CONTEXT = 20_000
"""Characters of a `/context` output that are read."""


class _Step:
    """What is found out about the record in hand."""

    __slots__ = (
        *("rid", "offset", "length", "record", "line", "time_ms", "key", "parent", "number", "thread"),
        *("branch", "epoch", "ordinal", "message", "response", "opens", "is_prompt", "is_summary", "origin", "subtype"),
    )

    def __init__(
        self,
        rid: int,
        offset: int,
        length: int,
        record: Record,
        line: bytes,
        time_ms: int | None,
        key: Uuid | None,
        parent: Uuid | None,
    ) -> None:
        self.rid, self.offset, self.length, self.record, self.line = rid, offset, length, record, line
        self.time_ms, self.key, self.parent = time_ms, key, parent
        self.number = self.branch = self.epoch = self.ordinal = 0
        self.message: int | None = None
        self.response: int | None = None
        self.opens = self.is_prompt = self.is_summary = 0
        self.origin: str | None = None
        self.subtype: str | None = None


def _twice(value: int) -> tuple[int, int]:
    return value, value


def _is_text(block: Block | str) -> bool:
    return isinstance(block, str) or block.type == "text"


def _names(names: list[str]) -> str | None:
    return json.dumps(names, ensure_ascii=False, separators=(",", ":")) if names else None


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)


def _object(raw: Raw | None) -> dict[str, Any]:
    if raw is None:
        return {}
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _decode_text(raw: Raw | None) -> str:
    try:
        value = msgspec.json.decode(raw) if raw is not None else None
    except (msgspec.MsgspecError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _generic(line: bytes) -> dict[str, Any]:
    from crusts_index.transcript.repair import clean

    try:
        value = json.loads(line.decode("utf-8", "replace").strip("\x00\ufeff \r\n\t"), strict=False)
    except (ValueError, RecursionError):
        return {}
    cleaned = clean(value)
    return cleaned if isinstance(cleaned, dict) else {}
