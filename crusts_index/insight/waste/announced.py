"""What MCP servers and skills weigh in every call by being announced, as the window has their listings (D18)."""

from __future__ import annotations

from crusts_index.insight.window.listings import INSTRUCTIONS, LISTINGS, SKILLS, bodies_of, servers_in, shares
from crusts_index.insight.window.toolset import configured_servers, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from crusts_index.insight.session.facts import Attachment, Facts
    from crusts_index.insight.window.listings import Recorded


class Announced:
    """Servers by their names in tools, and skills: tokens (estimated) of the window that only announce them.

    None: it is configured, and what it weighs is not logged. `labels` gives a server's name as its owner knows it.
    """

    def __init__(self, facts: Facts, recorded: Recorded | None) -> None:
        self.servers: dict[str, float | None] = {}
        self.skills: dict[str, float] = {}
        self.labels: dict[str, str] = {}
        tokens: dict[int, int] = {}
        for block in facts.blocks:
            if block.in_window and block.subtype in LISTINGS:
                tokens[block.record_id] = tokens.get(block.record_id, 0) + block.tokens
        listed = [one for one in facts.attachments if tokens.get(one.record_id)]
        bodies = bodies_of(listed, recorded)
        for one in listed:
            self._take(one, bodies[one.record_id], tokens[one.record_id])
        for name in configured_servers(facts.surroundings):
            self.servers.setdefault(spelled(name), None)
            self.labels[spelled(name)] = name

    def _take(self, one: Attachment, body: Mapping[str, Any], tokens: int) -> None:
        if one.type == SKILLS:
            for name, share in shares(*_skills(one.added, body)):
                self.skills[name] = self.skills.get(name, 0.0) + tokens * share
            return
        for server, share in servers_in(one, body):
            if server:
                self.servers[spelled(server)] = (self.servers.get(spelled(server)) or 0.0) + tokens * share
                if one.type == INSTRUCTIONS:
                    self.labels[spelled(server)] = server


def _skills(names: Sequence[str], body: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[str]]:
    """The skills of a listing and what it says of each: a line that begins with its name, and those after it."""
    content = body.get("content")
    parts: list[str] = []
    for line in content.split("\n") if isinstance(content, str) else ():
        if line.startswith("- ") or not parts:
            parts.append(line)
        else:
            parts[-1] += "\n" + line
    parts = [part for part in parts if part.startswith("- ")]
    if not parts:
        return names, names
    known = set(names)
    found = [part[2:].partition("\n")[0] for part in parts]
    # A skill's own name may hold a colon, as those of plugins do.
    return [head if head in known else _before_colon(head) for head in found], parts


def _before_colon(head: str) -> str:
    return head.partition(": ")[0].strip()
