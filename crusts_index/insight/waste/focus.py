"""The one builder of `/compact focus "…"`, so that every command says the same of the same session."""

from __future__ import annotations

from crusts_index.insight.session.mentions import base_name, short_names
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.waste.find import WasteItem

CLAUSES = 3
PLAIN = "/compact"


class Focus(NamedTuple):
    """A command to paste, the tokens (estimated) of the waste items that it names, and how many these are."""

    command: str
    tokens: int
    items: int


def compact_focus(waste: Sequence[WasteItem]) -> Focus | None:
    """`/compact focus "…"` for the worst three things in the window; None if there is nothing to name.

    `waste` in the order of `find_waste`. Only high and medium items count, each thing is named once.
    """
    named = [item for item in waste if item.severity in ("high", "medium") and item.is_counted]
    names = short_names(item.path for item in named if item.path)
    clauses: list[str] = []
    tokens = items = 0
    for item in named:
        clause = _clause(item, names)
        if not clause or (clause not in clauses and len(clauses) == CLAUSES):
            continue
        if clause not in clauses:
            clauses.append(clause)
        tokens += item.estimated_tokens
        items += 1
    if not clauses:
        return None
    return Focus(f'{PLAIN} focus "{"; ".join(clauses)}"', tokens, items)


def _clause(item: WasteItem, names: dict[str, str]) -> str:
    if item.type == "resolved_exchange" and item.message_range is not None:
        first, last = item.message_range
        return f"drop resolved exchange at messages #{first}-{last}"
    name = _quoted(names[item.path]) if item.path and base_name(item.path) else ""
    if name and item.type == "duplicate_read":
        return f"keep only latest read of {name}"
    if name and item.type == "stale_read":
        return f"drop stale read of {name}"
    return ""


def _quoted(name: str) -> str:
    """A name fit to stand between double quotes on one line, nothing invisible in it."""
    visible = "".join(char if char.isprintable() else " " for char in name)
    return " ".join(visible.split()).replace("\\", "\\\\").replace('"', '\\"')
