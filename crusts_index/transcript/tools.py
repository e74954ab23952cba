"""Tool uses of a transcript: use and result joined, with what came before them in their thread (D13, X-reread)."""

from __future__ import annotations

from crusts_index.tools import EDITS, READS, RUNS_COMMANDS, STARTS_AGENTS
from crusts_index.transcript.content import Result
from crusts_index.transcript.digest import hash48
from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.past import NoPast, Past, Place
from crusts_index.transcript.repair import fit_raw
from crusts_index.transcript.rows import THREAD_BITS, TOOL_USE_PREFIX, Row, back, cut_prefix, thread_id
from crusts_index.transcript.shapes import Block, Raw, ToolInput, ToolOutcome
from crusts_index.transcript.step import Step
from crusts_index.transcript.words import Words

LONGEST_TEXT = 2048
"""Characters of a path or command that are kept (D16)."""

_decode_input = msgspec.json.Decoder(ToolInput).decode
_decode_outcome = msgspec.json.Decoder(ToolOutcome).decode
_CUT_REACH = 400
_THREAD = (1 << THREAD_BITS) - 1
_LONGEST_STUB = 1000


class ToolUse(msgspec.Struct, gc=False):
    """One tool use, its result once that is there: columns of the view `tool_uses`, in this order."""

    id: int
    transcript_id: int
    thread_id: int
    tool_use_id: str | None
    name: str | None = None
    path: str | None = None
    read_offset: int | str | None = None
    read_limit: int | str | None = None
    command: str | None = None
    agent_type: str | None = None
    agent_id: str | None = None
    resolved_model: str | None = None
    input_hash: int | None = None
    use_record_id: int | None = None
    use_ms: int | None = None
    result_record_id: int | None = None
    result_ms: int | None = None
    result_hash: int | None = None
    result_chars: int = 0
    result_images: int = 0
    is_error: int = 0
    is_stub: int = 0
    is_cut: int = 0
    is_own: int = 0
    prior_read_id: int | None = None
    prior_edit_id: int | None = None
    is_copied: int = 0
    is_nested: int = 0
    use_session: str | None = None
    result_session: str | None = None
    is_result_copied: int = 0


class ToolUses:
    """The tool uses of one transcript."""

    def __init__(self, transcript_id: int, past: Past | None, session: str | None) -> None:
        self._transcript_id, self._session = transcript_id, session
        self._past: Past = past or NoPast()
        self._is_fresh = past is None
        self._known: dict[str, ToolUse] = {}
        self._places: dict[int, Place] = {}
        self._reads: dict[tuple[int, str, object, object], int | None] = {}
        self._edits: dict[tuple[int, str], int | None] = {}
        self.changed: dict[int, ToolUse] = {}
        """Tool uses that the stretch in hand began or ended, by id."""

    def begin(self, step: Step, block_id: int, thread: int, block: Block, raw: bytes, *, is_nested: bool) -> ToolUse:
        """Take a tool_use block with its raw input; the first one of an id counts."""
        use = self._find(block.id)
        if use is not None and use.use_record_id is not None:
            return use
        if use is None:
            use = self._new(block_id, thread, block.id or None)
        use.is_copied = step.is_copied
        if use.result_record_id is not None:
            use.is_result_copied |= step.is_copied
        use.is_nested = 1 if is_nested else 0
        use.use_record_id, use.use_ms = step.id, step.time_ms
        use.use_session = self._foreign(step)
        self._describe(use, block.name or "", raw)
        if not is_nested:
            self._places[use.id] = Place(step.thread, step.branch, step.epoch)
        if use.path is not None:
            self._link(use, use.path)
        self.changed[use.id] = use
        return use

    def end(self, step: Step, block_id: int, thread: int, block: Block, result: Result, *, is_nested: bool) -> ToolUse:
        """Take a tool_result block; the first one of an id counts."""
        use = self._find(block.tool_use_id)
        if use is None:
            use = self._new(block_id, thread, block.tool_use_id or None)
            use.is_copied, use.is_nested = step.is_copied, 1 if is_nested else 0
        if use.result_record_id is None:
            use.result_record_id, use.result_ms = step.id, step.time_ms
            use.result_session = self._foreign(step)
            # A copied result says nothing of itself: it goes with its use (D2).
            use.is_result_copied = step.is_copied | use.is_copied
            use.result_chars, use.result_images = result.chars, result.images
            use.is_error = 1 if block.is_error else 0
            use.result_hash = hash48("\0".join(result.texts).encode("utf-8", "replace"))
            if result.texts:
                _mark_short(use, result)
        if use.name in STARTS_AGENTS and not is_nested:
            outcome = _outcome(step.record.tool_use_result)
            use.agent_id = outcome.agent_id or use.agent_id
            use.resolved_model = outcome.resolved_model or use.resolved_model
        self.changed[use.id] = use
        return use

    def loaded(self, step: Step, result: Result) -> list[str]:
        """Tools whose schemas a ToolSearch result loaded, each once."""
        return list(dict.fromkeys([*result.loaded, *(_outcome(step.record.tool_use_result).matches or ())]))

    def place_of(self, use: ToolUse) -> Place | None:
        """Where the use stands; its result takes the same branch (D10)."""
        found = self._places.get(use.id)
        if found is None and use.use_record_id is not None and not use.is_nested and not self._is_fresh:
            found = self._past.place_at(use.use_record_id)
        return found

    def take(self, words: Words) -> list[Row]:
        """Rows of what the stretch changed; the book goes on with the next one."""
        rows = [_row_of(use, words) for use in self.changed.values()]
        self.changed = {}
        return rows

    def _foreign(self, step: Step) -> str | None:
        """The record's session for rank 4 of D2; None where it is the one that the transcript's place tells."""
        session = step.record.session_id
        return None if session == self._session and session is not None else session or ""

    def _new(self, block_id: int, thread: int, tool_use_id: str | None) -> ToolUse:
        use = ToolUse(block_id, self._transcript_id, thread_id(self._transcript_id, thread), tool_use_id)
        if tool_use_id is not None:
            self._known[tool_use_id] = use
        return use

    def _find(self, tool_use_id: str | None) -> ToolUse | None:
        if not tool_use_id:
            return None
        use = self._known.get(tool_use_id)
        if use is None and not self._is_fresh:
            rows = self._past.tool_uses(tool_use_id)
            if rows:
                use = self._known[tool_use_id] = ToolUse(*rows[0])
        return use

    def _describe(self, use: ToolUse, name: str, raw: bytes) -> None:
        use.name = name
        use.input_hash = hash48(name.encode("utf-8", "replace") + b"\0" + raw)
        said = _input(raw)
        path = said.file_path or said.notebook_path or (said.path if name == "LS" else None)
        words = said.command or said.pattern or said.url or said.query or said.skill
        if path is not None:
            use.path = path[:LONGEST_TEXT]
        if words is not None:
            use.is_own = 1 if name in RUNS_COMMANDS and "crusts" in words and _is_own(words) else 0
            use.command = words[:LONGEST_TEXT]
        if name in READS:
            use.read_offset, use.read_limit = _whole(said.offset), _whole(said.limit)
        elif name in STARTS_AGENTS:
            use.agent_type = said.subagent_type

    def _link(self, use: ToolUse, path: str) -> None:
        """Note what was read and edited before: the same read again without an edit between is a re-read."""
        edit = (use.thread_id, path)
        if use.name in EDITS:
            self._edits[edit] = use.id
        elif use.name in READS:
            read = (use.thread_id, path, use.read_offset, use.read_limit)
            use.prior_read_id = self._reads[read] if read in self._reads else self._past.prior_read(*read)
            self._reads[read] = use.id
            if edit not in self._edits:
                self._edits[edit] = self._past.prior_edit(*edit)
            use.prior_edit_id = self._edits[edit]


def _row_of(use: ToolUse, words: Words) -> Row:
    """Its row of `stored_tool_uses`; who owns it and its result is settled over all transcripts."""
    here, record = use.id, use.result_record_id
    return (
        here,
        use.thread_id & _THREAD,
        cut_prefix(use.tool_use_id, TOOL_USE_PREFIX),
        words[use.name],
        use.path,
        use.read_offset,
        use.read_limit,
        use.command,
        words[use.agent_type],
        use.agent_id,
        words[use.resolved_model],
        use.input_hash,
        back(here, use.use_record_id),
        use.use_ms,
        None if record is None else record - here,
        None if use.result_ms is None else use.result_ms - (use.use_ms or 0),
        use.result_hash,
        use.result_chars,
        use.result_images,
        use.is_error
        | use.is_stub << 1
        | use.is_cut << 2
        | use.is_own << 3
        | use.is_copied << 4
        | use.is_nested << 5
        | use.is_result_copied << 6,
        back(here, use.prior_read_id),
        back(here, use.prior_edit_id),
        words[use.use_session],
        words[use.result_session],
    )


def _is_own(command: str) -> bool:
    from crusts_index.transcript.patterns import OWN_COMMAND

    return OWN_COMMAND.search(command) is not None


def _is_stub(text: str) -> bool:
    from crusts_index.transcript.patterns import STUB

    return STUB.match(text) is not None


def _mark_short(use: ToolUse, result: Result) -> None:
    first = result.texts[0]
    if result.chars < _LONGEST_STUB and "File " in first and _is_stub(first):
        use.is_stub = 1
    is_short = result.chars == len(first) <= _CUT_REACH
    ends = first if is_short else first[:_CUT_REACH] + "\n" + result.texts[-1][-_CUT_REACH:]
    if "<persisted-output>" in ends or "PARTIAL" in ends or "truncated" in ends:
        use.is_cut = 1


def _outcome(raw: Raw) -> ToolOutcome:
    """What `toolUseResult` says beyond the result itself; nothing where it is no object."""
    if bytes(memoryview(raw)[:1]) != b"{":
        return ToolOutcome()
    try:
        return _decode_outcome(raw)
    except msgspec.MsgspecError:
        return fit_raw(raw, ToolOutcome) or ToolOutcome()


def _input(raw: bytes) -> ToolInput:
    if raw[:1] != b"{":
        return ToolInput()
    try:
        return _decode_input(raw)
    except msgspec.MsgspecError:
        return _patient_input(raw)


def _patient_input(raw: bytes) -> ToolInput:
    """The fields that fit, where another one is of an odd type."""
    try:
        value = msgspec.json.decode(raw)
    except msgspec.MsgspecError:  # a number beyond all
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
