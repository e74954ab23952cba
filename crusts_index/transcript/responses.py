"""API responses of a transcript: which lines are one response, its number, and the usage of its last line (D1, D7)."""

from __future__ import annotations

from typing import Any

from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.past import NoPast, Past
from crusts_index.transcript.response_facts import Facts, facts_of, merged
from crusts_index.transcript.rows import MESSAGE_PREFIX, REQUEST_PREFIX, Row, cut_prefix, thread_id
from crusts_index.transcript.shapes import Iteration, Message, Usage
from crusts_index.transcript.state import State
from crusts_index.transcript.step import Step
from crusts_index.transcript.words import Words

LARGEST_COUNT = 2**53
"""A larger token count is no count (D1)."""

Line = tuple[str | None, str | None, str | None, int, int, tuple[int, int, int] | None]
"""Request id, message id, session, whether nested, whether copied; without a request id the input side too."""

Part = list[Any]
"""A row of `stored_blocks` that can still be changed: its estimate is known only with a model, its share of the output
only with the last line."""


class Response(msgspec.Struct, gc=False):
    """One response as it stands in this transcript: columns of the view `responses`, in this order."""

    id: int
    transcript_id: int
    thread_id: int
    last_record_id: int
    request_id: str | None = None
    message_id: str | None = None
    record_session: str | None = None
    message: int | None = None
    ordinal: int = 0
    branch: int = 0
    epoch: int = 0
    is_copied: int = 0
    is_nested: int = 0
    is_advisor: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    has_usage: int = 0
    model: str | None = None
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int | None = None
    web_searches: int = 0
    service_tier: str | None = None
    speed: str | None = None
    geo: str | None = None
    stop_reason: str | None = None
    effort: str | None = None
    git_branch: str | None = None
    is_aborted: int = 0
    """1 = a line says that it was cut off: its output is what was known at the start (D9)."""
    is_placeholder: int = 0

    def line(self) -> Line:
        """What the lines have in common that are this response."""
        side = None
        if self.request_id is None and self.has_usage:
            side = self.input_tokens, self.cache_read_tokens, self.cache_write_tokens
        return self.request_id, self.message_id, self.record_session, self.is_nested, self.is_copied, side


class _Known(msgspec.Struct):
    """The responses of a thread that bear one message id; by what tells whether a line is of one of them (D1)."""

    by_line: dict[Line, Response] = msgspec.field(default_factory=dict)
    first: Response | None = None
    first_asked: Response | None = None
    """The first one with a request id."""

    def add(self, line: Line, response: Response) -> None:
        self.by_line.setdefault(line, response)
        self.first = self.first or response
        if response.request_id is not None:
            self.first_asked = self.first_asked or response


class Touched(msgspec.Struct):
    """A response that the stretch in hand has lines of."""

    response: Response
    parts: list[Part]
    is_continued: bool
    facts: Facts | None = None
    """What these lines say; None = nothing."""
    model_before: str | None = None
    """Its model before its last line so far."""


class Responses:
    """The responses of one transcript."""

    def __init__(self, transcript_id: int, past: Past | None, state: State) -> None:
        self._transcript_id, self._state = transcript_id, state
        self._past: Past = past or NoPast()
        self._is_fresh = past is None
        self._by_message: dict[tuple[int, str, bool], _Known] = {}
        self._written: set[int] = set()
        self.touched: dict[int, Touched] = {}
        """Responses with lines in the stretch in hand, by id."""

    def take_line(
        self, step: Step, message: Message, request_id: str | None, thread: int, *, is_nested: bool
    ) -> tuple[Touched, bool]:
        """The response that a line belongs to, brought up to date; False where a count was out of range."""
        message_id = message.id or None
        known = self._same_message(thread, request_id, message_id)
        session, is_copied = step.record.session_id, step.is_copied
        if is_copied and step.record.request_session_id:
            # A copy's lines name its own session; without a request id only this tells that they are the same call.
            session = step.record.request_session_id
        side = None if request_id is not None else _input_of(message.usage)
        line = (request_id, message_id, session, is_nested, is_copied, side)
        response = known.by_line.get(line)
        if response is None:
            response = self._begin(step, message, request_id, session, thread, known, is_nested=is_nested)
            known.add(line, response)
        response.last_record_id, before = step.id, response.model
        if step.time_ms is not None:
            response.last_ms = step.time_ms
        usage = message.usage
        is_sound = True
        if usage is not None:
            response.model = message.model
            is_sound = take_usage(response, usage)
            if usage.iterations:
                is_sound = self._take_advisors(response, usage.iterations) and is_sound
        if message.stop_reason:
            response.stop_reason = message.stop_reason
        if step.record.effort:
            response.effort = step.record.effort
        touched = self._touch(response)
        touched.model_before = before
        touched.facts = merged(touched.facts, facts_of(step.record, message))
        return touched, is_sound

    def take(self) -> list[Touched]:
        """What the stretch touched; the book goes on with the next one."""
        touched = list(self.touched.values())
        self._written.update(self.touched)
        self.touched = {}
        return touched

    def _touch(self, response: Response) -> Touched:
        found = self.touched.get(response.id)
        if found is None:
            found = self.touched[response.id] = Touched(response, [], response.id in self._written)
        return found

    def _begin(
        self,
        step: Step,
        message: Message,
        request_id: str | None,
        session: str | None,
        number: int,
        known: _Known,
        *,
        is_nested: bool,
    ) -> Response:
        thread = self._state.threads[number]
        thread.calls += 1
        response = Response(
            step.id,
            self._transcript_id,
            thread_id(self._transcript_id, number),
            step.id,
            request_id,
            message.id or None,
            session,
            ordinal=thread.calls,
            is_copied=step.is_copied,
            is_nested=1 if is_nested else 0,
            first_ms=step.time_ms,
            git_branch=step.record.git_branch or None,
        )
        if not is_nested:
            response.branch, response.epoch = step.branch, step.epoch
            # One message over several request ids keeps its number; without any, an equal id says nothing (D1, D7).
            one = known.first if request_id is not None else known.first_asked
            response.message = one.message if one is not None else None
            if response.message is None:
                thread.messages += 1
                thread.follows_command = False
                response.message = thread.messages
        return response

    def _same_message(self, thread: int, request_id: str | None, message_id: str | None) -> _Known:
        """Responses of the thread with that message id or, without one, with that request id; to be added to."""
        name = message_id or request_id
        if name is None:
            return _Known()
        key = (thread, name, message_id is None)
        known = self._by_message.get(key)
        if known is None:
            known = self._by_message[key] = _Known()
            if not self._is_fresh:
                tid = thread_id(self._transcript_id, thread)
                rows = self._past.responses(None if message_id else request_id, message_id)
                for one in (Response(*row) for row in rows):
                    if one.thread_id == tid and not one.is_advisor:
                        known.add(one.line(), one)
                        self._written.add(one.id)
        return known

    def _take_advisors(self, parent: Response, iterations: list[Iteration]) -> bool:
        """An advisor's iteration is a call of its own model; its key derives from the call's and its place (D1)."""
        is_sound = True
        for place, iteration in enumerate(iterations):
            if iteration.type != "advisor_message":
                continue
            advisor = Response(
                parent.id + 1 + place,
                self._transcript_id,
                parent.thread_id,
                parent.last_record_id,
                f"{parent.request_id}#{place}" if parent.request_id else None,
                f"{parent.message_id}#{place}" if parent.message_id else None,
                parent.record_session,
                parent.message,
                parent.ordinal,
                parent.branch,
                parent.epoch,
                parent.is_copied,
                parent.is_nested,
                1,
                parent.first_ms,
                parent.last_ms,
                model=iteration.model,
            )
            is_sound = take_usage(advisor, iteration) and is_sound
            self.touched[advisor.id] = Touched(advisor, [], is_continued=False)
        return is_sound


def take_usage(response: Response, usage: Usage | Iteration) -> bool:
    """Take over a later record's usage whole; False where a count was out of range and became 0 (D1)."""
    nested = usage.cache_creation
    nested_5m = nested_1h = 0
    if nested is not None:
        nested_5m, nested_1h = nested.ephemeral_5m_input_tokens or 0, nested.ephemeral_1h_input_tokens or 0
    fresh, output = usage.input_tokens or 0, usage.output_tokens or 0
    read, flat = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    is_sound = True
    # The bits of all counts at once: out of range if any of them is, and only then looked at one by one.
    if not 0 <= fresh | output | read | flat | nested_5m | nested_1h < LARGEST_COUNT:
        counts = [fresh, output, read, flat, nested_5m, nested_1h]
        is_sound = all(0 <= count <= LARGEST_COUNT for count in counts)
        fresh, output, read, flat, nested_5m, nested_1h = (_in_range(count) or 0 for count in counts)
    response.input_tokens, response.output_tokens, response.cache_read_tokens = fresh, output, read
    response.cache_write_tokens = max(flat, nested_5m + nested_1h)
    response.cache_write_1h_tokens = nested_1h
    details, tools = usage.output_tokens_details, usage.server_tool_use
    response.thinking_tokens = _in_range(details.thinking_tokens) if details is not None else None
    response.web_searches = (_in_range(tools.web_search_requests) or 0) if tools is not None else 0
    response.service_tier = usage.service_tier if usage.service_tier != "standard" else None
    response.speed = usage.speed if usage.speed != "standard" else None
    response.geo = usage.inference_geo if usage.inference_geo != "not_available" else None
    response.has_usage = 1
    return is_sound


def _in_range(count: int | None) -> int | None:
    return count if count is not None and 0 <= count <= LARGEST_COUNT else None


def _input_of(usage: Usage | None) -> tuple[int, int, int] | None:
    """The input side: without a request id only an equal one makes two lines one response (D1)."""
    if usage is None:
        return None
    probe = Response(0, 0, 0, 0)
    take_usage(probe, usage)
    return probe.input_tokens, probe.cache_read_tokens, probe.cache_write_tokens


def row_of(response: Response, words: Words) -> Row:
    """Its row of `stored_responses`."""
    first, last = response.first_ms, response.last_ms
    return (
        response.id,
        response.thread_id,
        response.last_record_id - response.id,
        cut_prefix(response.request_id, REQUEST_PREFIX),
        cut_prefix(response.message_id, MESSAGE_PREFIX),
        words[response.record_session],
        response.message,
        response.ordinal,
        response.branch,
        response.epoch,
        response.is_copied
        | response.is_nested << 1
        | response.is_advisor << 2
        | response.has_usage << 3
        | response.is_aborted << 4
        | response.is_placeholder << 5,
        None if first is None or last is None else last - first,
        last,
        words[response.model],
        response.input_tokens,
        response.cache_read_tokens,
        response.cache_write_tokens,
        response.cache_write_1h_tokens,
        response.output_tokens,
        response.thinking_tokens,
        response.web_searches,
        words[response.service_tier],
        words[response.speed],
        words[response.geo],
        words[response.stop_reason],
        words[response.effort],
        words[response.git_branch],
    )
