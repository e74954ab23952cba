"""API responses of a transcript: the lines that are one response, and the usage of the last of them (D1)."""

from __future__ import annotations

from crusts_index.transcript.rows import COLUMNS, Row
from crusts_index.transcript.shapes import Iteration, Usage

LARGEST_COUNT = 2**53
"""A larger token count is no count (D1)."""


class Response:
    """One response as it stands in this transcript. Slots are the columns of `responses`, then what only the fold uses."""

    __slots__ = (*COLUMNS["responses"], "parts", "is_continued")

    id: int
    transcript_id: int
    thread_id: int
    last_record_id: int
    request_id: str | None
    message_id: str | None
    record_session: str | None
    message: int | None
    ordinal: int
    branch: int
    epoch: int
    is_copied: int
    is_nested: int
    is_advisor: int
    first_ms: int | None
    last_ms: int | None
    has_usage: int
    model: str | None
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    output_tokens: int
    thinking_tokens: int | None
    web_searches: int
    service_tier: str | None
    speed: str | None
    geo: str | None
    stop_reason: str | None
    effort: str | None
    parts: list[list[object]]
    is_continued: bool

    def __init__(self, id: int, transcript_id: int, thread_id: int) -> None:
        for name in COLUMNS["responses"]:
            setattr(self, name, None)
        self.id, self.transcript_id, self.thread_id, self.last_record_id = id, transcript_id, thread_id, id
        self.ordinal = self.branch = self.epoch = 0
        self.is_copied = self.is_nested = self.is_advisor = self.has_usage = 0
        self.input_tokens = self.cache_read_tokens = self.cache_write_tokens = self.cache_write_1h_tokens = 0
        self.output_tokens = self.web_searches = 0
        self.parts, self.is_continued = [], False

    @classmethod
    def of_row(cls, row: Row) -> Response:
        """The response that a stored row is."""
        response = cls.__new__(cls)
        for name, value in zip(COLUMNS["responses"], row, strict=True):
            setattr(response, name, value)
        response.parts, response.is_continued = [], True
        return response

    def row(self) -> Row:
        """Its row."""
        return tuple([getattr(self, name) for name in COLUMNS["responses"]])

    def take_usage(self, usage: Usage | Iteration, model: str | None) -> bool:
        """Take over a later record's usage whole; False where a count was out of range and became 0."""
        nested = usage.cache_creation
        nested_5m = (nested.ephemeral_5m_input_tokens or 0) if nested else 0
        nested_1h = (nested.ephemeral_1h_input_tokens or 0) if nested else 0
        details, tools = usage.output_tokens_details, usage.server_tool_use
        counts = [
            usage.input_tokens or 0,
            usage.output_tokens or 0,
            usage.cache_read_input_tokens or 0,
            usage.cache_creation_input_tokens or 0,
            nested_5m,
            nested_1h,
        ]
        is_sound = min(counts) >= 0 and max(counts) <= LARGEST_COUNT
        if not is_sound:
            counts = [count if 0 <= count <= LARGEST_COUNT else 0 for count in counts]
        self.input_tokens, self.output_tokens, self.cache_read_tokens, flat, nested_5m, self.cache_write_1h_tokens = counts
        self.cache_write_tokens = max(flat, nested_5m + self.cache_write_1h_tokens)
        thinking = details.thinking_tokens if details else None
        self.thinking_tokens = thinking if thinking is not None and 0 <= thinking <= LARGEST_COUNT else None
        searches = (tools.web_search_requests or 0) if tools else 0
        self.web_searches = searches if 0 <= searches <= LARGEST_COUNT else 0
        self.service_tier, self.speed, self.geo = usage.service_tier, usage.speed, usage.inference_geo
        self.model, self.has_usage = model, 1
        return is_sound

    def has_input_of(self, usage: Usage | None) -> bool:
        """Whether the input side equals: without a request id only that makes two records one response (D1)."""
        if usage is None or not self.has_usage:
            return usage is None and not self.has_usage
        probe = Response(0, 0, 0)
        probe.take_usage(usage, None)
        return (probe.input_tokens, probe.cache_read_tokens, probe.cache_write_tokens) == (
            self.input_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
        )
