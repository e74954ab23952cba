"""Rows of the queries that a status line and `status` ask beside those about a session."""

from __future__ import annotations

from crusts_index.rows import of
from crusts_index.tuples import NamedTuple


@of("status_transcript")
class StatusTranscript(NamedTuple):
    """What the store remembers of a transcript; `state` is where its reader stood."""

    id: int
    session_id: str
    path: str
    inode: int
    offset: int
    parser: int
    tail_hash: bytes | None
    state: str | None
    in_view: int
    kind: str


@of("status_shape")
class StatusShape(NamedTuple):
    """What decides whether a few rows say all; None was not asked."""

    boundaries: int
    summaries: int | None
    largest_drop: int | None
    own_calls: int | None


@of("status_opener")
class StatusOpener(NamedTuple):
    """There is a prompt or boundary that is the child of the record."""

    opens: int


@of("status_reads")
class StatusReads(NamedTuple):
    """The last read of a file's part, and the last edit of the file."""

    read_id: int | None
    edit_id: int | None


@of("status_response")
class StatusResponse(NamedTuple):
    """A response by one of its ids."""

    id: int
    message: int | None
    ordinal: int
    branch: int
    epoch: int
    request_id: str | None
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


@of("status_results")
class StatusResult(NamedTuple):
    """A tool use, and what its result cost (X-size tokens)."""

    id: int
    tool_use_id: str | None
    name: str | None
    path: str | None
    read_offset: int | str | None
    read_limit: int | str | None
    result_tokens: int
    has_result: int
    is_reread: int
