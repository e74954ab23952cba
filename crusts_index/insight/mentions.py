"""Where the text that is kept speaks of a file: prompts, answers, summaries, tool paths and commands (D13)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from crusts_index.insight.facts import Block, Facts

_SPOKEN = frozenset(("text", "thinking"))


class Mentions:
    """The window's text in log order, to be searched from a block on. `is_known` is False if no text was kept."""

    def __init__(self, facts: Facts) -> None:
        texts = facts.texts()
        uses = {use.id: use for use in facts.tool_uses}
        pieces: list[str] = []
        length = 0
        self.is_known = False
        self._start: dict[int, tuple[int, int]] = {}
        self._paths: dict[str, list[tuple[int, str]]] = {}
        for place, block in enumerate(facts.blocks):
            if not block.in_window:
                continue
            self._start[block.id] = place, length
            said: str | None = None
            if block.kind == "tool_use" and block.tool_use_row in uses:
                use = uses[block.tool_use_row]
                said = use.command
                if use.path:
                    self._paths.setdefault(base_name(use.path), []).append((place, use.path))
            elif _is_spoken(block):
                said = texts.get(block.id)
                self.is_known = self.is_known or said is not None
            if said:
                pieces.append(said)
                length += len(said) + 1
        self._text = "\n".join(pieces)

    def has(self, path: str, after: Block) -> bool:
        """Whether anything behind the block speaks of the file: its bare name in words, the file itself in a path."""
        start, at = self._start.get(after.id, (0, 0))
        name = base_name(path)
        if any(place > start and _is_same(path, other) for place, other in self._paths.get(name, ())):
            return True
        text = self._text
        while name:
            at = text.find(name, at)
            if at < 0:
                return False
            end = at + len(name)
            if _stands_alone(text[at - 1 : at], text[end : end + 1], text[end + 1 : end + 2]):
                return True
            at = end
        return True  # a path without a name cannot be told not to be spoken of


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def short_name(path: str, others: Collection[str]) -> str:
    """The last part of a path, with the folder before it where another path ends in the same."""
    name = base_name(path)
    if all(other == path or base_name(other) != name for other in others):
        return name
    return "/".join(path.replace("\\", "/").split("/")[-2:])


def _is_spoken(block: Block) -> bool:
    if block.is_prompt or block.is_summary:
        return True
    return block.record_type == "assistant" and block.kind in _SPOKEN


def _is_same(path: str, other: str) -> bool:
    """Whether two paths can be of one file: equal, or one the end of the other."""
    long, short = sorted((path.replace("\\", "/"), other.replace("\\", "/").removeprefix("./")), key=len, reverse=True)
    return long == short or long.endswith(f"/{short.removeprefix('./')}")


def _stands_alone(before: str, after: str, beyond: str) -> bool:
    """Whether a name found in text is a word of its own: `a.py` is in neither `data.py` nor `a.pyc`."""
    if before.isalnum() or before in ("_", "-", "."):
        return False
    if after.isalnum() or after in ("_", "-"):
        return False
    return not (after == "." and beyond.isalnum())
