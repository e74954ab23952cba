"""Where a window speaks of what it was given: prompts, answers, summaries, and the inputs of tools (D13)."""

from __future__ import annotations

import re

from crusts_index.insight.session.mentions import base_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from crusts_index.insight.session.facts import Block, Facts

_MOST_PARTS = 16
"""Folders by which a relative path is told to be the end of another."""
_LONGEST_PATH = 4_096
_MOST_LOOKS = 1_000_000
_MOST_REACH = 1 << 31
"""Places and characters that are looked at for names; what would take more is taken for spoken of."""
_SPOKEN = frozenset(("text", "thinking"))
_WORD = re.compile(r"[A-Za-z0-9_$]{4,}")
_LEAST_IDENTIFIER = 5
_ENOUGH = 2
"""Identifiers that show that a text is made use of."""
_MOST_PLAIN = 6
"""Letters up to which a name without its extension may be any word."""
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]")


class Mentions:
    """What the window's messages say in log order, to be searched from a block on.

    `records`: the window's records as their transcripts have them, as far as these can be read. `is_known` is False if
    no text at all was kept.
    """

    def __init__(self, facts: Facts, records: Mapping[int, Mapping[str, Any]]) -> None:
        self._records = records
        self._places: dict[int, int] = {}
        self._whole: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._looks, self._reach = _MOST_LOOKS, _MOST_REACH
        self._first_seen: dict[str, int] = {}
        self._last_said: dict[str, int] = {}
        self._inputs: dict[int, set[str]] = {}
        self._words: dict[int, set[str]] = {}
        self._given: dict[tuple[int, str | None], set[str]] = {}
        self._starts: list[int] = []
        self._text = ""
        self.is_known = False
        self._gather(facts)

    def _gather(self, facts: Facts) -> None:
        texts, uses = facts.texts(), {use.id: use for use in facts.tool_uses}
        pieces: list[str] = []
        length = 0
        record_id = -1
        for block in facts.blocks:
            if not block.in_window:
                continue
            spoken = _is_spoken(block)
            said = texts.get(block.id) if spoken else None
            self.is_known = self.is_known or said is not None
            if block.record_id != record_id:
                record_id = block.record_id
                self._places[record_id] = len(self._starts)
                self._starts.append(length)
                record = self._records.get(record_id)
                if record is not None:
                    piece = self._learn(record, block, len(self._starts) - 1)
                    pieces.append(piece)
                    length += len(piece) + 1
            place = len(self._starts) - 1
            if block.kind == "tool_use" and block.tool_use_row in uses:
                use = uses[block.tool_use_row]
                said = use.command
                if use.path:
                    self._note_path(use.path, place)
            if said and block.record_id not in self._records:
                pieces.append(said)
                length += len(said) + 1
        self._text = "\n".join(pieces)

    def _learn(self, record: Mapping[str, Any], block: Block, place: int) -> str:
        """Take in a record's words; what it says, paths of tools apart."""
        said, inputs, given = _parts_of(record, is_spoken=_is_spoken(block))
        spoken = _words_of("\n".join((*said, *inputs)))
        every = self._words[place] = set(spoken)
        self._last_said.update(dict.fromkeys(spoken, place))
        if inputs:
            self._inputs.setdefault(block.message, set()).update(_words_of("\n".join(inputs)))
        for tool_use_id, text in given:
            words = _words_of(text)
            self._given.setdefault((place, tool_use_id), set()).update(words)
            every |= words
        for word in every:
            self._first_seen.setdefault(word, place)
        for text in filter(_is_path, inputs):
            self._note_path(text, place)
        return "\n".join((*said, *(text for text in inputs if not _is_path(text))))

    def _note_path(self, path: str, place: int) -> None:
        whole = _normal(path)
        self._whole[whole] = place
        self._ends.update(dict.fromkeys(_ends(whole), place))

    def names(self, path: str, after: Block) -> bool:
        """Whether anything behind the block speaks of the file: its bare name in words, the file itself in a path.

        A name is also known without its extension where no plain word can be meant.
        """
        start = self._places.get(after.record_id, 0)
        normal = _normal(path)
        if self._ends.get(normal, -1) > start or any(self._whole.get(end, -1) > start for end in _ends(normal)):
            return True
        name = base_name(path)
        if not name:
            return True  # a path without a name cannot be told not to be spoken of
        at = self._starts[start + 1] if start + 1 < len(self._starts) else len(self._text)
        stem = name.rpartition(".")[0]
        return self._last_of(name) >= at or (_is_distinct(stem) and self._last_of(stem) >= at)

    def uses_words(self, block: Block, tool_use_id: str | None) -> bool | None:
        """Whether two identifiers first seen in a result are said behind it; None where its text is not there."""
        place = self._places.get(block.record_id, 0)
        words = self._given.get((place, tool_use_id))
        return None if words is None else self._are_said(words, {place}, place)

    def speaks_of(self, blocks: Iterable[Block], after: Block) -> bool | None:
        """Whether two identifiers first seen in any of the blocks are said behind `after`; None as above."""
        places = {self._places[block.record_id] for block in blocks}
        if not places <= self._words.keys():
            return None
        words = {word for place in places for word in self._words[place]}
        return self._are_said(words, places, self._places[after.record_id])

    def _are_said(self, words: Iterable[str], places: set[int], after: int) -> bool:
        own = (word for word in words if _is_identifier(word) and self._first_seen.get(word) in places)
        return sum(self._last_said.get(word, -1) > after for word in own) >= _ENOUGH

    def is_taken_up(self, block: Block, tool_use_id: str | None, messages: Iterable[int]) -> bool | None:
        """Whether a word first seen in a result stands in the tools' inputs of these messages; None as above."""
        place = self._places.get(block.record_id, 0)
        words = self._given.get((place, tool_use_id))
        if words is None:
            return None
        own = {word for word in words if self._first_seen.get(word) == place}
        return any(not own.isdisjoint(self._inputs.get(number, ())) for number in messages)

    def _last_of(self, name: str) -> int:
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


def _parts_of(
    record: Mapping[str, Any], *, is_spoken: bool
) -> tuple[list[str], list[str], list[tuple[str | None, str]]]:
    """What a record says in words, in the inputs of tools, and what it was given: (tool use, text)."""
    said: list[str] = []
    inputs: list[str] = []
    given: list[tuple[str | None, str]] = []
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else record.get("attachment")
    if not isinstance(message, dict):
        texts = _strings(content)
        if is_spoken:
            said += texts
        else:
            given.append((None, "\n".join(texts)))
        return said, inputs, given
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        if not isinstance(part, dict):
            continue
        kind = part.get("type")
        if kind == "tool_use":
            inputs += _strings(part.get("input"))
        elif kind == "tool_result":
            named = part.get("tool_use_id")
            given.append((named if isinstance(named, str) else None, "\n".join(_strings(part.get("content")))))
        else:
            text = part.get("text") or part.get("thinking")
            if isinstance(text, str):
                if is_spoken:
                    said.append(text)
                else:
                    given.append((None, text))
    return said, inputs, given


def _strings(value: object) -> list[str]:
    """All texts in a value, however deep."""
    found: list[str] = []
    level = [value]
    while level:
        one = level.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            level.extend(each for key, each in one.items() if key not in ("data", "signature"))
        elif isinstance(one, list):
            level.extend(one)
    return found


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _is_path(text: str) -> bool:
    """Whether an input is a path and nothing else: which file of a name is meant is told by it as a whole."""
    return len(text) <= _LONGEST_PATH and ("/" in text or "\\" in text) and not any(char.isspace() for char in text)


def _is_identifier(word: str) -> bool:
    """Whether a word is of a program rather than of a language."""
    if len(word) < _LEAST_IDENTIFIER:
        return False
    if "_" in word.strip("_") or _INNER_CAPITAL.search(word):
        return True
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in word)


def _is_distinct(stem: str) -> bool:
    """Whether a file's name without its extension can be no plain word."""
    if len(stem) <= _MOST_PLAIN:
        return False
    return any(char in stem for char in "-_.") or any(char.isupper() for char in stem[1:])
