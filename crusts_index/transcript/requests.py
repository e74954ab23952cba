"""What Claude Code logs of the requests themselves: which messages and which shape a call had, and what the parts that
stand before the messages weigh (D11, D20). Texts are measured, never kept."""

from __future__ import annotations

from typing import TypeVar

from crusts_index.transcript.digest import hash48
from crusts_index.transcript.lean import msgspec
from crusts_index.transcript.measure import Measure, measure, measure_json
from crusts_index.transcript.past import Uuid
from crusts_index.transcript.places import uuid_key
from crusts_index.transcript.repair import fit_raw, fit_value
from crusts_index.transcript.rows import Row
from crusts_index.transcript.shapes import (
    Asked,
    AskedShape,
    Instructions,
    Item,
    NamedTool,
    Raw,
    Shape,
    Snapshot,
)
from crusts_index.transcript.step import Line, Step
from crusts_index.transcript.words import Words
from crusts_index.tuples import NamedTuple

S = TypeVar("S", bound=Shape)

SYSTEM, TOOL, FILE = "system", "tool", "file"
"""Kinds of the parts that stand before the messages."""

_MOST_COUNT = 2**53


class Request(NamedTuple):
    """An `api-request`."""

    uuid: Uuid | None
    """What answers name as their `requestRef`."""
    base: Uuid | None
    """The request whose first messages it sent again; None = it names none."""
    kept: int | None
    """How many of them."""
    tail: int
    """How many messages followed."""
    shape: str | None
    """The hash of its shape, as logged."""
    cache: str
    """What of it was to be cached, and how: places among the messages, which move on with every request, left out."""
    model: str | None
    effort: str | None
    source: str | None
    agent: str | None


class Sent(NamedTuple):
    """A part that was sent before the messages, measured."""

    kind: str
    name: str | None
    """Of a tool its name, of a file what kind of instructions it holds."""
    path: str | None
    chars: int
    soft: int
    marks: int


class Requests:
    """The requests of one transcript; rows are collected until they are taken."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.requests: list[Row] = []
        self.shapes: list[Row] = []
        self.parts: list[Row] = []

    def take_request(self, step: Step) -> None:
        """An `api-request` record."""
        said, words = read_request(step.line), self._words
        where = (step.id, said.uuid, said.base, said.kept, said.tail, _hash(said.shape), _hash(said.cache))
        asked = (said.model, said.effort, said.source, said.agent)
        self.requests.append((*where, *(words[name] for name in asked)))

    def take_shape(self, step: Step) -> None:
        """An `api-request-shape` record."""
        shape, parts = read_shape(step.line)
        self.shapes.append((step.id, _hash(shape)))
        self._add(step, parts)

    def take_attachment(self, step: Step, kind: str) -> None:
        """An attachment: those that say what was sent before the messages."""
        read = _ATTACHMENTS.get(kind)
        if read is not None:
            self._add(step, read(step.record.attachment))

    def _add(self, step: Step, parts: list[Sent]) -> None:
        words = self._words
        for place, (kind, name, path, *size) in enumerate(parts):
            self.parts.append((step.id, place, words[kind], words[name], path, *size))


def read_request(line: Line) -> Request:
    """The request that an `api-request` record logs."""
    said = _read(line, Asked)
    kept, params = said.keep, said.params
    return Request(
        uuid_key(said.id),
        uuid_key(said.base),
        kept if kept is not None and 0 <= kept < _MOST_COUNT else None,
        len(said.tail or ()),
        said.shape_hash or None,
        _cache_of(said.cache_control),
        params.model or None if params else None,
        params.output_config.effort or None if params and params.output_config else None,
        said.query_source or None,
        said.agent_id or None,
    )


def read_shape(line: Line) -> tuple[str | None, list[Sent]]:
    """The hash of the shape that an `api-request-shape` record logs, and its parts."""
    said = _read(line, AskedShape)
    shape = said.shape
    if shape is None:
        return said.shape_hash or None, []
    system = [shape.system] if isinstance(shape.system, str) else shape.system or []
    texts = [text for part in system if (text := _text_of(part)) is not None]
    tools = [_sent_tool(_name_of(tool), tool) for tool in shape.tools or ()]
    return said.shape_hash or None, [*map(_sent_text, texts), *tools]


def read_snapshot(attachment: Raw) -> list[Sent]:
    """The parts of a `prompt_snapshot` attachment."""
    said = _read(bytes(attachment), Snapshot)
    system = [said.system_prompt] if isinstance(said.system_prompt, str) else said.system_prompt or []
    texts = [text for text in (said.cli_prefix, *system) if text is not None]
    return [*map(_sent_text, texts), *(_sent_tool(tool.name, tool.schema) for tool in said.tools or ())]


def read_instructions(attachment: Raw) -> list[Sent]:
    """The files of an `instructions` attachment."""
    said = _read(bytes(attachment), Instructions)
    return [
        Sent(FILE, file.type or None, file.path or None, *_measured(file.content or "")) for file in said.files or ()
    ]


_ATTACHMENTS = {"prompt_snapshot": read_snapshot, "instructions": read_instructions}


def _hash(text: str | None) -> int | None:
    return None if text is None else hash48(text.encode("utf-8", "replace"))


def _read(line: Line, shape: type[S]) -> S:
    """A record or a part of one as its shape; empty where it is no object."""
    if not isinstance(line, bytes):
        return fit_value(line, shape) or shape()
    try:
        return msgspec.json.decode(line, type=shape)
    except msgspec.MsgspecError:
        return fit_raw(Raw(line), shape) or shape()


def _cache_of(raw: Raw) -> str:
    try:
        value = msgspec.json.decode(raw) if raw else None
    except msgspec.MsgspecError:
        value = None
    marks: list[str] = []
    for part in value if isinstance(value, list) else ():
        path = part.get("path") if isinstance(part, dict) else None
        if isinstance(path, list):
            place = path[:1] if path[:1] == ["messages"] else path
            import json  # few records have such a part

            marks.append(json.dumps([place, part.get("value")], sort_keys=True))
    return "".join(dict.fromkeys(marks))


def _text_of(part: Item | str) -> str | None:
    return part if isinstance(part, str) else part.text


def _name_of(tool: Raw) -> str | None:
    return _read(bytes(tool), NamedTool).name or None


def _sent_text(text: str) -> Sent:
    return Sent(SYSTEM, None, None, *_measured(text))


def _sent_tool(name: str | None, raw: Raw) -> Sent:
    """A tool, measured on its JSON as logged."""
    logged = bytes(raw)
    chars = len(logged) if logged.isascii() else len(logged.decode("utf-8", "replace"))
    return Sent(TOOL, name or None, None, chars, *measure_json(logged))


def _measured(text: str) -> tuple[int, int, int]:
    found: Measure = measure(text)
    return len(text), *found
