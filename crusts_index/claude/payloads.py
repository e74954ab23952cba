"""What Claude Code writes to the standard input of hooks and status lines, read without ever failing."""

from crusts_index.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` stays off the quick paths
    from typing import Any

_BEGINNING = 4096
_LARGEST_EXACT = 2**53
_LARGEST_WINDOW = 10**9
"""Tokens: more is no window's size, and was not meant as one."""
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_LONGEST_NAME = 4096


class HookPayload:
    """One hook call. A field is None where the payload has no such string."""

    __slots__ = (
        "agent_transcript_path",
        "cwd",
        "hook_event_name",
        "model_id",
        "session_id",
        "transcript_path",
    )

    def __init__(self, fields: "dict[str, Any]") -> None:
        self.session_id = _name(fields.get("session_id"))
        self.transcript_path = _name(fields.get("transcript_path"))
        self.agent_transcript_path = _name(fields.get("agent_transcript_path"))
        self.cwd = _name(fields.get("cwd"))
        self.hook_event_name = _name(fields.get("hook_event_name"))
        model = fields.get("model")
        self.model_id = _name(model.get("id") if isinstance(model, dict) else model)


class StatusPayload:
    """One status line call. Fields are None where the payload does not say, or not believably.

    `window_size` is the size of the context window in tokens, `context_tokens` the input side of the last
    call (input, cache read, cache write), `output_tokens` its output.
    """

    __slots__ = (
        "columns",
        "context_tokens",
        "cost_usd",
        "cwd",
        "model_id",
        "model_name",
        "output_tokens",
        "project_dir",
        "session_id",
        "transcript_path",
        "window_size",
    )

    def __init__(self, fields: "dict[str, Any]") -> None:
        model = _object(fields.get("model"))
        self.session_id = _name(fields.get("session_id"))
        self.transcript_path = _name(fields.get("transcript_path"))
        self.cwd = _name(fields.get("cwd"))
        self.model_id = _name(model.get("id")) or _name(fields.get("model"))
        self.model_name = _name(model.get("display_name"))
        self.project_dir = _name(_object(fields.get("workspace")).get("project_dir"))
        self.cost_usd = _number(_object(fields.get("cost")).get("total_cost_usd"))
        self.columns = _count(fields.get("columns")) or None
        self._read_window(_object(fields.get("context_window")))

    def _read_window(self, window: "dict[str, Any]") -> None:
        self.window_size = _tokens(window.get("context_window_size")) or _tokens(window.get("total_tokens")) or None
        usage = window.get("current_usage")
        said = usage if isinstance(usage, dict) else {"input_tokens": usage}
        # Behind a compaction all are 0 until the next call: not known yet. One part that makes no sense makes no sum.
        parts = [0 if said.get(key) is None else _tokens(said[key]) for key in _INPUT]
        self.context_tokens = None if None in parts else sum(part or 0 for part in parts) or None
        self.output_tokens = None if self.context_tokens is None else _tokens(said.get("output_tokens"))
        # Some versions sent 200,000 for a window that held far more (D10).
        if self.window_size and (self.context_tokens or 0) > self.window_size:
            self.window_size = None


def read_hook(data: bytes) -> HookPayload | None:
    """The hook payload in `data`; None for anything that is not one."""
    fields = _read_object(data)
    if fields is None:
        return None
    payload = HookPayload(fields)
    return payload if payload.session_id or payload.transcript_path or payload.hook_event_name else None


def read_status(data: bytes) -> StatusPayload | None:
    """The status line payload in `data`; None for anything that is not one."""
    fields = _read_object(data)
    if fields is None:
        return None
    payload = StatusPayload(fields)
    known = payload.session_id or payload.transcript_path or payload.model_id or payload.window_size
    return payload if known else None


def _read_object(data: bytes) -> "dict[str, Any] | None":
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = _beginning(text)
    return value if isinstance(value, dict) else None


def _beginning(text: str) -> object:
    """The first members of an object that is cut off, too long or nested too deeply; None where there are none.

    Which session it is about stands first.
    """
    head = text[:_BEGINNING]
    for _ in range(head.count(",") if head.lstrip().startswith("{") else 0):
        head = head[: head.rindex(",")]
        try:
            return loads(head + "}")
        except (ValueError, RecursionError):
            continue
    return None


def _object(value: object) -> "dict[str, Any]":
    return value if isinstance(value, dict) else {}


def _name(value: object) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME or "\0" in value:
        return None
    # Half a surrogate pair can be neither stored nor printed.
    return value.encode("utf-8", "replace").decode("utf-8")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= _LARGEST_EXACT else None  # false for NaN too


def _tokens(value: object) -> int | None:
    count = _count(value)
    return count if count is not None and count <= _LARGEST_WINDOW else None


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)
