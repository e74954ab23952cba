"""The two spellings of a field's name: Claude Code writes camelCase, some tools that write transcripts snake_case."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def camel(value: dict[str, Any]) -> dict[str, Any]:
    """The object with its names in camelCase; where both spellings are there, that one holds."""
    others = [name for name in value if "_" in name]
    if not others:
        return value
    return {_camel(name): value[name] for name in others} | {name: value[name] for name in value if "_" not in name}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
