"""A left fold over the records of one transcript: every record gets its place and number and is turned into rows
(D1, D7, D8, D10). It can stop at any record and go on later: numbers, once given, stay."""

from __future__ import annotations

from collections.abc import Callable

from crusts_index.transcript.blocks import Blocks
from crusts_index.transcript.notices import LAST_WINS, LOST, Notices, nests_record
from crusts_index.transcript.past import Past, Place, Uuid
from crusts_index.transcript.places import Places
from crusts_index.transcript.requests import Requests
from crusts_index.transcript.response_facts import facts_row
from crusts_index.transcript.responses import Responses, Touched, row_of
from crusts_index.transcript.rows import IS_COPIED, IS_DUPLICATE, IS_META, RECORD_BITS, Batch, Row
from crusts_index.transcript.shapes import Record
from crusts_index.transcript.shares import spread
from crusts_index.transcript.speech import Speech
from crusts_index.transcript.state import State
from crusts_index.transcript.step import Line, Step
from crusts_index.transcript.times import milliseconds
from crusts_index.transcript.tools import ToolUses
from crusts_index.transcript.weights import SHIPPED_WEIGHTS, Weights
from crusts_index.transcript.words import Words, word_id

TIMED = frozenset("user assistant system attachment progress".split())
"""Types of records that should carry a timestamp (D6)."""


class Fold:
    """The fold over one transcript. `past` is what an earlier run knows of it, with the `state` that it left.

    `session` is the one that the transcript's place tells, if it tells any (D3).
    """

    def __init__(
        self,
        transcript_id: int,
        kind: str,
        past: Past | None = None,
        state: State | None = None,
        session: str | None = None,
        weights: Weights = SHIPPED_WEIGHTS,
    ) -> None:
        self.state = state or State()
        self._about = self.state.about
        self._transcript_id, self._own_session = transcript_id, session
        self._record_base = transcript_id << RECORD_BITS
        self._words = Words()
        self._is_agent_file = kind == "subagent"
        self._places = Places(transcript_id, kind, past, self.state)
        self._responses = Responses(transcript_id, past, self.state)
        self._tools = ToolUses(transcript_id, past, session)
        self._blocks = Blocks(self.state, self._words, weights)
        self._requests = Requests(self._words)
        book = (self.state, self._places, self._responses, self._tools)
        self._speech = Speech(*book, self._blocks)
        self._notices = Notices(transcript_id, *book, self._speech, self._blocks, self._requests)
        speech, notices, requests = self._speech, self._notices, self._requests
        # What to do with a record by its type; all others say nothing but where they stand.
        self._takers: dict[str | None, Callable[[Step], bool | None]] = {
            "assistant": speech.take_assistant,
            "user": speech.take_user,
            "progress": notices.take_progress,
            "attachment": notices.take_attachment,
            "system": notices.take_system,
            "content-replacement": notices.take_replacement,
            LOST: notices.take_lost,
            "api-request": requests.take_request,
            "api-request-shape": requests.take_shape,
            **dict.fromkeys(LAST_WINS, notices.take_meta),
        }
        self._records: list[Row] = []
        self._problems: list[Row] = []
        self._versions: list[Row] = []
        # What the record before said of session, folder, version and the like: few say anything else.
        self._said: tuple[str | None, ...] = ()
        self._session: str | None = None
        self._session_records = 0

    def add(self, offset: int, length: int, record: Record, line: Line) -> None:
        """Take the next record; `line` holds all of it."""
        kind, places = record.type, self._places
        if record.session_id is None:
            record.session_id = record.other_session_id
        time_ms = self._note(offset, length, record)
        key, parent, place, has_parent = places.enter(record)
        if place is None:
            self._write_duplicate(offset, length, record, key, time_ms)
            return
        take = self._takers.get(kind)
        if take is None or (kind == "progress" and not nests_record(record)):
            self._write_plain(offset, length, record, key, parent, time_ms, place, has_parent=has_parent)
            places.put(key, place)
            return
        number, branch, epoch = place
        rid = self._record_base | offset
        step = Step(rid, offset, length, record, line, time_ms, key, parent, number, branch, epoch, has_parent)
        if record.forked_from is not None or record.request_session_id is not None:
            step.is_copied = self._is_copied(record)
        if take(step) is False:
            self.problem(offset, length, "a usage count is out of range")
        if kind == "assistant" and record.supersedes_uuids:
            self._notices.take_superseded(step)
        if step.branch != branch or step.epoch != epoch:
            place = places.shared(number, step.branch, step.epoch)
        places.put(key, place)
        self._write(step)

    def problem(self, offset: int, length: int, reason: str) -> None:
        """Note damage at an offset."""
        self._problems.append((self._transcript_id, offset, reason, length))

    def take(self) -> Batch:
        """The rows since the last take; the fold goes on empty."""
        self._count_session()
        self._about.records += len(self._records)
        touched = self._responses.take()
        for one in touched:
            if not one.is_continued:
                _spread(one)
        blocks, again = self._blocks.take()
        speech, notices, places, words = self._speech, self._notices, self._places, self._words
        requests = self._requests
        rows: dict[str, list[Row]] = {
            "threads": places.threads,
            "branches": places.branches,
            "stored_records": self._records,
            "stored_responses": [row_of(one.response, words) for one in touched],
            "stored_response_facts": [
                facts_row(one.response.id, one.facts, words) for one in touched if one.facts is not None
            ],
            "stored_blocks": blocks,  # type: ignore[dict-item]
            "texts": speech.texts,
            "stored_tool_uses": self._tools.take(words),
            "tool_loads": speech.loads,
            "compactions": notices.compactions,
            "preserved": notices.preserved,
            "removals": notices.removals,
            "attachments": notices.attachments,
            "stored_requests": requests.requests,
            "request_shapes": requests.shapes,
            "stored_version_starts": self._versions,
            "stored_sent_parts": requests.parts,
            "cost_states": notices.costs,
            "meta_records": notices.meta + speech.titles.rows,
            "problems": self._problems,
        }
        rows["words"] = words.take()
        continued = [one.response.id for one in touched if one.is_continued]
        batch = Batch(rows, continued, again, speech.contexts, len(self._records))
        places.threads, places.branches = [], []
        speech.texts, speech.loads, speech.contexts = [], [], []
        requests.requests, requests.shapes, requests.parts = [], [], []
        notices.compactions, notices.preserved, notices.removals, notices.costs = [], [], [], []
        notices.attachments, notices.meta, speech.titles.rows = [], [], []
        self._records, self._problems, self._versions = [], [], []
        return batch

    def _note(self, offset: int, length: int, record: Record) -> int | None:
        """The record's time, and what it says of the transcript as a whole.

        Without a valid time it takes that of the record before it (D6).
        """
        session = record.session_id
        if session != self._session:
            self._count_session()
            self._session = session
        self._session_records += 1
        said = (record.cwd, record.version, record.git_branch, record.entrypoint, record.agent_id)
        if said != self._said:
            self._said = said
            self._note_changes(offset, record)
        time_ms = milliseconds(record.timestamp)
        if time_ms is None:
            if record.type not in TIMED:
                return None
            self.problem(offset, length, "no valid timestamp")
            return self.state.time_ms
        self.state.time_ms = time_ms
        about = self._about
        if about.last_ms is None or time_ms > about.last_ms:
            about.last_ms = time_ms
            if about.first_ms is None:
                about.first_ms = time_ms
        return time_ms

    def _note_changes(self, offset: int, record: Record) -> None:
        about = self._about
        if record.cwd:
            about.last_cwd = record.cwd
            about.first_cwd = about.first_cwd or record.cwd
        if record.version and record.version != about.last_version:
            about.last_version = record.version
            self._versions.append((self._record_base | offset, self._words[record.version]))
            about.version = about.version or record.version
        if record.git_branch:
            about.git_branch = record.git_branch
        if record.entrypoint:
            about.entrypoint = record.entrypoint
        if self._is_agent_file and record.agent_id:
            about.agent_id = record.agent_id

    def _is_copied(self, record: Record) -> int:
        """Whether the record says that another session is its origin: by name, or as the one that asked (D2)."""
        if record.forked_from is not None:
            return 1
        asked = record.request_session_id
        return 1 if asked and asked != (self._own_session or record.session_id) else 0

    def _count_session(self) -> None:
        """Add the records of a run that named one session."""
        if self._session:
            sessions = self.state.sessions
            sessions[self._session] = sessions.get(self._session, 0) + self._session_records
        self._session_records = 0

    def _write_plain(
        self,
        offset: int,
        length: int,
        record: Record,
        key: Uuid | None,
        parent: Uuid | None,
        time_ms: int | None,
        place: Place,
        *,
        has_parent: bool,
    ) -> None:
        """A record that puts nothing into the context: two in five are such, so they go the short way."""
        number, branch, epoch = place
        kind = record.type
        flags = (IS_META if record.is_meta else 0) | (IS_COPIED if self._is_copied(record) else 0)
        self._records.append(
            (
                self._record_base | offset,
                length,
                self._words[kind],
                self._words[record.subtype],
                key,
                # A progress record's place is all that its parent was good for, and there are many.
                None if has_parent or kind == "progress" else parent,
                time_ms,
                number,
                branch,
                epoch,
                self.state.threads[number].calls,
                None,
                None,
                flags,
                None,
            )
        )

    def _write(self, step: Step) -> None:
        record, thread, time_ms, words = step.record, step.thread, step.time_ms, self._words
        if step.message is not None and thread == 0 and time_ms is not None:
            about = self._about
            if about.last_message_ms is None or time_ms > about.last_message_ms:
                about.last_message_ms = time_ms
        is_asked_for = step.opens or not step.has_parent or record.type == "last-prompt"
        flags = step.opens | step.is_prompt << 1 | step.is_summary << 2 | step.is_copied << 4
        if record.is_meta:
            flags |= IS_META
        response = step.response
        self._records.append(
            (
                step.id,
                step.length,
                words[record.type],
                words[step.subtype or record.subtype],
                step.key,
                step.parent if is_asked_for and record.type != "progress" else None,
                time_ms,
                thread,
                step.branch,
                step.epoch,
                step.ordinal if response is not None else self.state.threads[thread].calls,
                step.message,
                None if response is None else step.id - response,
                flags,
                words[step.origin],
            )
        )

    def _write_duplicate(self, offset: int, length: int, record: Record, key: Uuid | None, time_ms: int | None) -> None:
        """A record whose uuid stood before: kept, flagged, counted nowhere (D2)."""
        place = self._places.of(key) or Place(0, 0, 0)
        calls, words = self.state.threads[place.thread].calls, self._words
        flags = IS_DUPLICATE | (IS_META if record.is_meta else 0) | (IS_COPIED if self._is_copied(record) else 0)
        head = (self._record_base | offset, length, words[record.type], words[record.subtype], key, None, time_ms)
        self._records.append((*head, *place, calls, None, None, flags, None))


def _spread(touched: Touched) -> None:
    """Share a response's output over its blocks, all of which the stretch holds (D9)."""
    response, parts = touched.response, touched.parts
    if not response.has_usage or not parts:
        return
    thinking = word_id("thinking")
    facts = [(part[8], part[2] == thinking) for part in parts]
    said = (response.output_tokens, response.thinking_tokens)
    shares = spread(*said, facts, is_aborted=bool(response.is_aborted))
    response.is_placeholder = int(shares is None)
    if shares is not None:
        for part, share in zip(parts, shares, strict=True):
            part[9] = share
