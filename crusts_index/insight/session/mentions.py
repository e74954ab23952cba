"""Where the text that is kept speaks of a file: prompts, answers, summaries, tool paths and commands (D13)."""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crusts_index.insight.session.facts import Block, Facts

_MOST_PARTS = 16
"""Folders by which a relative path is told to be the end of another."""
_MOST_LOOKS = 1_000_000
_MOST_REACH = 1 << 31
"""Places and characters that are looked at for names; what would take more is taken for spoken of."""
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
        self._whole: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._looks, self._reach = _MOST_LOOKS, _MOST_REACH
        for place, block in enumerate(facts.blocks):
            if not block.in_window:
                continue
            self._start[block.id] = place, length
            said: str | None = None
            if block.kind == "tool_use" and block.tool_use_row in uses:
                use = uses[block.tool_use_row]
                said = use.command
                if use.path:
                    whole = _normal(use.path)
                    self._whole[whole] = place
                    self._ends.update(dict.fromkeys(_ends(whole), place))
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
        normal = _normal(path)
        if self._ends.get(normal, -1) > start or any(self._whole.get(end, -1) > start for end in _ends(normal)):
            return True
        name = base_name(path)
        # A path without a name cannot be told not to be spoken of.
        return not name or self._last_said(name) >= at

    def _last_said(self, name: str) -> int:
        """Where the text says a name last, as a word of its own; -1 nowhere, its end where that takes long to tell."""
        known = self._last.get(name)
        if known is None:
            known, text, at = -1, self._text, 0
            while self._looks and (found := text.find(name, at)) >= 0:
                self._looks -= 1
                at = found + len(name)
                if _stands_alone(text[found - 1 : found], text[at : at + 1], text[at + 1 : at + 2]):
                    known = found
            self._reach -= len(text)
            if not self._looks or self._reach < 0:
                known, self._looks = len(text), 0
            self._last[name] = known
        return known


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """The last part of each path, with the folder before it where another path ends in the same."""
    named = {path: base_name(path) for path in paths}
    counts = Counter(named.values())
    return {
        path: name if counts[name] == 1 else "/".join(path.replace("\\", "/").split("/")[-2:])
        for path, name in named.items()
    }


def _is_spoken(block: Block) -> bool:
    if block.is_prompt or block.is_summary:
        return True
    return block.record_type == "assistant" and block.kind in _SPOKEN


def _normal(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _ends(path: str) -> Iterator[str]:
    """The path, and what stands behind its last slashes: if one path ends in the other, both can be of one file."""
    yield path
    at = len(path)
    for _ in range(_MOST_PARTS):
        at = path.rfind("/", 0, at)
        if at < 0:
            return
        yield path[at + 1 :]


def _stands_alone(before: str, after: str, beyond: str) -> bool:
    """Whether a name found in text is a word of its own: `a.py` is in neither `data.py` nor `a.pyc`."""
    if before.isalnum() or before in ("_", "-", "."):
        return False
    if after.isalnum() or after in ("_", "-"):
        return False
    return not (after == "." and beyond.isalnum())
