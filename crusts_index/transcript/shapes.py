"""The shapes of logged records: only the fields that facts are made of. Everything else is skipped while decoding.

Types are as loose as the fields were seen to be; a line that still does not fit goes through `repair`. Parts that are
large or rarely needed stay raw bytes (`msgspec.Raw`) and are decoded by the one who wants them.

Claude Code's own fields are camelCase. Some tools that write transcripts spell them in snake_case: a line with such a
spelling does not fit either, and `repair` takes it.

Types are told by themselves and not as texts, which would have to be parsed at each start: a shape stands above those
that name it.
"""

from typing import TypeVar

from crusts_index.transcript.lean import msgspec

Raw = msgspec.Raw
ABSENT = Raw(b"")
"""A raw part that is not there: falsy, where `null` is not."""


class Shape(msgspec.Struct, gc=False):
    """Base of all shapes: without garbage collector tracking, for they never form cycles."""


S = TypeVar("S", bound=type[Shape])


def refuse_snake_case(shape: S) -> S:
    """The shape, but its fields in their other spelling may only be null. So lines as usual cost nothing more."""
    names = zip(shape.__struct_fields__, shape.__struct_encode_fields__, strict=True)
    others = [
        (f"{name}_", None, msgspec.field(default=None, name=name))
        for name, spelling in names
        if name != spelling and name not in shape.__struct_encode_fields__
    ]
    return msgspec.defstruct(shape.__name__, others, bases=(shape,), gc=False)  # type: ignore[return-value]


class CacheCreation(Shape):
    """`usage.cache_creation`: cache writes by time to live."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerToolUse(Shape):
    """`usage.server_tool_use`."""

    web_search_requests: int | None = None


class OutputDetails(Shape):
    """`usage.output_tokens_details`."""

    thinking_tokens: int | None = None


class Iteration(Shape):
    """One of `usage.iterations`; only those of type `advisor_message` count (D1)."""

    type: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    output_tokens_details: OutputDetails | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None


class Usage(Shape):
    """`message.usage`, and one of its `iterations`."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    output_tokens_details: OutputDetails | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | None = None


class Source(Shape):
    """`source` of an image or document: its data is only measured."""

    type: str | None = None
    data: Raw = ABSENT


class Item(Shape):
    """One part of a tool result."""

    type: str | None = None
    text: str | None = None
    tool_name: str | None = None
    source: Source | str | None = None


class Block(Shape):
    """One block of `message.content`."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = ABSENT
    tool_use_id: str | None = None
    content: str | list[Item | str] | None = None
    is_error: bool | None = None
    source: Source | str | None = None


class MissReason(Shape):
    """`diagnostics.cache_miss_reason`: why the cache was not read, and how much of it."""

    type: str | None = None
    cache_missed_input_tokens: int | None = None


class Diagnostics(Shape):
    """`message.diagnostics`."""

    cache_miss_reason: MissReason | None = None


class Message(Shape):
    """`message` of a user or assistant record."""

    id: str | None = None
    model: str | None = None
    role: str | None = None
    content: str | list[Block | str] | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    diagnostics: Diagnostics | None = None


@refuse_snake_case
class Forked(Shape, rename="camel"):
    """`forkedFrom`: where a copied record came from (D2)."""

    session_id: str | None = None
    message_uuid: str | None = None


class Origin(Shape):
    """`origin` of a user record or queued command."""

    kind: str | None = None


@refuse_snake_case
class Record(Shape, rename="camel"):
    """One line of a transcript."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    leaf_uuid: str | None = None
    session_id: str | None = None
    other_session_id: str | None = msgspec.field(default=None, name="session_id")
    """The same in the other spelling, which newer versions write beside it: then it may name an earlier session."""
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    entrypoint: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_display_only: bool | None = None
    is_aborted_mid_stream: bool | None = None
    request_id: str | None = None
    request_session_id: str | None = None
    request_ref: str | None = None
    requested_model: str | None = None
    attribution_skill: str | None = None
    attribution_plugin: str | None = None
    attribution_mcp_server: str | None = None
    attribution_mcp_tool: str | None = None
    attribution_agent: str | None = None
    model: str | None = None
    effort: str | None = None
    source_tool_use_id: str | None = msgspec.field(default=None, name="sourceToolUseID")
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parentToolUseID")
    forked_from: Forked | None = None
    origin: Origin | None = None
    message: Message | None = None
    content: Raw = ABSENT
    attachment: Raw = ABSENT
    rendered: Raw = ABSENT
    data: Raw = ABSENT
    tool_use_result: Raw = ABSENT
    compact_metadata: Raw = ABSENT
    microcompact_metadata: Raw = ABSENT
    replacements: Raw = ABSENT
    retracted_message_uuids: list[str] | None = None
    supersedes_uuids: list[str] | None = None


@refuse_snake_case
class Nested(Shape, rename="camel"):
    """A whole record inside an `agent_progress`."""

    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: Message | None = None


@refuse_snake_case
class Progress(Shape, rename="camel"):
    """`data` of a progress record."""

    type: str | None = None
    agent_id: str | None = None
    message: Nested | None = None


class ToolInput(Shape):
    """The fields of `tool_use.input` that say what it was about."""

    file_path: str | None = None
    path: str | None = None
    notebook_path: str | None = None
    offset: int | float | str | None = None
    limit: int | float | str | None = None
    command: str | None = None
    pattern: str | None = None
    url: str | None = None
    query: str | None = None
    skill: str | None = None
    subagent_type: str | None = None
    description: str | None = None


@refuse_snake_case
class ToolOutcome(Shape, rename="camel"):
    """The few fields of `toolUseResult` that are facts of their own."""

    agent_id: str | None = None
    resolved_model: str | None = None
    matches: list[str] | None = None


class OutputConfig(Shape):
    """`params.output_config` of a request."""

    effort: str | None = None


class RequestParams(Shape):
    """`params` of an `api-request`: the fields of the API's own."""

    model: str | None = None
    output_config: OutputConfig | None = None


@refuse_snake_case
class Asked(Shape, rename="camel"):
    """An `api-request`: what was sent, as the messages kept of the request before it and the hashes of new ones."""

    id: str | None = None
    base: str | None = None
    keep: int | None = None
    tail: list[Raw] | None = None
    shape_hash: str | None = None
    cache_control: Raw = ABSENT
    params: RequestParams | None = None
    query_source: str | None = None
    agent_id: str | None = None


class SentShape(Shape):
    """`shape` of an `api-request-shape`."""

    system: str | list[Item | str] | None = None
    tools: list[Raw] | None = None


@refuse_snake_case
class AskedShape(Shape, rename="camel"):
    """An `api-request-shape`: the parts of requests that stand before the messages."""

    shape_hash: str | None = None
    shape: SentShape | None = None


class NamedTool(Shape):
    """A tool as it is sent: only its name is read, all of it is measured."""

    name: str | None = None


class SnapshotTool(Shape):
    """One of `tools` of a `prompt_snapshot`: of its parts only the schema is sent."""

    name: str | None = None
    schema: Raw = ABSENT


@refuse_snake_case
class Snapshot(Shape, rename="camel"):
    """A `prompt_snapshot` attachment."""

    cli_prefix: str | None = None
    system_prompt: str | list[str] | None = None
    tools: list[SnapshotTool] | None = None


class InstructionFile(Shape):
    """One of `files` of an `instructions` attachment."""

    path: str | None = None
    type: str | None = None
    content: str | None = None


class Instructions(Shape):
    """An `instructions` attachment."""

    files: list[InstructionFile] | None = None
