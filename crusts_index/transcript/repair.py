"""Makes odd values fit the shapes: an odd field costs that field, not the record (D5)."""

from __future__ import annotations

import re
import types
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from crusts_index.transcript.shapes import Raw, Record, Shape

_SURROGATES = re.compile("[\ud800-\udfff]")
_FLOAT_LIMIT = 2.0**63
_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def clean(value: Any) -> Any:
    """The value with NULs gone and lone surrogates turned into U+FFFD, in keys and texts, at any depth."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, list):
        return [clean(part) for part in value]
    if isinstance(value, dict):
        return {_clean_text(key): clean(part) for key, part in value.items()}
    if isinstance(value, float) and not abs(value) < _FLOAT_LIMIT:
        return None  # infinite, not a number, or beyond any count
    return value


def fit(value: dict[str, Any]) -> Record:
    """The record that a parsed object is, field by field."""
    record = _fit(value, Record)
    assert isinstance(record, Record)
    return record


def has_odd_count(value: dict[str, Any]) -> bool:
    """Whether a count in the record's usage is there and is no finite number (D1)."""
    message = value.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(usage, dict):
        return False
    nested = usage.get("cache_creation")
    counts = [usage.get(name) for name in _COUNTS]
    counts += nested.values() if isinstance(nested, dict) else []
    return any(count is not None and not _is_number(count) for count in counts)


def _is_number(count: Any) -> bool:
    return isinstance(count, int | float) and not isinstance(count, bool) and abs(count) < _FLOAT_LIMIT


def has_nul(raw: Raw) -> bool:
    """Whether raw JSON may hold an escaped NUL."""
    return b"\\u0000" in bytes(raw)


def without_nul(text: str) -> str:
    """The text without NULs: they would end it for all who read the store in C."""
    return text.replace("\0", "") if "\0" in text else text


def _clean_text(text: str) -> str:
    text = without_nul(text)
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _fit(value: Any, wanted: Any) -> Any:
    """`value` as `wanted`, or None where it cannot be that."""
    origin = get_origin(wanted)
    if origin is Union or origin is types.UnionType:
        return next((fitted for kind in get_args(wanted) if (fitted := _fit(value, kind)) is not None), None)
    if origin is list:
        (kind,) = get_args(wanted)
        return (
            [fitted for part in value if (fitted := _fit(part, kind)) is not None] if isinstance(value, list) else None
        )
    if wanted is Raw:
        return None if value is None else Raw(msgspec.json.encode(value))
    if wanted is bool:
        return value if isinstance(value, bool) else None
    if wanted is int:
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if isinstance(wanted, type) and issubclass(wanted, Shape):
        return _fit_shape(value, wanted) if isinstance(value, dict) else None
    return value if isinstance(value, wanted) else None


def _fit_shape(value: dict[str, Any], shape: type[Shape]) -> Shape:
    made = shape()
    for name, key, kind in _fields(shape):
        if value.get(key) is not None:
            setattr(made, name, _fit(value[key], kind))
    return made


@cache
def _fields(shape: type[Shape]) -> list[tuple[str, str, Any]]:
    hints = get_type_hints(shape)
    return [(field.name, field.encode_name, hints[field.name]) for field in msgspec.structs.fields(shape)]
