"""A result as JSON: one object with its schema version, safe to show and free of NaN."""

import math
from collections.abc import Mapping, Sequence

from crusts_index.jsontext import dumps
from crusts_index.plain import Safe, escaped

SCHEMA_VERSION = 1


def encode(value: Mapping[str, object], *, indent: bool) -> Safe:
    """One JSON object that begins with `schema_version`; two-space indent or compact. Unknown is null."""
    document = {"schema_version": SCHEMA_VERSION, **value}
    return encode_plain(document, indent=indent)


def encode_plain(value: object, *, indent: bool = False) -> Safe:
    """The same for any value, and nothing added to it."""
    if not indent:
        return escaped(dumps(finite(value)))
    import json

    return escaped(json.dumps(finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def records(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[dict[str, object]]:
    """Rows as objects with the columns as keys."""
    return [dict(zip(columns, row, strict=True)) for row in rows]


def dollars(value: float | None) -> float | None:
    """USD as JSON has them everywhere: to six decimals, null for unknown."""
    return rounded(value, 6)


def rounded(value: float | None, digits: int) -> float | None:
    """A number to so many decimals, null for unknown."""
    return None if value is None else round(value, digits)


def finite(value: object) -> object:
    """The same value with null for every number that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
