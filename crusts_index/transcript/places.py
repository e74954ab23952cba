"""Gives every record its thread, branch and epoch (D3, D10), from what was read of the transcript before it."""

from __future__ import annotations

from binascii import unhexlify

from crusts_index.transcript.past import NoPast, Past, Place, Uuid
from crusts_index.transcript.rows import Row, thread_id
from crusts_index.transcript.shapes import Record
from crusts_index.transcript.state import State, ThreadState
from crusts_index.transcript.step import Step


def uuid_key(text: str | None) -> Uuid | None:
    """16 bytes for a well-formed uuid, the text itself for anything else, None for none."""
    if not text:
        return None
    if len(text) == 36 and text[8:24:5] == "----":
        try:
            key = unhexlify(text.replace("-", ""))
        except ValueError:
            return text
        if len(key) == 16:
            return key
    return text


class Places:
    """Where the records of one transcript stand."""

    def __init__(self, transcript_id: int, kind: str, past: Past | None, state: State) -> None:
        self._transcript_id, self._state = transcript_id, state
        self._past: Past = past or NoPast()
        self._is_fresh = past is None
        self._is_agent_file = kind == "subagent"
        self._at: dict[Uuid, Place] = {}
        self._one: dict[Place, Place] = {}
        self._openers: set[tuple[int, Uuid | None]] = set()
        # Of the record before: its uuid as logged, the key that is made of it, and its place. Most records name it
        # as their parent.
        self._last_text: str | None = None
        self._last_key: Uuid | None = None
        self._last_place: Place | None = None
        # Where each thread stands now, by number.
        self._here: list[Place] = [
            self.shared(number, thread.branch, thread.epoch) for number, thread in enumerate(state.threads)
        ]
        self.threads: list[Row] = []
        """Rows of threads that were opened, until they are taken."""
        self.branches: list[Row] = []
        """Rows of branches that were opened, until they are taken."""
        if not state.threads:
            self._open_thread(kind, None, None)

    def enter(self, record: Record) -> tuple[Uuid | None, Uuid | None, Place | None, bool]:
        """Key, parent's key and place of the next record (D3, D10), and whether that parent is known.

        The place is that of its parent; without a known parent, that of the record before it. No place if its uuid
        stood before (D2).
        """
        text = record.parent_uuid or record.logical_parent_uuid or record.leaf_uuid
        if text == self._last_text:
            parent, above = self._last_key, self._last_place
        else:
            parent = uuid_key(text)
            above = self.of(parent)
        text = record.uuid
        key = uuid_key(text)
        self._last_text, self._last_key = text, key
        if type(key) is bytes:
            before = self.of(key)
            if before is not None:
                self._last_place = before
                return key, parent, None, above is not None
        number = 0 if self._is_agent_file or not record.is_sidechain else self._sidechain(record, above)
        if above is not None and above.thread == number:
            self._state.threads[number].is_chained = True
            return key, parent, above, True
        return key, parent, self._here[number], above is not None

    def put(self, key: Uuid | None, place: Place) -> None:
        """Remember where the record that entered last came to stand."""
        if key is not None:
            self._at[key] = place
            self._last_place = place
        else:
            self._last_place = None
        if place is not self._here[place.thread]:
            self._here[place.thread] = place
            thread = self._state.threads[place.thread]
            thread.branch, thread.epoch = place.branch, place.epoch

    def of(self, key: Uuid | None) -> Place | None:
        """Where the record of that uuid stands; None if it was not seen."""
        if key is None:
            return None
        found = self._at.get(key)
        if found is None and not self._is_fresh:
            found = self._past.place(key)
            if found is not None:
                found = self._at[key] = self.shared(*found)
        return found

    def shared(self, thread: int, branch: int, epoch: int) -> Place:
        """The place, one object for all records that stand there."""
        place = Place(thread, branch, epoch)
        return self._one.setdefault(place, place)

    def open_branch(self, step: Step) -> None:
        """A prompt or boundary whose parent already has one opens a new branch (D10)."""
        step.opens = 1
        thread = self._state.threads[step.thread]
        if step.parent is None and (step.key is None or not thread.is_chained):
            # Nothing here names parents, so a missing one is no new beginning.
            self._openers.add((step.thread, None))
            return
        opener = (step.thread, step.parent)
        if self._has_opener(*opener):
            thread.branches += 1
            tid = thread_id(self._transcript_id, step.thread)
            self.branches.append((tid, thread.branches, step.branch, step.parent, step.id))
            step.branch = thread.branches
            if step.parent is None:
                step.epoch, thread.root = 0, step.branch
        self._openers.add(opener)

    def begin_again(self, step: Step) -> None:
        """What stands where a prompt stands and is none, too, if it follows nothing in a thread that began before: a
        history written anew under new uuids begins with it (D10)."""
        if step.parent is None and self._has_opener(step.thread, None):
            self.open_branch(step)

    def _has_opener(self, thread: int, parent: Uuid | None) -> bool:
        return (thread, parent) in self._openers or (not self._is_fresh and self._past.has_opener(parent, thread))

    def agent_thread(self, kind: str, agent_id: str, parent_tool_use_id: str | None) -> int:
        """The number of an agent's thread inside this transcript."""
        name = f"{kind}:{agent_id}"
        number = self._state.agents.get(name)
        if number is None:
            number = self._state.agents[name] = self._open_thread(kind, agent_id, parent_tool_use_id)
        return number

    def _sidechain(self, record: Record, above: Place | None) -> int:
        if record.agent_id:
            number = self.agent_thread("sidechain", record.agent_id, None)
        elif above is not None and self._state.threads[above.thread].kind == "sidechain":
            number = above.thread
        elif record.parent_uuid and above is None and self._state.sidechain is not None:
            number = self._state.sidechain
        else:
            number = self._open_thread("sidechain", None, None)
        self._state.sidechain = number
        return number

    def _open_thread(self, kind: str, agent_id: str | None, parent_tool_use_id: str | None) -> int:
        number = len(self._state.threads)
        self._state.threads.append(ThreadState(kind))
        self._here.append(self.shared(number, 0, 0))
        tid = thread_id(self._transcript_id, number)
        self.threads.append((tid, self._transcript_id, kind, agent_id, parent_tool_use_id))
        return number
