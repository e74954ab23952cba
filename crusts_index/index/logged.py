"""What a record as logged says, read from plain JSON: on the quick paths typed decoding is too dear to import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]
    Key = bytes | str
    Counts = tuple[int, int, int, int, int]  # uncached input, cache read, cache write, of it for an hour, output

_LARGEST_COUNT = 2**53


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
    if (usual := _usual_milliseconds(stamp)) is not None:
        return usual
    from datetime import UTC, datetime  # a tenth of a bare start, and nearly all stamps are as usual

    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return int(moment.timestamp() * 1000 + 0.5)


def _usual_milliseconds(stamp: str) -> int | None:
    """Those of `2026-09-01T12:34:56.789Z`, as nearly all are written; None for all others, also for what is no time."""
    date, _, clock = stamp.partition("T")
    parts = [*date.split("-"), *clock[:8].split(":"), clock[9:12]]
    if [*map(len, parts)] != [4, 2, 2, 2, 2, 2, 3] or clock[8:9] + clock[12:] != ".Z":
        return None
    digits = "".join(parts)
    if not (digits.isascii() and digits.isdigit()):
        return None
    year, month, day, hour, minute, second, part = map(int, parts)
    if not (1 <= month <= 12 and year >= 1 and hour < 24 and minute < 60 and second < 60):
        return None
    days = _days_before(year, month)
    if not 1 <= day <= _days_before(year + month // 12, month % 12 + 1) - days:
        return None
    return (((days + day - 1) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + part


def _days_before(year: int, month: int) -> int:
    """Days from 1970 to the first of a month, in years that begin with March: so the odd day is the last."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 - 719_468


def is_prompt(record: Json, texts: list[str]) -> bool:
    """Whether the texts are a human prompt (D8)."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if record.get("isMeta") is True or kind not in (None, "human"):
        return False
    return _says_something(texts)


def is_rendered(record: Json, body: Json) -> bool:
    """Whether an attachment puts text into the context (D7), as transcript.attachments has it."""
    if record.get("rendered") is not None:
        return _holds_text(record["rendered"])
    kind = body["type"]
    if kind.startswith("hook_") or kind == "async_hook_response":
        return _holds_text(body.get("content")) or _holds_text(body.get("blockingError"))
    fields = {
        "queued_command": ("prompt",),
        "file": ("content",),
        "nested_memory": ("content",),
        "prompt_snapshot": (),
        "invoked_skills": ("skills",),
        "task_reminder": ("content",),
        "todo_reminder": ("content",),
    }.get(kind, ("addedLines", "addedBlocks", "snippet", "banner", "text", "content"))
    return any(_holds_text(body.get(field)) for field in fields)


def _holds_text(value: object) -> bool:
    """Whether there is any text, or an image, in a value."""
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, list):
        return any(map(_holds_text, value))
    if isinstance(value, dict):
        if value.get("type") == "image":
            return True
        return any(_holds_text(one) for name, one in value.items() if name not in ("type", "role", "id", "uuid"))
    return False


def is_queued_prompt(body: Json) -> bool:
    """Whether a queued command is a human prompt (D8)."""
    origin = body.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if kind not in (None, "human") or body.get("isMeta") is True or body.get("commandMode") not in (None, "prompt"):
        return False
    parts = list_of(body.get("prompt"))
    texts = [part if isinstance(part, str) else text_of(part.get("text")) or "" for part in parts if part]
    return not any(texts) or _says_something(texts)


def _says_something(texts: list[str]) -> bool:
    from crusts_index.transcript.wrappers import split  # only now: most of what is new are answers and results

    return any(split(text).words for text in texts)


def counts_of(usage: Json) -> Counts:
    """The counts of a usage object (D1)."""
    nested = usage.get("cache_creation")
    nested = nested if isinstance(nested, dict) else {}
    short, long = (count_of(nested.get(f"ephemeral_{age}_input_tokens")) or 0 for age in ("5m", "1h"))
    write = max(count_of(usage.get("cache_creation_input_tokens")) or 0, short + long)
    fresh, read = (count_of(usage.get(name)) or 0 for name in ("input_tokens", "cache_read_input_tokens"))
    return fresh, read, write, long, count_of(usage.get("output_tokens")) or 0


def count_of(value: object) -> int | None:
    """A count, or None for what is none (D1)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST_COUNT:
        return None
    return int(value)


def text_of(value: object) -> str | None:
    """A text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def list_of(value: object) -> list[Any]:
    """The parts of a content: a list's, or the one text; nothing for anything else."""
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []
