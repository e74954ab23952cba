"""What the records that announce tools, servers and skills say of each: its name, and its share of the record."""

from __future__ import annotations

from crusts_index.insight.window.toolset import server_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from crusts_index.insight.session.facts import Attachment

    Recorded = Callable[[Iterable[int]], Mapping[int, Mapping[str, Any]]]
    """Gives records by their ids as their transcripts have them, as far as these can be read."""

TOOLS, INSTRUCTIONS, SKILLS = "deferred_tools_delta", "mcp_instructions_delta", "skill_listing"
LISTINGS = (TOOLS, INSTRUCTIONS, SKILLS)


def bodies_of(listed: Iterable[Attachment], recorded: Recorded | None) -> dict[int, Mapping[str, Any]]:
    """What attachments say in full, by their records; empty where the transcript cannot be read."""
    ids = [one.record_id for one in listed]
    records = recorded(ids) if recorded and ids else {}
    bodies = {record_id: records.get(record_id, {}).get("attachment") for record_id in ids}
    return {record_id: body if isinstance(body, dict) else {} for record_id, body in bodies.items()}


def servers_in(one: Attachment, body: Mapping[str, Any]) -> list[tuple[str | None, float]]:
    """The servers whose tools or instructions a record announces, each with its share; None for built-in tools."""
    is_tools = one.type == TOOLS
    key = "addedLines" if is_tools else "addedBlocks"
    found: dict[str | None, float] = {}
    for name, share in shares(one.added, _texts(body.get(key), one.added)):
        server = server_of(name) if is_tools else name
        found[server] = found.get(server, 0.0) + share
    return list(found.items())


def shares(names: Sequence[str], texts: Sequence[str]) -> list[tuple[str, float]]:
    """Each name with the share of all texts that its own is."""
    whole = sum(len(text) + 1 for text in texts)
    return [(name, (len(text) + 1) / whole) for name, text in zip(names, texts, strict=True)]


def _texts(value: object, names: Sequence[str]) -> Sequence[str]:
    """What was said of each of the names; without a text of each, the names themselves."""
    if isinstance(value, list) and len(value) == len(names) and all(isinstance(text, str) for text in value):
        return value
    return names
