"""Reads and writes JSON on the quick paths: the standard library's own decoder and encoder in C, without `re`, which
`json` brings along and whose import costs half an interpreter start."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANK = " \t\r\n"
MOST_DEPTH = 300
"""Lists and objects in each other; what people and programs write has ten, and encoders bear three times as many."""
TOO_DEEP = "nested too deeply"


class _Rules:
    """What the decoder is to do, by the names it asks for: as `json.loads`, control characters let through."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


def _make_decoder() -> "Callable[[str, int], tuple[object, int]] | None":
    try:
        from _json import make_scanner

        scan: Callable[[str, int], tuple[object, int]] = make_scanner(_Rules)  # type: ignore[arg-type]
        return scan if scan('{"a": [1]}', 0) == ({"a": [1]}, 10) else None
    except Exception:  # another interpreter, or another way of its decoder
        return None


def _make_encoder() -> "Callable[[object, int], tuple[str, ...]] | None":
    try:
        from _json import encode_basestring, make_encoder

        encode: Callable[[object, int], tuple[str, ...]] = make_encoder(
            *(None, _refuse, encode_basestring, None, ":", ",", False, False, True)
        )
        return encode if "".join(encode({"ä": [1.5, None]}, 0)) == '{"ä":[1.5,null]}' else None
    except Exception:  # another interpreter, or another way of its encoder
        return None


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} has no JSON")


_scan = None if "json" in sys.modules else _make_decoder()


def loads(text: str) -> "Any":
    """The value in a JSON text, as `json.loads(text, strict=False)`. Raises ValueError or RecursionError."""
    if _scan is not None:
        start = len(text) - len(text.lstrip(_BLANK))
        try:
            value, end = _scan(text, start)
            if not text[end:].strip(_BLANK):
                return value
        except StopIteration:
            pass
        except SystemError:  # it cannot say what is wrong without `json`
            pass
    import json

    return json.loads(text, strict=False)


def loads_shallow(text: str) -> "Any":
    """The same for files and payloads that others write: ValueError too for what is nested beyond MOST_DEPTH.

    No walk over what it returns, and no encoder, can run out of stack.
    """
    try:
        value = loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if is_deep(value):
        raise ValueError(TOO_DEEP)
    return value


def is_deep(value: object) -> bool:
    """Whether lists and objects stand in each other more than MOST_DEPTH deep."""
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            part
            for outer in level
            if isinstance(outer, (dict, list))
            for part in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(part, (dict, list))
        ]
        if not level:
            return False
    return True


def dumps(value: object) -> str:
    """Compact JSON, as `json.dumps(value, ensure_ascii=False, separators=(",", ":"))`. Raises TypeError."""
    encode = None if "json" in sys.modules else _make_encoder()
    if encode is not None:
        return "".join(encode(value, 0))
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
