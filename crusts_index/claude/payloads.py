"""What Claude Code writes to the standard input of hooks and status lines, read without ever failing."""

from crusts_index.folders import entered_repo
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
_LONGEST_ID = 200
_MOST_PERCENT = 1000
_FIRST_SECOND, _LAST_SECOND = 10**9, 10**10
"""Seconds since 1970 between which a moment may lie: from 2001 on, and no milliseconds."""
LIMITS = ("five_hour", "seven_day")


class Told:
    """What a payload tells that no transcript says: of its session and model, and of the account's limits (D20).

    A field is None where the payload does not say, or not believably. Times are UTC milliseconds.
    """

    __slots__ = (
        "branch",
        "cache_expires_ms",
        "cache_is_expired",
        "cache_ttl",
        "limits",
        "model",
        "pr",
        "repo",
        "session_id",
        "window_tokens",
        "worktree",
        "worktree_of",
    )

    def __init__(self, fields: "dict[str, Any]", session_id: str | None, model: str | None) -> None:
        self.session_id, self.model = _id(session_id), _id(model)
        workspace, tree = _object(fields.get("workspace")), _object(fields.get("worktree"))
        self.window_tokens = _window_size(_object(fields.get("context_window")))
        cache = _object(fields.get("prompt_cache"))
        self.cache_ttl = _ttl(cache.get("ttl"))
        self.cache_expires_ms = _moment(cache.get("expires_at"))
        self.cache_is_expired = fields.get("prompt_cache_likely_expired") is True
        self.repo = _repo(_object(workspace.get("repo")))
        self.worktree = _id(tree.get("name")) or _id(workspace.get("git_worktree"))
        self.worktree_of = entered_repo(_name(tree.get("path")), _name(tree.get("original_cwd")))
        self.branch = _id(tree.get("branch"))
        self.pr = _pull_request(_object(fields.get("pr")))
        self.limits = _limits(_object(fields.get("rate_limits")))

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it tells of a session's model, or of a limit."""
        return bool(self.limits) or None not in (self.session_id, self.model)


class HookPayload:
    """One hook call. A field is None where the payload has no such string.

    Where a session starts, `source` is how; `cache_is_kept`: it is told that the prompt cache is likely there still;
    `context_tokens` are in its window, and `cache_write_usd` is what writing them to a cache would cost.
    """

    __slots__ = (
        "agent_transcript_path",
        "cache_is_kept",
        "cache_write_usd",
        "context_tokens",
        "cwd",
        "hook_event_name",
        "model_id",
        "session_id",
        "source",
        "told",
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
        self.source = _name(fields.get("source"))
        self.cache_is_kept = fields.get("prompt_cache_likely_expired") is False
        self.context_tokens = _tokens(fields.get("context_tokens"))
        self.cache_write_usd = _number(fields.get("estimated_cache_write_usd"))
        self.told = Told(fields, self.session_id, self.model_id)


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
        "told",
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
        self.told = Told(fields, self.session_id, self.model_id)
        self.window_size = self.told.window_tokens
        self.context_tokens, self.output_tokens = read_usage(_object(fields.get("context_window")).get("current_usage"))


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


def _window_size(window: "dict[str, Any]") -> int | None:
    size = _tokens(window.get("context_window_size")) or _tokens(window.get("total_tokens")) or None
    # Some versions sent 200,000 for a window that held far more (D10).
    return size if size and (read_usage(window.get("current_usage"))[0] or 0) <= size else None


def read_usage(usage: object) -> tuple[int | None, int | None]:
    """The input side of a call by its usage, and its output; None for what is not known."""
    said = _object(usage) if isinstance(usage, dict) else {"input_tokens": usage}
    # Behind a compaction all are 0 until the next call: not known yet. One part that makes no sense makes no sum.
    parts = [0 if said.get(key) is None else _tokens(said[key]) for key in _INPUT]
    context = None if None in parts else sum(part or 0 for part in parts) or None
    return context, None if context is None else _tokens(said.get("output_tokens"))


def _ttl(value: object) -> str | None:
    """How long a cache lives: `5m`, `1h`."""
    if isinstance(value, str) and 1 < len(value) < 6 and value.isascii() and value[:-1].isdigit():
        return value if value[-1] in "smhd" else None
    return None


def _moment(value: object) -> int | None:
    """Seconds since 1970 as milliseconds."""
    number = _number(value)
    return int(number * 1000) if number is not None and _FIRST_SECOND <= number < _LAST_SECOND else None


def _repo(said: "dict[str, Any]") -> str | None:
    parts = [_id(said.get(part)) for part in ("host", "owner", "name")]
    return "/".join(filter(None, parts)) if parts[2] else None


def _pull_request(said: "dict[str, Any]") -> str | None:
    number, state = _count(said.get("number")), _id(said.get("review_state"))
    return None if number is None else f"{number} {state}" if state else str(number)


def _limits(said: "dict[str, Any]") -> "list[tuple[str, float, int | None]]":
    """Of each limit that is told: its name, per cent used, and when it begins again."""
    found = []
    for name in LIMITS:
        limit = _object(said.get(name))
        used = _number(limit.get("used_percentage"))
        if used is not None and used <= _MOST_PERCENT:
            found.append((name, used, _moment(limit.get("resets_at"))))
    return found


def _id(value: object) -> str | None:
    """A name of one word."""
    name = _name(value)
    return name if name and len(name) <= _LONGEST_ID and name.isprintable() and " " not in name else None


def _read_object(data: bytes) -> "dict[str, Any] | None":
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = _beginning(text)
    return _object(value) if isinstance(value, dict) else None


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
    """The object with its names in snake_case; where both spellings are there, that one holds."""
    if not isinstance(value, dict):
        return {}
    others = [name for name in value if not name.islower()]
    return {_snake(name): value[name] for name in others} | value if others else value


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


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
