"""The transcripts that a session's own view shows, with their numbers made to run on over them (D3)."""

from __future__ import annotations

from crusts_index.insight.path import Fork
from crusts_index.jsontext import loads
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.insight.facts import Fetch

    Row = tuple[Any, ...]


class Place(NamedTuple):
    """A record, and the branch and epoch it stands in; both run on over the parts."""

    record_id: int
    branch: int
    epoch: int


class Part:
    """One transcript of the session. What it gives are rows up to the cut."""

    def __init__(self, fetch: Fetch, head: Row) -> None:
        self.transcript: int = head[0]
        self.last_ms: int | None = head[6]
        self.cut: int | None = None  # the last record that counts, None = all
        self.until: int | None = None  # the last message that counts, in its own numbers
        self.base = self.calls_base = self._branch_base = self._epoch_base = self._first_epoch = 0
        self.messages = 0
        self.end: Place | None = None
        self.forks: dict[int, Fork] = {}
        self._calls: list[Row] = fetch("session_calls", transcript=self.transcript)
        self._branches: list[Row] = fetch("session_branches", transcript=self.transcript)
        self._boundaries: list[Row] = fetch("session_boundaries", transcript=self.transcript)
        self._last: list[Row] = fetch("session_end", transcript=self.transcript, message=None)

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
        for number, parent, is_root, first, record, branch, response in self._branches:
            if is_root:
                fork = Fork(None, None)
            elif record is None:
                fork = Fork(self.branch(parent), first - 1)
            else:
                fork = Fork(self.branch(branch), record, response)
            self.forks[self.branch(number)] = fork
        if self._last:
            self.messages = self._last[0][3]
        self._find_end()

    def _link(self, fetch: Fetch, before: list[Part]) -> Place | None:
        first = fetch("session_first", transcript=self.transcript)
        if not first or first[0][1] is None:
            return None
        for part in reversed(before):
            for row in fetch("session_record", transcript=part.transcript, uuid=first[0][1]):
                return Place(row[0], part.branch(row[1]), part.epoch(row[2]))
        return next((part.end for part in reversed(before) if part.end is not None), None)

    def _find_end(self) -> None:
        """The last message, or a boundary behind it."""
        ends = [Place(row[0], self.branch(row[1]), self.epoch(row[2])) for row in self._last]
        ends += [Place(row[0], self.branch(row[11]), self.epoch(row[10])) for row in self.boundaries()]
        self.end = max(ends, default=None)

    def cut_at(self, fetch: Fetch, until: int) -> None:
        """Let the part end with a message, `until` being its number in the session."""
        self.until = until - self.base
        self._last = fetch("session_end", transcript=self.transcript, message=self.until)
        self.messages = self.until
        if self._last:
            self.cut, self.last_ms = self._last[0][0], self._last[0][4]
            self._find_end()

    def kept(self, rows: list[Row]) -> list[Row]:
        """Those of rows (record id, message, …) that are of its messages or stand before the cut."""
        if self.until is None or self.cut is None:
            return rows
        until, cut = self.until, self.cut
        return [row for row in rows if (row[0] < cut if row[1] is None else row[1] <= until)]

    @property
    def last_branch(self) -> int:
        """The highest number of its branches."""
        return self.branch(max((row[0] for row in self._branches), default=0))

    @property
    def last_epoch(self) -> int:
        """The highest number of its epochs, not below those of the parts before."""
        return max(self._epoch_base, *(self.epoch(row[10]) for row in self._boundaries), self._first_epoch)

    @property
    def ordinals(self) -> int:
        """How many responses the main thread began."""
        return max((row[3] for row in self._calls), default=0)

    def branch(self, number: int) -> int:
        """A branch of this transcript, in numbers that run on."""
        return self._branch_base + number

    def epoch(self, number: int) -> int:
        """An epoch likewise; a part that goes on from another begins in that one's epoch."""
        return self._epoch_base + number if number else self._first_epoch

    def calls(self) -> list[Row]:
        """Rows of `session_calls`."""
        if self.until is None:
            return self._calls
        return [row for row in self._calls if row[2] <= self.until]

    def boundaries(self) -> list[Row]:
        """Rows of `session_boundaries`."""
        return self._boundaries if self.cut is None else [row for row in self._boundaries if row[0] < self.cut]

    def blocks(self, fetch: Fetch) -> list[Row]:
        """Rows of `session_blocks`."""
        rows = fetch("session_blocks", transcript=self.transcript)
        return rows if self.until is None else [row for row in rows if row[2] <= self.until]

    def tool_uses(self, fetch: Fetch) -> list[Row]:
        """Rows of `session_tool_uses`, those behind the cut too."""
        return fetch("session_tool_uses", transcript=self.transcript)

    def named_leaf(self, fetch: Fetch) -> Place | None:
        """The record that a last-prompt behind the last message names as the leaf."""
        if self.end is None:
            return None
        for leaf in fetch("session_leaf", transcript=self.transcript, after=self.end.record_id):
            for row in fetch("session_record", transcript=self.transcript, uuid=leaf[1]):
                if row[0] < self.end.record_id:
                    return Place(row[0], self.branch(row[1]), self.epoch(row[2]))
        return None

    def preserved(self, fetch: Fetch, named: tuple[str, ...], blocks: list[Row]) -> frozenset[int]:
        """The records that a boundary names: each, or by ("segment", head, tail) all from head to tail."""
        is_segment = named[:1] == ("segment",)
        found = [
            row[0]
            for uuid in named[1 if is_segment else 0 :]
            for row in fetch("session_record", transcript=self.transcript, uuid=uuid_key(uuid))
        ]
        if is_segment and found:
            first, last = min(found), max(found)
            return frozenset(row[1] for row in blocks if first <= row[1] <= last)
        return frozenset(found)


def read_parts(fetch: Fetch, heads: list[Row]) -> list[Part]:
    """The parts of a session in their order, `heads` being the rows of `session_parts`."""
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
