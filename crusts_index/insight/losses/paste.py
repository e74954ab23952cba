"""The block to paste after a compaction: decisions, files and facts that are gone and had been used again (D19)."""

from __future__ import annotations

import re

from crusts_index.insight.losses.back import GONE
from crusts_index.insight.losses.items import CONVERSATION, DECISION, FILE_READ, MEASUREMENT, Item
from crusts_index.insight.losses.summary import Rarity, Summary, key_terms
from crusts_index.rows.session import UsedFile
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.insight.losses.taken import Event
    from crusts_index.insight.session.facts import Facts
    from crusts_index.rows import Fetch

MOST = 5
"""Lines of each kind."""
_LONGEST = 240
_TYPED = 1_500  # characters: a longer prompt is mostly pasted
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_HEAD = "The compaction left these out of its summary; they were used again before it:"
_BARE = "The compaction took these; they were used again before it:"  # no summary that it could have left them out of


class _Line(NamedTuple):
    """What to say of a thing, how often it was used again, and its tokens."""

    words: str
    times: int
    tokens: int


def used_files(fetch: Fetch, facts: Facts) -> list[UsedFile]:
    """The files that were read or edited after a compaction in the sessions of the project."""
    return fetch(UsedFile, project=facts.session.project)


def paste_of(facts: Facts, event: Event, used: Iterable[UsedFile]) -> str | None:
    """What to paste after a compaction, None where there is nothing.

    Used again is a file that was read or edited after an earlier compaction of the project, or more than once in the
    window; a decision of the user whose terms came up in a later exchange; a number that was said again.
    """
    gone = [fate.item for fate in event.fates if fate.verdict == GONE]
    if not gone:
        return None
    items = [fate.item for fate in event.fates]
    said = [item for item in items if item.kind == CONVERSATION]
    cut = event.compaction.time_ms
    earlier = [row.path for row in used if cut is None or row.use_ms < cut]
    parts = [
        ("Decisions:", _decisions(gone, said)),
        ("Files, to be read again when they are needed:", _files(facts, gone, items, earlier)),
        ("Facts:", _facts(gone, said, event.summary)),
    ]
    told = [line for head, lines in parts if lines for line in (head, *lines)]
    return "\n".join([_BARE if event.summary.text is None else _HEAD, *told]) if told else None


def _decisions(gone: Sequence[Item], said: Sequence[Item]) -> list[str]:
    rarity = Rarity(item.text for item in said)
    texts = [(item, Summary(item.text)) for item in said]
    found = []
    for item in gone:
        if item.kind != CONVERSATION:
            continue
        typed = (prompt for prompt in item.sayings if len(prompt) <= _TYPED)
        for sentence in (part for prompt in typed for part in _SENTENCES.split(prompt)):
            if DECISION.search(sentence):
                terms = key_terms(sentence)
                times = sum(text.speaks(terms, rarity) is not None for later, text in texts if _is_later(later, item))
                found.append(_Line(f"{_short(sentence)} (message {item.first_message:,})", times, item.tokens))
                break
    return _lines(found)


def _files(facts: Facts, gone: Sequence[Item], items: Sequence[Item], earlier: Sequence[str]) -> list[str]:
    project = facts.session.project.rstrip("/") + "/"
    found = []
    for item in gone:
        if item.kind == FILE_READ and item.path is not None:
            uses = sum(max(1, len(other.uses)) for other in items if other.path == item.path)
            times = uses - 1 + earlier.count(item.path)
            found.append(_Line(item.path.removeprefix(project), times, item.tokens))
    return _lines(found)


def _facts(gone: Sequence[Item], said: Sequence[Item], summary: Summary) -> list[str]:
    found = []
    for item in gone:
        for line in item.text.splitlines() if item.weight is not None and item.kind != FILE_READ else ():
            number = MEASUREMENT.search(line)
            if number is None or number[0] in (summary.text or ""):
                continue
            times = sum(number[0] in later.text for later in said if _is_later(later, item))
            found.append(_Line(f"{_short(line)} (message {item.first_message:,})", times, item.tokens))
            break
    return _lines(found)


def _is_later(other: Item, item: Item) -> bool:
    return other is not item and other.last_message > item.last_message


def _lines(found: list[_Line]) -> list[str]:
    """Those that were used again, the most often used and largest first."""
    again = [line for line in found if line.times]
    again.sort(key=lambda line: (-line.times, -line.tokens))
    return [f"- {line.words}" for line in again[:MOST]]


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"
