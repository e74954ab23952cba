"""Reads the new bytes of one transcript without writing: the rows that an index run would add of its main thread, as
far as they say how full the window is (D1, D7, D10)."""

from __future__ import annotations

import os

from crusts_index.index.logged import (
    count_of,
    counts_of,
    is_prompt,
    is_queued_prompt,
    is_rendered,
    list_of,
    milliseconds,
    text_of,
    uuid_key,
)
from crusts_index.index.unwritten import Call, Place, Use
from crusts_index.jsontext import loads
from crusts_index.regular import open_regular
from crusts_index.rows.window import (
    SessionBlock,
    SessionBoundary,
    SessionBranch,
    SessionCall,
    SessionLeaf,
    SessionRecord,
    SessionRemoval,
    StatusOpener,
    StatusReads,
    StatusResponse,
)
from crusts_index.tools import EDITS, READS
from crusts_index.transcript.spelling import camel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from crusts_index.index.logged import Counts, Key
    from crusts_index.rows import Fetch

    Json = dict[str, Any]

MOST_BYTES = 2 << 20
"""More than this behind the store, and only the last stretch is read, on its own."""
LAST_BYTES = 256 << 10
IMAGE_TOKENS = 1_500
RECORD_BITS = 40
_SYNTHETIC = "<synthetic>"
_REMOVING = ("retractedMessageUuids", "supersedesUuids")
_THREAD_STATE = ("kind", "messages", "calls", "branches", "epochs", "branch", "epoch", "is_chained")
_TOLD = frozenset(("assistant", "user", "system"))


class Tail:
    """The rows of the new bytes. `fetch` asks the store for what stands before them, and finds nothing without one."""

    def __init__(self, fetch: Fetch, transcript: int, state: str | None) -> None:
        self.transcript = transcript
        self._fetch, self._base = fetch, transcript << RECORD_BITS
        thread = _first_thread(state)
        self.messages: int = thread.get("messages") or 0
        self._ordinals: int = thread.get("calls") or 0
        self.branch_count: int = thread.get("branches") or 0
        self.epochs: int = thread.get("epochs") or 0
        self._is_chained = thread.get("is_chained") is True
        self._last = Place(0, thread.get("branch") or 0, thread.get("epoch") or 0)
        self._handlers: dict[str, Callable[..., None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "attachment": self._attachment,
        }
        self.places: dict[Key, Place] = {}
        self._openers: set[Key | None] = set()
        self._calls: dict[tuple[str | None, str, tuple[int, ...] | None], Call] = {}
        self._by_message: dict[str, int] = {}
        self.uses: dict[str, Use] = {}
        self._reads: dict[tuple[str, object, object], int] = {}
        self._edits: dict[str, int] = {}
        self.branches: list[SessionBranch] = []
        self.boundaries: list[SessionBoundary] = []
        self.prompts: list[SessionBlock] = []
        self.removals: list[SessionRemoval] = []
        self.end: Place | None = None
        self.leaf: SessionLeaf | None = None
        self.last_ms: int | None = None
        self.version: str | None = None
        self.cwd: str | None = None
        self.bytes_read = 0
        self.is_cut = False

    def read(self, path: str, start: int) -> None:
        """Take in the whole lines of the file from `start`. Raises OSError where it cannot be read."""
        self.is_cut = os.path.getsize(path) - start > MOST_BYTES
        for offset, line in _lines(path, start, is_cut=self.is_cut):
            self.bytes_read += len(line)
            try:
                record = loads(line.decode("utf-8", "replace").strip(" \t\r\n\0\ufeff"))
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                self._take(self._base | offset, camel(record))

    @property
    def calls(self) -> list[SessionCall]:
        """The calls, in log order."""
        return sorted(call.row() for call in self._calls.values() if sum(call.counts[:3]) > 0)

    @property
    def blocks(self) -> list[SessionBlock]:
        """One block a call, and the prompts."""
        return sorted([call.block() for call in self._calls.values()] + self.prompts)

    def _take(self, id: int, record: Json) -> None:
        kind = record.get("type")
        if kind == "last-prompt":
            key = uuid_key(record.get("leafUuid"))
            if key is not None:
                self.leaf = SessionLeaf(id, key)
            return
        if record.get("isSidechain") is True:
            return
        time_ms = self._note(record)
        key = uuid_key(record.get("uuid"))
        if type(key) is bytes and (key in self.places or (kind in _TOLD and self._stored(key) is not None)):
            return  # the same record again (D2)
        parent = uuid_key(record.get("parentUuid") or record.get("logicalParentUuid"))
        above = self._place(parent)
        if above is not None:
            self._is_chained = True
        at = above or self._last
        here = Place(id, at.branch, at.epoch)
        handle = self._handlers.get(kind if isinstance(kind, str) else "")
        if handle is not None:
            handle(here, record, time_ms, parent, key)
        if kind == "content-replacement" or any(record.get(field) for field in _REMOVING):
            self._remove(here)
        self._last = here
        if key is not None:
            self.places[key] = here
        if here.message is not None:
            self.end = here

    def _note(self, record: Json) -> int | None:
        """The record's time, and what it says of the transcript as a whole."""
        time_ms = milliseconds(record.get("timestamp"))
        if time_ms is not None and (self.last_ms is None or time_ms > self.last_ms):
            self.last_ms = time_ms
        self.version = text_of(record.get("version")) or self.version
        self.cwd = self.cwd or text_of(record.get("cwd"))
        return time_ms

    def _assistant(self, here: Place, record: Json, time_ms: int | None, *_: object) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or _SYNTHETIC in (message.get("model"), record.get("model")):
            return
        usage = message.get("usage")
        counts = counts_of(usage) if isinstance(usage, dict) else None
        call = self._call(here, text_of(record.get("requestId")), text_of(message.get("id")), counts)
        here.branch, here.epoch = call.branch, call.epoch
        here.response_id, here.message = call.id, call.message
        call.last_record_id = here.record_id
        call.time_ms = time_ms if time_ms is not None else call.time_ms
        if isinstance(usage, dict) and counts is not None:
            call.model = text_of(message.get("model"))
            call.counts = counts
            details = usage.get("output_tokens_details")
            call.thinking = count_of(details.get("thinking_tokens")) if isinstance(details, dict) else None
        call.stop_reason = text_of(message.get("stop_reason")) or call.stop_reason
        call.effort = text_of(record.get("effort")) or call.effort
        call.is_aborted = call.is_aborted or record.get("isAbortedMidStream") is True
        for place, block in enumerate(list_of(message.get("content"))):
            self._said(call, here.record_id + place, block)

    def _said(self, call: Call, id: int, block: object) -> None:
        if not isinstance(block, dict):
            if isinstance(block, str):
                call.parts.append(("text", block))
            return
        kind = block.get("type")
        if kind == "text":
            call.parts.append((kind, text_of(block.get(kind)) or ""))
        elif kind in ("thinking", "redacted_thinking"):
            call.parts.append((kind, block))
        elif kind in ("tool_use", "server_tool_use"):
            call.parts.append((kind, block))
            self._use(id, block)

    def _use(self, id: int, block: Json) -> None:
        name, given = text_of(block.get("name")), block.get("input")
        given = given if isinstance(given, dict) else {}
        path = text_of(given.get("file_path") or given.get("notebook_path") or given.get("path"))
        is_reread = False
        if path and name in READS:
            part = (path, given.get("offset"), given.get("limit"))
            is_reread = self._is_read_before(*part)
            self._reads[path, str(part[1]), str(part[2])] = id
        elif path and name in EDITS:
            self._edits[path] = id
        if tool_use_id := text_of(block.get("id")):
            self.uses[tool_use_id] = Use(id, name, path, is_reread=is_reread, result_tokens=0)

    def _is_read_before(self, path: str, offset: object, limit: object) -> bool:
        read, edit = self._reads.get((path, str(offset), str(limit))), self._edits.get(path)
        if (read is None or edit is None) and all(one is None or type(one) is int for one in (offset, limit)):
            for row in self._fetch(StatusReads, transcript=self.transcript, path=path, offset=offset, limit=limit):
                read, edit = read or row.read_id, edit or row.edit_id
        return read is not None and (edit is None or edit < read)

    def _user(self, here: Place, record: Json, time_ms: int | None, parent: Key | None, key: Key | None) -> None:
        message = record.get("message")
        is_summary = record.get("isCompactSummary") is True
        if not isinstance(message, dict) or (record.get("isVisibleInTranscriptOnly") is True and not is_summary):
            return
        texts: list[str] = []
        has_result = counted = False
        for block in list_of(message.get("content")):
            kind = block.get("type") if isinstance(block, dict) else "text"
            if kind == "text":
                texts.append(block if isinstance(block, str) else text_of(block.get("text")) or "")
            elif kind == "tool_result":
                has_result = counted = True
                self._result(block)
            elif kind in ("image", "document"):
                counted = True
        by_person = not is_summary and not has_result and is_prompt(record, texts)
        if by_person:
            self._open_branch(here, parent, key)
        if counted or any(texts):
            self.messages += 1
            here.message = self.messages
        if here.message is not None and (by_person or is_summary):
            self._note_prompt(here, here.message, time_ms, "user", is_prompt=by_person, is_summary=is_summary)

    def _note_prompt(
        self, here: Place, message: int, time_ms: int | None, record_type: str, *, is_prompt: bool, is_summary: bool
    ) -> None:
        """A block of a record at which a window may begin."""
        self.prompts.append(
            SessionBlock(
                id=here.record_id,
                record_id=here.record_id,
                message=message,
                time_ms=time_ms,
                kind="text",
                category="conversation",
                tokens=0,
                estimate=0,
                chars=0,
                is_exact=0,
                branch=here.branch,
                epoch=here.epoch,
                call_ordinal=self._ordinals,
                type=record_type,
                subtype=None,
                is_prompt=int(is_prompt),
                is_summary=int(is_summary),
                is_meta=0,
                origin=None,
                tool_use_id=None,
                response_id=None,
            )
        )

    def _result(self, block: Json) -> None:
        tool_use_id = text_of(block.get("tool_use_id")) or ""
        chars = images = 0
        for part in list_of(block.get("content")):
            if isinstance(part, str):
                chars += len(part)
            elif isinstance(part, dict):
                if part.get("type") == "image":
                    images += 1
                elif part.get("type") in ("text", None):
                    chars += len(text_of(part.get("text")) or "")
        use = self.uses.get(tool_use_id)
        if use is None:
            use = self.uses[tool_use_id] = Use(0, None, None, is_reread=False, result_tokens=0)
        use.result_tokens = -(-chars // 4) + images * IMAGE_TOKENS

    def _system(self, here: Place, record: Json, time_ms: int | None, parent: Key | None, key: Key | None) -> None:
        subtype = record.get("subtype")
        if subtype == "local_command" and record.get("isDisplayOnly") is not True and text_of(record.get("content")):
            self.messages += 1
            here.message = self.messages
        if subtype == "microcompact_boundary":
            self._remove(here)
        if subtype != "compact_boundary":
            return
        self._open_branch(here, parent, key)
        self.epochs += 1
        here.epoch = self.epochs
        said = record.get("compactMetadata")
        said = camel(said) if isinstance(said, dict) else {}
        self.boundaries.append(
            SessionBoundary(
                id=here.record_id,
                time_ms=time_ms,
                trigger=text_of(said.get("trigger")),
                pre_tokens=count_of(said.get("preTokens")),
                post_tokens=count_of(said.get("postTokens")),
                dropped_tokens=count_of(said.get("cumulativeDroppedTokens")),
                duration_ms=count_of(said.get("durationMs")),
                focus=None,
                preserved=None,
                discovered_tools=None,
                epoch=here.epoch,
                branch=here.branch,
                is_owner=1,
            )
        )

    def _attachment(self, here: Place, record: Json, time_ms: int | None, parent: Key | None, key: Key | None) -> None:
        body = record.get("attachment")
        body = camel(body) if isinstance(body, dict) else {}
        if not isinstance(body.get("type"), str) or not is_rendered(record, body):
            return
        by_person = body["type"] == "queued_command" and is_queued_prompt(body)
        if by_person:
            self._open_branch(here, parent, key)
        self.messages += 1
        here.message = self.messages
        if by_person:
            self._note_prompt(here, self.messages, time_ms, "attachment", is_prompt=True, is_summary=False)

    def _remove(self, here: Place) -> None:
        """Something was taken out of the window: a drop of the context behind it is no compaction."""
        self.removals.append(
            SessionRemoval(
                record_id=here.record_id,
                message=here.message,
                kind="removal",
                saved_tokens=None,
                branch=here.branch,
                response_id=here.response_id,
                tool_use_row=None,
                target_record_id=None,
            )
        )

    def _open_branch(self, here: Place, parent: Key | None, key: Key | None) -> None:
        """A prompt or boundary whose parent has one already begins a new branch (D10)."""
        if parent is None and (key is None or not self._is_chained):
            self._openers.add(None)
            return
        if parent in self._openers or self._fetch(StatusOpener, transcript=self.transcript, uuid=parent):
            self.branch_count += 1
            fork = self._place(parent)
            self.branches.append(
                SessionBranch(
                    branch=self.branch_count,
                    parent_branch=here.branch,
                    starts_anew=int(parent is None),
                    first_record_id=here.record_id,
                    fork_record_id=fork.record_id if fork else None,
                    fork_branch=fork.branch if fork else None,
                    fork_response_id=fork.response_id if fork else None,
                )
            )
            here.branch = self.branch_count
            if parent is None:
                here.epoch = 0
        self._openers.add(parent)

    def _call(self, here: Place, request_id: str | None, message_id: str | None, counts: Counts | None) -> Call:
        """The call that a line belongs to: by request and message id, without a request by the input side too (D1)."""
        name = message_id or request_id
        side = counts[:3] if request_id is None and counts is not None else None
        key = (request_id, message_id or ("" if request_id else str(here.record_id)), side)
        known = self._calls.get(key)
        if known is not None:
            return known
        message = self._by_message.get(name) if name and request_id else None
        rows: list[StatusResponse] = []
        if name and message is None:
            rows = self._fetch(StatusResponse, transcript=self.transcript, message_id=message_id, request_id=request_id)
        for row in rows:
            if request_id is not None or row.request_id is not None:
                message = row.message
            same_side = side is None or side == (row.input_tokens, row.cache_read_tokens, row.cache_write_tokens)
            if row.request_id == request_id and same_side:
                call = Call(row.id, row.message or 0, row.ordinal, row.branch, row.epoch)
                call.stored = self._stored_blocks(row.id)
                break
        else:
            if message is None:
                self.messages += 1
                message = self.messages
            self._ordinals += 1
            call = Call(here.record_id, message, self._ordinals, here.branch, here.epoch)
        if name:
            self._by_message[name] = call.message
        self._calls[key] = call
        return call

    def _stored_blocks(self, response_id: int) -> list[tuple[int, bool]]:
        rows = self._fetch(SessionBlock, "status_blocks", transcript=self.transcript, before=0, since=response_id)
        return [(row.estimate, row.kind == "thinking") for row in rows if row.response_id == response_id]

    def _place(self, key: Key | None) -> Place | None:
        if key is None:
            return None
        return self.places.get(key) or self._stored(key)

    def _stored(self, key: Key) -> Place | None:
        for row in self._fetch(SessionRecord, transcript=self.transcript, uuid=key):
            return Place(row.id, row.branch, row.epoch, row.response_id, row.message)
        return None


def _lines(path: str, start: int, *, is_cut: bool) -> Iterator[tuple[int, bytes]]:
    """(offset, line) from `start`, or of the last stretch where there is too much; a last line without an end waits."""
    with open_regular(path, buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if is_cut:
            start = size - LAST_BYTES
        file.seek(start)
        data = file.read(size - start)
    offset = start
    for number, line in enumerate(data.splitlines(keepends=True) if b"\r" not in data else _split(data)):
        if not (is_cut and number == 0):
            yield offset, line
        offset += len(line)


def _split(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        yield data[at:end]
        at = end


def _first_thread(state: str | None) -> Json:
    """Where the reader stood in the main thread: the first of the threads in the state that it left, by field."""
    try:
        value = loads(state) if state else None
    except ValueError:
        return {}
    threads = value.get("threads") if isinstance(value, dict) else value[2] if isinstance(value, list) else None
    thread = threads[0] if isinstance(threads, list) and threads else None
    if isinstance(thread, list):  # as transcript.state writes it, whose import is dear
        return dict(zip(_THREAD_STATE, thread, strict=False))
    return thread if isinstance(thread, dict) else {}
