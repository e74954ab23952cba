"""Makes odd values fit the shapes: an odd field costs that field, not the record (D5)."""

from __future__ import annotations

import types
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.shapes import Raw, Record, Shape

S = TypeVar("S", bound=Shape)
_FLOAT_LIMIT = 2.0**63
_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def clean(value: Any) -> Any:
    """The value with NULs gone and lone surrogates turned into U+FFFD, in keys and texts, at any depth.

    What holds others is changed in place.
    """
    waiting: list[Any] = [box := [value]]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not all(_is_clean(key) for key in part):
                renamed = {_clean_text(key): inner for key, inner in part.items()}
                part.clear()
                part.update(renamed)
            places: Any = part.items()
        else:
            places = enumerate(part)
        for place, inner in places:
            if isinstance(inner, str):
                part[place] = _clean_text(inner)
            elif isinstance(inner, dict | list):
                waiting.append(inner)
            elif isinstance(inner, float) and not abs(inner) < _FLOAT_LIMIT:
                part[place] = None  # infinite, not a number, or beyond any count
    return box[0]


def fit(value: dict[str, Any]) -> Record:
    """The record that a parsed object is, field by field."""
    record = _fit(value, Record)
    assert isinstance(record, Record)
    return record


def fit_raw(raw: Raw, shape: type[S]) -> S | None:
    """Raw JSON as a shape, field by field; None where it is no object."""
    try:
        value = msgspec.json.decode(raw)
    except msgspec.MsgspecError:
        return None
    return fit_value(value, shape)


def fit_value(value: Any, shape: type[S]) -> S | None:
    """A parsed value as a shape, field by field; None where it is no object."""
    fitted = _fit(value, shape)
    return fitted if isinstance(fitted, shape) else None


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


def _is_clean(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return False
    return True


def _clean_text(text: str) -> str:
    if _is_clean(text):
        return text
    from crusts_index.transcript.patterns import SURROGATES

    return SURROGATES.sub("\ufffd", text.replace("\0", ""))


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
        part = value.get(key)
        if part is None:
            part = value.get(name)  # the same in snake_case
        if part is not None:
            setattr(made, name, _fit(part, kind))
    return made


@cache
def _fields(shape: type[Shape]) -> list[tuple[str, str, Any]]:
    hints = get_type_hints(shape)
    fields = msgspec.structs.fields(shape)
    return [
        (field.name, field.encode_name, hint) for field in fields if (hint := hints[field.name]) is not types.NoneType
    ]
