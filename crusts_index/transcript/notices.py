"""Records in which Claude Code says what it did: attachments, boundaries, what was taken out, titles, progress."""

from __future__ import annotations

from typing import Any

from crusts_index.transcript import categories
from crusts_index.transcript.attachments import read_attachment
from crusts_index.transcript.blocks import Blocks
from crusts_index.transcript.content import clip, measure_all, measure_result, preview
from crusts_index.transcript.costs import costs_of
from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.past import Uuid
from crusts_index.transcript.places import Places, uuid_key
from crusts_index.transcript.repair import fit_raw
from crusts_index.transcript.requests import Requests
from crusts_index.transcript.responses import Responses
from crusts_index.transcript.rows import TOOL_USE_PREFIX, Row, cut_prefix, thread_id
from crusts_index.transcript.shapes import Progress, Raw, Record
from crusts_index.transcript.speech import SYNTHETIC, Speech
from crusts_index.transcript.spelling import camel
from crusts_index.transcript.state import State
from crusts_index.transcript.step import Step
from crusts_index.transcript.times import milliseconds
from crusts_index.transcript.titles import title_of
from crusts_index.transcript.tools import ToolUses
from crusts_index.transcript.weights import REMINDER_TOKENS
from crusts_index.transcript.wrappers import split

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
LOST = "session_writes_lost"
"""Type of a record, of a system record or of an attachment in which Claude Code says that records are missing."""
_TITLES = frozenset("custom-title ai-title agent-name summary".split())

_decode = msgspec.json.decode
_decode_progress = msgspec.json.Decoder(Progress).decode


class Notices:
    """What the notices of one transcript say; rows are collected until they are taken."""

    def __init__(
        self,
        transcript_id: int,
        state: State,
        places: Places,
        responses: Responses,
        tools: ToolUses,
        speech: Speech,
        blocks: Blocks,
        requests: Requests,
    ) -> None:
        self._transcript_id, self._state, self._places = transcript_id, state, places
        self._responses, self._tools, self._speech = responses, tools, speech
        self._blocks, self._requests = blocks, requests
        self.attachments: list[Row] = []
        self.compactions: list[Row] = []
        self.preserved: list[Row] = []
        self.removals: list[Row] = []
        self.meta: list[Row] = []
        self.costs: list[Row] = []

    def take_attachment(self, step: Step) -> None:
        """An attachment: a message if it renders to text (D7), perhaps a prompt (D8)."""
        facts = read_attachment(step.record.attachment, step.record.rendered)
        if facts is None:
            return
        step.subtype = facts.type
        self.attachments.append(
            (step.id, facts.type, facts.name, facts.event, names(facts.added), names(facts.removed))
        )
        self._requests.take_attachment(step, facts.type)
        if facts.type == LOST:
            self._lose(step, _object(step.record.attachment))
        text, category = "\n".join(facts.texts), categories.of_attachment(facts.type)
        if not text and not facts.media:
            if facts.type == "task_reminder":
                # What it renders to is not logged; a message is only what is (D7).
                self._blocks.add(step, step.id, "attachment", category, 0, 0, 0, REMINDER_TOKENS)
            return
        kept = preview(text)
        if facts.is_prompt and ((said := split(text)).words or not text):
            step.is_prompt, category = 1, categories.CONVERSATION
            kept = clip(said.words if said.wrapper else text)
            self._places.open_branch(step)
            self._speech.titles.take_prompt(step, [said.words])
        elif facts.type == "queued_command":
            category = categories.STATE
        self._speech.keep(step.id, kept)
        size = (len(text), *measure_all(facts.texts), facts.media)
        self._blocks.add(step, step.id, "attachment", category, *size)
        self._speech.number(step)

    def take_system(self, step: Step) -> None:
        """A system record: only boundaries, what they took out, and local commands matter."""
        record = step.record
        if record.subtype == "compact_boundary":
            self._boundary(step)
        elif record.subtype == "microcompact_boundary":
            self._microcompact(step)
        elif record.subtype == "local_command" and not record.is_display_only:
            text = _text(record.content)
            if text:
                step.origin = "command"
                self._speech.titles.take_command(step, [text])
                self._speech.keep(step.id, preview(text))
                self._speech.add_text(step, step.id, categories.CONVERSATION, text)
                self._speech.number(step)
        elif record.subtype == LOST:
            self.take_lost(step)
        for place, uuid in enumerate(record.retracted_message_uuids or ()):
            self._remove(step, place, "retraction", uuid=uuid_key(uuid))

    def take_lost(self, step: Step) -> None:
        """Records that were not written, as Claude Code says (D20)."""
        self._lose(step, _body(step))

    def take_superseded(self, step: Step) -> None:
        """Messages that an assistant record says it supersedes."""
        for place, uuid in enumerate(step.record.supersedes_uuids or ()):
            self._remove(step, place, "superseded", uuid=uuid_key(uuid))

    def take_replacement(self, step: Step) -> None:
        """A content-replacement record: results that were swapped for less."""
        parts = _value(step.record.replacements)
        for place, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                part = camel(part)
                tool = part.get("toolUseId") or part.get("toolUseID")
                uuid = part.get("uuid") or part.get("messageUuid")
                self._remove(
                    step,
                    place,
                    "replacement",
                    tool=tool if isinstance(tool, str) else None,
                    uuid=uuid_key(uuid) if isinstance(uuid, str) else None,
                )

    def take_progress(self, step: Step) -> bool:
        """A progress record; a nested response counts with the lowest rank (D1, D2). False: a count out of range."""
        data: Progress | None
        try:
            data = _decode_progress(step.record.data)
        except msgspec.MsgspecError:
            data = fit_raw(step.record.data, Progress)
        nested = data.message if data is not None else None
        if data is None or data.type != "agent_progress" or nested is None or nested.message is None:
            return True
        step.subtype = data.type
        thread = self._places.agent_thread("progress", data.agent_id or "", step.record.parent_tool_use_id)
        message, is_sound = nested.message, True
        outer, said = step.time_ms, milliseconds(nested.timestamp)
        if said is not None:
            step.time_ms = said
        if nested.type == "assistant" and message.model != SYNTHETIC:
            request_id = nested.request_id or None
            _, is_sound = self._responses.take_line(step, message, request_id, thread, is_nested=True)
        for place, block in enumerate(message.content if isinstance(message.content, list) else ()):
            if isinstance(block, str):
                continue
            if block.type == "tool_use":
                raw = bytes(block.input)
                self._tools.begin(step, step.id + place, thread, block, raw, is_nested=True)
            elif block.type == "tool_result":
                result = measure_result(block.content)
                self._tools.end(step, step.id + place, thread, block, result, is_nested=True)
        step.time_ms = outer
        return is_sound

    def take_meta(self, step: Step) -> None:
        """A bookkeeping record of which the last one wins."""
        kind = step.record.type or ""
        body = _body(step)
        name = LAST_WINS[kind]
        value: Any = body.get(name) if name else {k: v for k, v in body.items() if k not in ("type", "sessionId")}
        if value is None or (kind == "worktree-state" and not body.get("worktreeSession")):
            return  # a worktree that was left stays the session's
        if kind in _TITLES:
            value = title_of(value) if isinstance(value, str) else ""
            if not value:
                return
        if kind == "cost-state":
            self.costs += [(self._transcript_id, cost.model, step.id, *cost[1:]) for cost in costs_of(body)]
        text = value if isinstance(value, str) else _dumps(value)
        self.meta.append((self._transcript_id, kind, step.id, clip(text)))

    def _lose(self, step: Step, body: dict[str, Any]) -> None:
        """Keep the numbers that it tells; the record itself is counted as any other."""
        counts = {name: value for name, value in body.items() if type(value) is int}
        self.meta.append((self._transcript_id, LOST, step.id, _dumps(counts)))

    def _boundary(self, step: Step) -> None:
        """A compaction: what follows it stands in a new epoch (D10)."""
        self._places.open_branch(step)
        thread = self._state.threads[step.thread]
        thread.epochs += 1
        step.epoch = thread.epochs
        body = _object(step.record.compact_metadata)
        forked = step.record.forked_from
        trigger, focus = body.get("trigger"), body.get("userContext")
        kept = _preserved(body)
        is_segment = kept[:1] == ["segment"]
        self.preserved += [
            (step.id, place, uuid_key(uuid), int(is_segment)) for place, uuid in enumerate(kept[is_segment:])
        ]
        self.compactions.append(
            (
                step.id,
                self._transcript_id,
                thread_id(self._transcript_id, step.thread),
                uuid_key(forked.message_uuid) if forked and forked.message_uuid else step.key,
                step.record.session_id,
                trigger if isinstance(trigger, str) else None,
                _count(body, "preTokens"),
                _count(body, "postTokens"),
                _count(body, "cumulativeDroppedTokens"),
                _count(body, "durationMs"),
                _count(body, "messagesSummarized"),
                clip(focus) if isinstance(focus, str) and focus else None,
                names(kept),
                names(_strings(body.get("preCompactDiscoveredTools"))),
            )
        )

    def _microcompact(self, step: Step) -> None:
        body = _object(step.record.microcompact_metadata)
        saved = _count(body, "tokensSaved")
        tools, uuids = _strings(body.get("compactedToolIds")), _strings(body.get("clearedAttachmentUUIDs"))
        if not tools and not uuids:
            self._remove(step, 0, "microcompact", saved=saved)
        for place, tool in enumerate(tools):
            self._remove(step, place, "microcompact", tool=tool, saved=saved if place == 0 else None)
        for place, uuid in enumerate(uuids, len(tools)):
            self._remove(step, place, "microcompact", uuid=uuid_key(uuid), saved=saved if place == 0 else None)

    def _remove(
        self,
        step: Step,
        place: int,
        kind: str,
        *,
        tool: str | None = None,
        uuid: Uuid | None = None,
        saved: int | None = None,
    ) -> None:
        self.removals.append((step.id, place, kind, cut_prefix(tool, TOOL_USE_PREFIX), uuid, saved))


def nests_record(record: Record) -> bool:
    """Whether a progress record may hold a whole record of an agent; what else reports progress says nothing more."""
    return b'"agent_progress"' in bytes(record.data)


def names(found: list[str]) -> str | None:
    """Names as a JSON array; None for none."""
    return _dumps(found, ensure_ascii=False) if found else None


def _body(step: Step) -> dict[str, Any]:
    """All that a record holds."""
    if not isinstance(step.line, bytes):
        return camel(step.line)
    # Only now, as `json` below: a short run that reads no such record starts sooner without.
    from crusts_index.transcript.parse import parse

    return camel(parse(step.line))


def _dumps(value: Any, *, ensure_ascii: bool = True) -> str:
    import json

    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"))


def _preserved(body: dict[str, Any]) -> list[str]:
    """Uuids that a boundary names as preserved; of a segment its ends, behind the word `segment`."""
    kept = body.get("preservedMessages")
    if isinstance(kept, dict):
        kept = camel(kept)
        if found := _strings(kept.get("allUuids")) or _strings(kept.get("uuids")):
            return found
    segment = body.get("preservedSegment")
    if isinstance(segment, dict):
        segment = camel(segment)
        ends = [segment.get("headUuid"), segment.get("tailUuid")]
        if all(isinstance(end, str) for end in ends):
            return ["segment", *map(str, ends)]
    return []


def _count(body: dict[str, Any], key: str) -> int | None:
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _value(raw: Raw) -> Any:
    if not raw:
        return None
    try:
        return _decode(raw)
    except msgspec.MsgspecError:
        return None


def _object(raw: Raw) -> dict[str, Any]:
    value = _value(raw)
    return camel(value) if isinstance(value, dict) else {}


def _text(raw: Raw) -> str:
    value = _value(raw)
    return value if isinstance(value, str) else ""
