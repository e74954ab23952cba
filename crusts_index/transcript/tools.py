"""Tool uses of a transcript: the use and its result joined, with what came before them in their thread (D13, X-reread)."""

from __future__ import annotations

import re
from hashlib import blake2b

import msgspec

from crusts_index.transcript.categories import AGENT_TOOLS, EDIT_TOOLS, SHELL_TOOLS
from crusts_index.transcript.rows import COLUMNS, Row
from crusts_index.transcript.shapes import Raw, ToolInput, ToolOutcome

LONGEST_TEXT = 2048
"""Characters of a path or command that are kept (D16)."""

_decode_input = msgspec.json.Decoder(ToolInput).decode
_decode_outcome = msgspec.json.Decoder(ToolOutcome).decode
_OWN_COMMAND = re.compile(r"(?:^|[\s;&|/(])(?:claude-)?crusts(?:\s|$)")
_STUB = re.compile(r"\s*(?:<system-reminder>)?\s*File (?:has )?(?:not changed|unchanged)")
_CUT = re.compile(r"<persisted-output>|\[PARTIAL|PARTIAL (?:view|content|file)|\[?(?:\.\.\. )?\[?\d+ (?:lines|characters) truncated")
_CUT_REACH = 400


class ToolUse:
    """One tool use, its result once that is there. Fields are the columns of `tool_uses`, in their order."""

    __slots__ = COLUMNS["tool_uses"]

    def __init__(self, id: int, transcript_id: int, thread_id: int, tool_use_id: str | None) -> None:
        for name in self.__slots__:
            setattr(self, name, None)
        self.id, self.transcript_id, self.thread_id, self.tool_use_id = id, transcript_id, thread_id, tool_use_id
        self.result_chars = self.result_tokens = 0
        self.is_error = self.is_stub = self.is_cut = self.is_own = self.is_copied = self.is_nested = 0

    id: int
    transcript_id: int
    thread_id: int
    tool_use_id: str | None
    name: str | None
    server: str | None
    path: str | None
    read_offset: object
    read_limit: object
    command: str | None
    agent_type: str | None
    agent_id: str | None
    input_hash: int | None
    use_record_id: int | None
    use_ms: int | None
    result_record_id: int | None
    result_ms: int | None
    result_hash: int | None
    result_chars: int
    result_tokens: int
    is_error: int
    is_stub: int
    is_cut: int
    is_own: int
    prior_read_id: int | None
    prior_edit_id: int | None
    is_copied: int
    is_nested: int

    @classmethod
    def of_row(cls, row: Row) -> ToolUse:
        """The tool use that a stored row is."""
        use = cls.__new__(cls)
        for name, value in zip(cls.__slots__, row, strict=True):
            setattr(use, name, value)
        return use

    def row(self) -> Row:
        """Its row."""
        return tuple([getattr(self, name) for name in self.__slots__])

    def begin(self, name: str | None, raw: Raw | None, record_id: int, time_ms: int | None, keep_text: bool) -> None:
        """Take what the tool_use block says."""
        name = name or ""
        self.name, self.use_record_id, self.use_ms = name, record_id, time_ms
        if name.startswith("mcp__"):
            self.server = name[5:].partition("__")[0] or None
        encoded = bytes(raw) if raw is not None else b""
        self.input_hash = hash64(name.encode(), encoded)
        said = _input(raw)
        path = said.file_path or said.notebook_path or (said.path if name == "LS" else None)
        words = said.command or said.pattern or said.url or said.query or said.skill
        if path is not None:
            self.path = path[:LONGEST_TEXT] if keep_text else f"#{hash64(path.encode('utf-8', 'replace')) & (1 << 48) - 1:012x}"
        if words is not None:
            self.is_own = int(name in SHELL_TOOLS and _OWN_COMMAND.search(words) is not None)
            self.command = words[:LONGEST_TEXT] if keep_text else None
        if name == "Read":
            self.read_offset, self.read_limit = _whole(said.offset), _whole(said.limit)
        if name in AGENT_TOOLS:
            self.agent_type = said.subagent_type

    def end(self, texts: list[str], chars: int, tokens: int, is_error: bool, record_id: int, time_ms: int | None) -> None:
        """Take what the tool_result block says; the first one counts."""
        if self.result_record_id is not None:
            return
        self.result_record_id, self.result_ms = record_id, time_ms
        self.result_chars, self.result_tokens, self.is_error = chars, tokens, int(is_error)
        self.result_hash = hash64(*[text.encode("utf-8", "replace") for text in texts])
        if texts:
            head, tail = texts[0][:_CUT_REACH], texts[-1][-_CUT_REACH:]
            self.is_stub = int(chars < 1000 and _STUB.match(head) is not None)
            self.is_cut = int(_CUT.search(head) is not None or _CUT.search(tail) is not None)

    @property
    def is_read(self) -> bool:
        return self.name == "Read" and self.path is not None

    @property
    def is_edit(self) -> bool:
        return self.name in EDIT_TOOLS and self.path is not None


def outcome(raw: Raw | None) -> ToolOutcome:
    """What `toolUseResult` says beyond the result itself; nothing where it is no object."""
    if raw is None or memoryview(raw)[:1] != b"{":
        return ToolOutcome()
    try:
        return _decode_outcome(raw)
    except (msgspec.MsgspecError, RecursionError):
        return ToolOutcome()


def hash64(*parts: bytes) -> int:
    """A 64-bit hash of the parts, signed, as SQLite keeps integers."""
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
        digest.update(b"\0")
    return int.from_bytes(digest.digest(), "big", signed=True)


def _input(raw: Raw | None) -> ToolInput:
    if raw is None or memoryview(raw)[:1] != b"{":
        return ToolInput()
    try:
        return _decode_input(raw)
    except (msgspec.MsgspecError, RecursionError):
        return _patient_input(raw)


def _patient_input(raw: Raw) -> ToolInput:
    """The fields that fit, where another one is of an odd type."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return ToolInput()
    said = ToolInput()
    for field in ToolInput.__struct_fields__:
        part = value.get(field)
        if isinstance(part, str) or (field in ("offset", "limit") and isinstance(part, int | float)):
            setattr(said, field, part)
    return said


def _whole(value: int | float | str | None) -> int | str | None:
    """A whole number where it is one, also from text; else what was logged."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 18 else value[:64]
    if value is None or isinstance(value, bool) or abs(value) >= 2**62:
        return None
    return int(value)
