"""Reads the new bytes of one transcript without writing: the rows that an index run would add of its main thread, as
far as they say how full the window is (D1, D7, D10)."""

from __future__ import annotations

import os

from crusts_index.jsontext import loads
from crusts_index.transcript.categories import BESIDE_A_PROMPT, EDIT_TOOLS, wrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Json = dict[str, Any]
    Row = tuple[Any, ...]
    Fetch = Callable[..., list[Row]]
    Key = bytes | str
    Counts = tuple[int, int, int, int, int]  # uncached input, cache read, cache write, of it for an hour, output

MOST_BYTES = 2 << 20
"""More than this behind the store, and only the last stretch is read, on its own."""
LAST_BYTES = 256 << 10
IMAGE_TOKENS = 1_500
RECORD_BITS = 40
_LARGEST_COUNT = 2**53
_SYNTHETIC = "<synthetic>"


class Place:
    """Where a record stands: its id, branch and epoch, the response it is a line of, its message."""

    __slots__ = ("branch", "epoch", "message", "record_id", "response_id")

    def __init__(
        self, record_id: int, branch: int, epoch: int, response_id: int | None = None, message: int | None = None
    ) -> None:
        self.record_id, self.branch, self.epoch = record_id, branch, epoch
        self.response_id, self.message = response_id, message


class Use:
    """A tool use and what its result cost (X-size tokens); `is_reread` as X-reread has it."""

    __slots__ = ("id", "is_reread", "name", "path", "result_tokens")

    def __init__(self, id: int, name: str | None, path: str | None, *, is_reread: bool, result_tokens: int) -> None:
        self.id, self.name, self.path = id, name, path
        self.is_reread, self.result_tokens = is_reread, result_tokens


class Call:
    """A response in the making: the usage of its last line holds."""

    def __init__(self, id: int, message: int, ordinal: int, branch: int, epoch: int) -> None:
        self.id = self.last_record_id = id
        self.message, self.ordinal, self.branch, self.epoch = message, ordinal, branch, epoch
        self.model: str | None = None
        self.time_ms: int | None = None
        self.counts: Counts = (0, 0, 0, 0, 0)
        self.thinking: int | None = None
        self.stop_reason: str | None = None
        self.effort: str | None = None
        self.parts: list[tuple[str, Any]] = []  # its blocks: kind, and text or tool use

    def row(self) -> Row:
        """A row of `session_calls`."""
        fresh, read, write, write_1h, output = self.counts
        return (
            *(self.id, self.last_record_id, self.message, self.ordinal, self.branch, self.epoch),
            *(self.model or "unknown", self.time_ms, fresh, read, write, write_1h, output, self.thinking),
            *(fresh + read + write, None, None, self.stop_reason, self.effort),
        )

    def block(self) -> Row:
        """One row of `session_blocks` for all that it said: its tokens, and whether the output logged can be right."""
        tokens, is_exact = self._tokens()
        return (
            *(self.id, self.id, self.message, self.time_ms, "text", "conversation", tokens, tokens, 0, int(is_exact)),
            *(self.branch, self.epoch, self.ordinal, "assistant", None, 0, 0, 0, None, None, self.id),
        )

    def _tokens(self) -> tuple[int, bool]:
        """Tokens of its blocks, and whether they are the output as billed: not where that is a placeholder (D9)."""
        output = self.counts[4]
        if not self.parts:
            return output, True
        most = sum(_size(part) for _, part in self.parts) / 3 + len(self.parts) + (self.thinking or 0)
        if output and output * 2 > most:
            return output, True
        # Only now: `re`, which this needs, is dear to import.
        from crusts_index.transcript.tokens import spread

        shares = spread(output, self.thinking, [_measure(kind, part) for kind, part in self.parts])
        return sum(tokens for tokens, _ in shares), all(is_exact for _, is_exact in shares)


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
        self.places: dict[Key, Place] = {}
        self._openers: set[Key | None] = set()
        self._calls: dict[tuple[str | None, str, tuple[int, ...] | None], Call] = {}
        self._by_message: dict[str, int] = {}
        self.uses: dict[str, Use] = {}
        self._reads: dict[tuple[str, object, object], int] = {}
        self._edits: dict[str, int] = {}
        self.branches: list[Row] = []
        self.boundaries: list[Row] = []
        self.prompts: list[Row] = []
        self.end: Place | None = None
        self.leaf: tuple[int, Key] | None = None
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
                self._take(self._base | offset, record)

    @property
    def calls(self) -> list[Row]:
        """Rows of `session_calls`, in log order."""
        return sorted(call.row() for call in self._calls.values() if sum(call.counts[:3]) > 0)

    @property
    def blocks(self) -> list[Row]:
        """Rows of `session_blocks`: one a call, and the prompts."""
        return sorted([call.block() for call in self._calls.values()] + self.prompts)

    def _take(self, id: int, record: Json) -> None:
        kind = record.get("type")
        if kind == "last-prompt":
            key = uuid_key(record.get("leafUuid"))
            if key is not None:
                self.leaf = (id, key)
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
        if kind == "assistant":
            self._assistant(here, record, time_ms)
        elif kind == "user":
            self._user(here, record, time_ms, parent, key)
        elif kind == "system":
            self._system(here, record, time_ms, parent, key)
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
        self.version = _text(record.get("version")) or self.version
        self.cwd = self.cwd or _text(record.get("cwd"))
        return time_ms

    def _assistant(self, here: Place, record: Json, time_ms: int | None) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or _SYNTHETIC in (message.get("model"), record.get("model")):
            return
        usage = message.get("usage")
        counts = _counts(usage) if isinstance(usage, dict) else None
        call = self._call(here, _text(record.get("requestId")), _text(message.get("id")), counts)
        here.branch, here.epoch = call.branch, call.epoch
        here.response_id, here.message = call.id, call.message
        call.last_record_id = here.record_id
        call.time_ms = time_ms if time_ms is not None else call.time_ms
        if isinstance(usage, dict) and counts is not None:
            call.model = _text(message.get("model"))
            call.counts = counts
            details = usage.get("output_tokens_details")
            call.thinking = _count(details.get("thinking_tokens")) if isinstance(details, dict) else None
        call.stop_reason = _text(message.get("stop_reason")) or call.stop_reason
        call.effort = _text(record.get("effort")) or call.effort
        for place, block in enumerate(_list(message.get("content"))):
            self._said(call, here.record_id + place, block)

    def _said(self, call: Call, id: int, block: object) -> None:
        if not isinstance(block, dict):
            if isinstance(block, str):
                call.parts.append(("text", block))
            return
        kind = block.get("type")
        if kind in ("text", "thinking", "redacted_thinking"):
            call.parts.append((kind, _text(block.get(kind)) or ""))
        elif kind in ("tool_use", "server_tool_use"):
            call.parts.append((kind, block))
            self._use(id, block)

    def _use(self, id: int, block: Json) -> None:
        name, given = _text(block.get("name")), block.get("input")
        given = given if isinstance(given, dict) else {}
        path = _text(given.get("file_path") or given.get("notebook_path") or given.get("path"))
        is_reread = False
        if path and name == "Read":
            part = (path, given.get("offset"), given.get("limit"))
            is_reread = self._is_read_before(*part)
            self._reads[path, str(part[1]), str(part[2])] = id
        elif path and name in EDIT_TOOLS:
            self._edits[path] = id
        if tool_use_id := _text(block.get("id")):
            self.uses[tool_use_id] = Use(id, name, path, is_reread=is_reread, result_tokens=0)

    def _is_read_before(self, path: str, offset: object, limit: object) -> bool:
        read, edit = self._reads.get((path, str(offset), str(limit))), self._edits.get(path)
        if (read is None or edit is None) and all(one is None or type(one) is int for one in (offset, limit)):
            rows = self._fetch("status_reads", transcript=self.transcript, path=path, offset=offset, limit=limit)
            for stored_read, stored_edit in rows:
                read, edit = read or stored_read, edit or stored_edit
        return read is not None and (edit is None or edit < read)

    def _user(self, here: Place, record: Json, time_ms: int | None, parent: Key | None, key: Key | None) -> None:
        message = record.get("message")
        is_summary = record.get("isCompactSummary") is True
        if not isinstance(message, dict) or (record.get("isVisibleInTranscriptOnly") is True and not is_summary):
            return
        texts: list[str] = []
        has_result = counted = False
        for block in _list(message.get("content")):
            kind = block.get("type") if isinstance(block, dict) else "text"
            if kind == "text":
                texts.append(block if isinstance(block, str) else _text(block.get("text")) or "")
            elif kind == "tool_result":
                has_result = counted = True
                self._result(block)
            elif kind in ("image", "document"):
                counted = True
        if not is_summary and not has_result and _is_prompt(record, texts):
            self._open_branch(here, parent, key)
            is_prompt = True
        else:
            is_prompt = False
        if counted or any(texts):
            self.messages += 1
            here.message = self.messages
        if here.message is not None and (is_prompt or is_summary):
            self.prompts.append(
                (
                    *(here.record_id, here.record_id, here.message, time_ms, "text", "conversation", 0, 0, 0, 0),
                    *(here.branch, here.epoch, self._ordinals, "user", None, int(is_prompt), int(is_summary), 0),
                    *(None, None, None),
                )
            )

    def _result(self, block: Json) -> None:
        tool_use_id = _text(block.get("tool_use_id")) or ""
        chars = images = 0
        for part in _list(block.get("content")):
            if isinstance(part, str):
                chars += len(part)
            elif isinstance(part, dict):
                if part.get("type") == "image":
                    images += 1
                elif part.get("type") in ("text", None):
                    chars += len(_text(part.get("text")) or "")
        use = self.uses.get(tool_use_id)
        if use is None:
            use = self.uses[tool_use_id] = Use(0, None, None, is_reread=False, result_tokens=0)
        use.result_tokens = -(-chars // 4) + images * IMAGE_TOKENS

    def _system(self, here: Place, record: Json, time_ms: int | None, parent: Key | None, key: Key | None) -> None:
        subtype = record.get("subtype")
        if subtype == "local_command" and _text(record.get("content")):
            self.messages += 1
            here.message = self.messages
        if subtype != "compact_boundary":
            return
        self._open_branch(here, parent, key)
        self.epochs += 1
        here.epoch = self.epochs
        said = record.get("compactMetadata")
        said = said if isinstance(said, dict) else {}
        counts = (said.get(name) for name in ("preTokens", "postTokens", "cumulativeDroppedTokens", "durationMs"))
        self.boundaries.append(
            (
                *(here.record_id, time_ms, _text(said.get("trigger")), *map(_count, counts), None, None, None),
                *(here.epoch, here.branch, 1),
            )
        )

    def _open_branch(self, here: Place, parent: Key | None, key: Key | None) -> None:
        """A prompt or boundary whose parent has one already begins a new branch (D10)."""
        if parent is None and (key is None or not self._is_chained):
            self._openers.add(None)
            return
        if parent in self._openers or self._fetch("status_opener", transcript=self.transcript, uuid=parent):
            self.branch_count += 1
            fork = self._place(parent)
            where = (fork.record_id, fork.branch, fork.response_id) if fork else (None, None, None)
            self.branches.append((self.branch_count, here.branch, int(parent is None), here.record_id, *where))
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
        rows: list[Row] = []
        if name and message is None:
            rows = self._fetch(
                "status_response", transcript=self.transcript, message_id=message_id, request_id=request_id
            )
        for id, stored_message, ordinal, branch, epoch, stored_request, *stored_side in rows:
            if request_id is not None or stored_request is not None:
                message = stored_message
            if stored_request == request_id and (side is None or side == tuple(stored_side)):
                call = Call(id, stored_message or 0, ordinal, branch, epoch)
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

    def _place(self, key: Key | None) -> Place | None:
        if key is None:
            return None
        return self.places.get(key) or self._stored(key)

    def _stored(self, key: Key) -> Place | None:
        for row in self._fetch("session_record", transcript=self.transcript, uuid=key):
            return Place(*row)
        return None


_TOLD = frozenset(("assistant", "user", "system"))


def uuid_key(text: object) -> Key | None:
    """A uuid as the store keeps it: 16 bytes if it is well formed, else the text; None for none."""
    if not isinstance(text, str) or not text:
        return None
    if len(text) == 36 and text[8] == text[13] == text[18] == text[23] == "-":
        try:
            key = bytes.fromhex(text.replace("-", ""))
        except ValueError:
            return text
        return key if len(key) == 16 else text
    return text


def milliseconds(stamp: object) -> int | None:
    """UTC milliseconds of a timestamp as logged; None for anything else."""
    if not isinstance(stamp, str):
        return None
    from datetime import UTC, datetime  # sqlite3 has it loaded

    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return int(moment.timestamp() * 1000 + 0.5)


def _lines(path: str, start: int, *, is_cut: bool) -> Iterator[tuple[int, bytes]]:
    """(offset, line) from `start`, or of the last stretch where there is too much; a last line without an end waits."""
    with open(path, "rb", buffering=0) as file:
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
    try:
        value = loads(state or "{}")
    except ValueError:
        return {}
    threads = value.get("threads") if isinstance(value, dict) else None
    return threads[0] if isinstance(threads, list) and threads and isinstance(threads[0], dict) else {}


def _is_prompt(record: Json, texts: list[str]) -> bool:
    """Whether the texts are a human prompt (D8)."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if record.get("isMeta") is True or kind not in (None, "human"):
        return False
    wrapped = [found[0] for text in texts if (found := wrapper(text)) is not None]
    has_own = any(text.strip() and wrapper(text) is None for text in texts)
    return has_own and (not wrapped or wrapped[0] in BESIDE_A_PROMPT)


def _counts(usage: Json) -> Counts:
    """The counts of a usage object (D1)."""
    nested = usage.get("cache_creation")
    nested = nested if isinstance(nested, dict) else {}
    short, long = (_count(nested.get(f"ephemeral_{age}_input_tokens")) or 0 for age in ("5m", "1h"))
    write = max(_count(usage.get("cache_creation_input_tokens")) or 0, short + long)
    fresh, read = (_count(usage.get(name)) or 0 for name in ("input_tokens", "cache_read_input_tokens"))
    return fresh, read, write, long, _count(usage.get("output_tokens")) or 0


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST_COUNT:
        return None
    return int(value)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _measure(kind: str, part: Any) -> tuple[int, bool, bool]:
    """What `spread` asks of a block: its estimate, whether it is thinking, whether that is empty."""
    from crusts_index.transcript.tokens import code_tokens, prose_tokens, text_tokens

    if isinstance(part, str):
        return text_tokens(part), kind != "text", not part
    import json

    given = json.dumps(part.get("input"), ensure_ascii=False, separators=(",", ":"))
    chars = len(given) + len(_text(part.get("name")) or "") + len(_text(part.get("id")) or "")
    return (code_tokens(chars) if "{" in given else prose_tokens(chars)), False, False


def _size(value: object) -> int:
    """Characters of a JSON value, nearly, and rather too many."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(len(key) + 4 + _size(one) for key, one in value.items())
    return sum(map(_size, value)) + 2 if isinstance(value, list) else 4
