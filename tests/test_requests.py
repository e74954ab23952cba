"""Requests as newer versions log them, read for what caches and fixed context depend on (D11, D20)."""

from __future__ import annotations

import json
import uuid
from typing import Any

import msgspec
import pytest

from crusts_index.transcript.measure import measure
from crusts_index.transcript.parse import parse
from crusts_index.transcript.requests import (
    Sent,
    read_instructions,
    read_request,
    read_shape,
    read_snapshot,
)
from tests.builders import SHAPE, Transcript, dumps, respelled, tool

FIRST, SECOND = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))


@pytest.fixture
def t() -> Transcript:
    """A main transcript."""
    return Transcript()


def last(t: Transcript) -> bytes:
    """Its last line."""
    return t.lines()[-1]


def attached(t: Transcript) -> msgspec.Raw:
    """The attachment on its last line."""
    return msgspec.Raw(dumps(json.loads(last(t))["attachment"]))


def text(said: str) -> tuple[int, int, int]:
    """Characters, soft and marks of a text."""
    return len(said), *measure(said)


def test_a_request_and_the_one_before_it(t: Transcript) -> None:
    """Its id, base, how much of that it keeps, what follows, shape, model, effort and who asked."""
    t.request(id=FIRST)
    first = read_request(last(t))
    t.request(id=SECOND, base=FIRST, keep=2, tail=3, model="claude-haiku-5-5", effort="high", source="sdk")
    second = read_request(last(t))
    assert (uuid.UUID(FIRST).bytes, None, 0, 2, SHAPE) == first[:5]
    assert ("claude-opus-4-6", "medium", "repl_main_thread", None) == first[6:]
    assert (uuid.UUID(SECOND).bytes, uuid.UUID(FIRST).bytes, 2, 3, SHAPE) == second[:5]
    assert ("claude-haiku-5-5", "high", "sdk", None) == second[6:]


def test_a_request_of_a_subagent() -> None:
    """It names its agent."""
    t = Transcript(agent="a7e7ccc24a3620c49")
    t.request(source="agent:builtin:Explore", effort="low")
    assert ("low", "agent:builtin:Explore", "a7e7ccc24a3620c49") == read_request(last(t))[7:]


def test_what_is_cached_says_nothing_of_the_place_among_the_messages(t: Transcript) -> None:
    """The last breakpoint moves on with every request; another time to live is another cache control."""
    caches = []
    for more in ({}, {"keep": 2, "tail": 5}, {"ttl": "1h"}, {"cacheControl": []}):
        t.request(**more)  # type: ignore[arg-type]
        caches.append(read_request(last(t)).cache)
    assert caches[0] == caches[1] != caches[2]
    assert "" == caches[3] != caches[2]


def test_a_shape_by_its_parts(t: Transcript) -> None:
    """System texts and tools in their order, each measured: a tool on its JSON as logged."""
    tools = [tool("Bash", "Runs {it}.", command="string"), tool("mcp__files__read", "Liest die Datei: ü.")]
    t.request_shape(["You are.", "Do this:\n1. that"], tools)
    shape, parts = read_shape(last(t))
    raw = [dumps(one).decode() for one in tools]
    assert SHAPE == shape
    assert [
        Sent("system", None, None, *text("You are.")),
        Sent("system", None, None, *text("Do this:\n1. that")),
        Sent("tool", "Bash", None, *text(raw[0])),
        Sent("tool", "mcp__files__read", None, *text(raw[1])),
    ] == parts


def test_a_snapshot_by_its_parts(t: Transcript) -> None:
    """The prefix is the first system text; of a tool only the schema is sent, which holds its description."""
    bash = tool("Bash", "Runs it.")
    t.prompt_snapshot(["You are."], [bash], cliPrefix="An agent.")
    assert [
        Sent("system", None, None, *text("An agent.")),
        Sent("system", None, None, *text("You are.")),
        Sent("tool", "Bash", None, *text(dumps(bash).decode())),
    ] == read_snapshot(attached(t))
    t.prompt_snapshot(["You are."])
    assert [Sent("system", None, None, *text("You are."))] == read_snapshot(attached(t))


def test_instructions_by_file(t: Transcript) -> None:
    """Each file with its path, what kind of instructions it is, and its measure."""
    t.instructions({"/home/ada/CLAUDE.md": "# Rules\n", "/home/ada/site/CLAUDE.md": "Use spaces."}, "User")
    assert [
        Sent("file", "User", "/home/ada/CLAUDE.md", *text("# Rules\n")),
        Sent("file", "User", "/home/ada/site/CLAUDE.md", *text("Use spaces.")),
    ] == read_instructions(attached(t))


def test_the_other_spelling(t: Transcript) -> None:
    """Snake case says the same, in a line as in what is left of a mended one."""
    t.request(base=FIRST, keep=3)
    t.request_shape(["You are."], [tool("Bash")])
    for line in t.lines():
        kind = json.loads(line)["type"]
        read = read_request if kind == "api-request" else read_shape
        assert read(line) == read(dumps(respelled(json.loads(line)))) == read(parse(line))  # type: ignore[arg-type]
    t.prompt_snapshot(["You are."], [tool("Bash")], cliPrefix="An agent.")
    spelled = msgspec.Raw(dumps(respelled(json.loads(last(t))["attachment"])))
    assert read_snapshot(attached(t)) == read_snapshot(spelled)


@pytest.mark.parametrize(
    "fields",
    [
        {"keep": -1, "tail": "none", "shapeHash": 7, "params": [], "cacheControl": {}, "base": 1, "id": None},
        {"keep": "2", "tail": [1, None, {}], "params": {"model": 1, "output_config": []}, "cacheControl": [1, {}]},
        {"keep": 1e300, "params": None, "cacheControl": [{"path": "x"}, {"path": []}], "querySource": {}},
    ],
)
def test_odd_fields_cost_themselves(t: Transcript, fields: dict[str, Any]) -> None:
    """Whatever stands in a field, the others are read."""
    t.request()
    t.raw(dumps({**json.loads(last(t)), "agentId": "a1", **fields}))
    found = read_request(last(t))
    assert "a1" == found.agent
    assert found.kept is None or 0 <= found.kept
    assert found == read_request(parse(last(t)))


def test_odd_shapes_have_no_parts(t: Transcript) -> None:
    """What is none of the parts that are sent is passed over."""
    for shape in (None, [], {"system": 1, "tools": {}}, {"system": None}):
        assert ("ab", []) == read_shape(dumps({"type": "api-request-shape", "shapeHash": "ab", "shape": shape}))
    assert [] == read_snapshot(msgspec.Raw(b'{"type":"prompt_snapshot","systemPrompt":null,"tools":[1]}'))
    assert [] == read_instructions(msgspec.Raw(b'{"files":{"a":1}}'))
    assert [] == read_instructions(msgspec.Raw(b"[1]"))
