"""What stands in a transcript behind all that the store has of it: as much as tells whether a payload is of its last
call. Nothing is judged by it: where it might change more, the transcript is to be indexed."""

import os

from crusts_index.claude.payloads import read_usage
from crusts_index.jsontext import loads
from crusts_index.regular import open_regular
from crusts_index.tuples import NamedTuple

MOST_BYTES = 1 << 20
"""New bytes that are looked through; more are worth an index."""
MUCH_BYTES = 3_500
"""A line of a result that may cost much is not shorter."""
_ELSEWHERE = (b"compact_boundary", b'"last-prompt"', b'"isSidechain":true', b'"isSidechain": true')
"""What may make another branch or epoch the live one, and what no other command counts as a call."""


class Ahead(NamedTuple):
    """A call that the store does not have: its context in tokens, its time as logged, whether a cache was used."""

    context: int
    stamp: str
    is_cached: bool


def calls_ahead(path: str, offset: int, *, with_results: bool) -> list[Ahead] | None:
    """The calls behind the offset, each once, in log order.

    None where a boundary, a prompt, a line of another thread or, `with_results`, a large result stands there, and where
    what was read is no longer there.
    """
    try:
        with open_regular(path, buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if not 0 < offset <= size <= offset + MOST_BYTES:
                return None
            file.seek(offset - 1)
            new = file.read(size - offset + 1)
    except OSError:
        return None
    if new[:1] != b"\n" or any(sign in new for sign in _ELSEWHERE):
        return None
    calls: dict[str, Ahead] = {}
    for line in new.split(b"\n")[1:-1]:  # the last one has no end yet
        if b'"tool_use_id"' in line:
            if with_results and len(line) >= MUCH_BYTES:
                return None
        elif b'"user"' in line or (b'"usage"' in line and not _take(line, calls)):
            return None
    return list(calls.values())


def _take(line: bytes, calls: dict[str, Ahead]) -> bool:
    """Note the call of a line; False where the line makes no sense here."""
    try:
        record = loads(line.decode())
        message = record["message"]
        context = read_usage(message["usage"])[0]
        if context:
            is_cached = context > (read_usage(message["usage"].get("input_tokens"))[0] or 0)
            calls[message["id"]] = Ahead(context, record["timestamp"], is_cached)
        return record["type"] == "assistant" and isinstance(message["id"], str)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False
