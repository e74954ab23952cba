"""The transcripts that a session's own view shows, with their numbers made to run on over them (D3)."""

from __future__ import annotations

from crusts_index.insight.session.path import Fork
from crusts_index.jsontext import loads
from crusts_index.rows.session import SessionFirst, SessionToolUse
from crusts_index.rows.window import (
    SessionBlock,
    SessionBoundary,
    SessionBranch,
    SessionCall,
    SessionEnd,
    SessionLeaf,
    SessionRecord,
)
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from crusts_index.rows import Fetch
    from crusts_index.rows.session import SessionAttachment, SessionLoad
    from crusts_index.rows.window import SessionPart, SessionRemoval

    Beside = TypeVar("Beside", SessionAttachment, SessionLoad, SessionRemoval)


class Place(NamedTuple):
    """A record, and the branch and epoch it stands in; both run on over the parts."""

    record_id: int
    branch: int
    epoch: int


class Part:
    """One transcript of the session. What it gives are rows up to the cut."""

    def __init__(self, fetch: Fetch, head: SessionPart) -> None:
        self.transcript = head.id
        self.last_ms = head.last_ms
        self.cut: int | None = None  # the last record that counts, None = all
        self.until: int | None = None  # the last message that counts, in its own numbers
        self.base = self.calls_base = self._branch_base = self._epoch_base = self._first_epoch = 0
        self.messages = 0
        self.end: Place | None = None
        self.forks: dict[int, Fork] = {}
        self._calls = fetch(SessionCall, transcript=self.transcript)
        self._branches = fetch(SessionBranch, transcript=self.transcript)
        self._boundaries = fetch(SessionBoundary, transcript=self.transcript)
        self._last = fetch(SessionEnd, transcript=self.transcript, message=None)

    def follow(self, fetch: Fetch, before: list[Part]) -> None:
        """Number on after the parts before, and find out where this one goes on from (D3, D10)."""
        if before:
            last = before[-1]
            self.base, self.calls_base = last.base + last.messages, last.calls_base + last.ordinals
            self._branch_base, self._epoch_base = last.last_branch + 1, last.last_epoch
        link = self._link(fetch, before) if before else None
        if before and link is None:
            self._epoch_base += 1
        self._first_epoch = link.epoch if link else self._epoch_base
        if link is not None:
            self.forks[self._branch_base] = Fork(link.branch, link.record_id)
        self.forks.update((self.branch(row.branch), fork_of(row, self._branch_base)) for row in self._branches)
        if self._last:
            self.messages = self._last[0].message
        self._find_end()

    def begins_amid(self, fetch: Fetch) -> bool:
        """Whether its first message follows one that stands nowhere: then what came before is not known."""
        first = fetch(SessionFirst, transcript=self.transcript)
        if not first or first[0].parent_uuid is None:
            return False
        return not fetch(SessionRecord, transcript=self.transcript, uuid=first[0].parent_uuid)

    def _link(self, fetch: Fetch, before: list[Part]) -> Place | None:
        first = fetch(SessionFirst, transcript=self.transcript)
        if not first or first[0].parent_uuid is None:
            return None
        for part in reversed(before):
            for row in fetch(SessionRecord, transcript=part.transcript, uuid=first[0].parent_uuid):
                return part.place(row)
        return next((part.end for part in reversed(before) if part.end is not None), None)

    def _find_end(self) -> None:
        """The last message, or a boundary behind it."""
        ends = [*map(self.place, self._last), *map(self.place, self.boundaries())]
        self.end = max(ends, default=None)

    def cut_at(self, fetch: Fetch, until: int) -> None:
        """Let the part end with a message, `until` being its number in the session."""
        self.until = until - self.base
        self._last = fetch(SessionEnd, transcript=self.transcript, message=self.until)
        self.messages = self.until
        if self._last:
            self.cut, self.last_ms = self._last[0].id, self._last[0].last_ms
            self._find_end()

    def kept(self, rows: list[Beside]) -> list[Beside]:
        """Those of rows that are of its messages or stand before the cut."""
        if self.until is None or self.cut is None:
            return rows
        until, cut = self.until, self.cut
        return [row for row in rows if (row.record_id < cut if row.message is None else row.message <= until)]

    @property
    def last_branch(self) -> int:
        """The highest number of its branches."""
        return self.branch(max((row.branch for row in self._branches), default=0))

    @property
    def last_epoch(self) -> int:
        """The highest number of its epochs, not below those of the parts before."""
        return max(self._epoch_base, *(self.epoch(row.epoch) for row in self._boundaries), self._first_epoch)

    @property
    def ordinals(self) -> int:
        """How many responses the main thread began."""
        return max((row.ordinal for row in self._calls), default=0)

    def branch(self, number: int) -> int:
        """A branch of this transcript, in numbers that run on."""
        return self._branch_base + number

    def epoch(self, number: int) -> int:
        """An epoch likewise; a part that goes on from another begins in that one's epoch."""
        return self._epoch_base + number if number else self._first_epoch

    def message(self, number: int | None) -> int | None:
        """A message likewise."""
        return None if number is None else self.base + number

    def place(self, row: SessionRecord | SessionEnd | SessionBoundary) -> Place:
        """Where a record of this transcript stands, likewise."""
        return Place(row.id, self.branch(row.branch), self.epoch(row.epoch))

    def calls(self) -> list[SessionCall]:
        """The calls of its curve."""
        if self.until is None:
            return self._calls
        return [row for row in self._calls if row.message <= self.until]

    def boundaries(self) -> list[SessionBoundary]:
        """Its compaction boundaries."""
        return self._boundaries if self.cut is None else [row for row in self._boundaries if row.id < self.cut]

    def blocks(self, fetch: Fetch) -> list[SessionBlock]:
        """The blocks of its messages."""
        rows = fetch(SessionBlock, transcript=self.transcript)
        return rows if self.until is None else [row for row in rows if row.message <= self.until]

    def tool_uses(self, fetch: Fetch) -> list[SessionToolUse]:
        """Its tool uses, those behind the cut too."""
        return fetch(SessionToolUse, transcript=self.transcript)

    def named_leaf(self, fetch: Fetch) -> Place | None:
        """The record that a last-prompt behind the last message names as the leaf."""
        if self.end is None:
            return None
        for leaf in fetch(SessionLeaf, transcript=self.transcript, after=self.end.record_id):
            for row in fetch(SessionRecord, transcript=self.transcript, uuid=leaf.parent_uuid):
                if row.id < self.end.record_id:
                    return self.place(row)
        return None

    def preserved(self, fetch: Fetch, named: tuple[str, ...], blocks: list[SessionBlock]) -> frozenset[int]:
        """The records that a boundary names: each, or by ("segment", head, tail) all from head to tail."""
        is_segment = named[:1] == ("segment",)
        found = [
            row.id
            for uuid in named[1 if is_segment else 0 :]
            for row in fetch(SessionRecord, transcript=self.transcript, uuid=uuid_key(uuid))
        ]
        if is_segment and found:
            first, last = min(found), max(found)
            return frozenset(row.record_id for row in blocks if first <= row.record_id <= last)
        return frozenset(found)


def fork_of(row: SessionBranch, base: int = 0) -> Fork:
    """Where a branch leaves another; `base` is added to the numbers of branches."""
    if row.starts_anew:
        return Fork(None, None)
    if row.fork_record_id is None or row.fork_branch is None:
        return Fork(base + row.parent_branch, row.first_record_id - 1)
    return Fork(base + row.fork_branch, row.fork_record_id, row.fork_response_id)


def read_parts(fetch: Fetch, heads: list[SessionPart]) -> list[Part]:
    """The parts of a session in their order."""
    parts: list[Part] = []
    for head in heads:
        part = Part(fetch, head)
        part.follow(fetch, parts)
        parts.append(part)
    return parts


def uuid_key(text: str) -> bytes | str:
    """A uuid as the store keeps it: 16 bytes if it is well formed, else the text."""
    digits = text.replace("-", "")
    try:
        return bytes.fromhex(digits) if len(text) == 36 and len(digits) == 32 else text
    except ValueError:
        return text


def names_in(text: str | None) -> tuple[str, ...]:
    """The names in a JSON array as the store keeps it."""
    return tuple(str(one) for one in loads(text)) if text else ()
