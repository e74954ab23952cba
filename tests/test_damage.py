"""Random damage (D5): never a failure, never a whole record lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import ClaudeFolder, dumps
from tests.picture import ask, assert_same, assert_sound, index, new_store, one, picture, scratch
from tests.profiles import examples
from tests.strategies import transcripts

SPANS = "select id & (1 << 40) - 1, length from records"
noise = st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"?"))


def place(folder: ClaudeFolder, data: bytes) -> Path:
    """Write a main transcript of these bytes and index it."""
    path = folder.main().path
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    db = new_store(folder.home)
    index(db, folder.config)
    return db


@pytest.mark.long
@examples(100)
@given(st.one_of(st.binary(max_size=3_000), st.text('{}[]":,\\nu0{"type"}\x00\n', max_size=300).map(str.encode)))
def test_any_bytes_are_read_without_a_failure(data: bytes) -> None:
    """Bytes of any kind in a transcript's place: no failure, and nothing new on the second run."""
    with scratch() as home:
        folder = ClaudeFolder(home)
        db = place(folder, data)
        assert 0 == index(db, folder.config).changed
        assert one(db, "select offset from transcripts") <= len(data)


Damage = tuple[str, int, int, bytes, bool]
damage = st.tuples(
    st.sampled_from(("whole", "whole", "cut", "behead", "noise", "insert", "overwrite", "splice", "drop a quote")),
    st.integers(0, 2_000),
    st.integers(0, 2_000),
    noise,
    st.booleans(),
)


def spoil(line: bytes, other: bytes, how: Damage) -> bytes:
    """The line, damaged; it may lose its line end, so that the next one is glued to it."""
    kind, first, second, extra, ends = how
    at = first % len(line)
    spoiled = {
        "cut": line[:at],
        "behead": line[at + 1 :],
        "noise": extra,
        "insert": line[:at] + extra + line[at:],
        "overwrite": line[:at] + extra + line[at + len(extra) :],
        "splice": line[:at] + other[second % len(other) :],
        "drop a quote": line.replace(b'"', b"", 1 + first % 5),
    }[kind]
    return spoiled + (b"\n" if ends else b"")


@pytest.mark.long
@examples(150)
@given(transcripts(odd=False), st.lists(damage, max_size=30))
def test_no_whole_record_is_lost(transcript: Any, damages: list[Damage]) -> None:
    """Lines cut, beheaded, spliced, overwritten and glued: each undamaged line's record is there, in its place."""
    lines = [line.rstrip(b"\n") for line in transcript.lines()]
    data = b""
    whole: set[tuple[int, int]] = set()
    for number, line in enumerate(lines):
        how = damages[number] if number < len(damages) else ("whole", 0, 0, b"", True)
        if how[0] == "whole":
            whole.add((len(data), len(line)))
            data += line + b"\n"
        else:
            data += spoil(line, lines[how[2] % len(lines)], how)
    with scratch() as home:
        db = place(ClaudeFolder(home), data)
        assert whole <= set(ask(db, SPANS))
        assert_sound(db)


@pytest.mark.long
@examples(60)
@given(transcripts(odd=False), st.lists(damage, max_size=30), st.integers(0, 20_000))
def test_damage_reads_the_same_in_two_runs(transcript: Any, damages: list[Damage], cut: int) -> None:
    """A damaged transcript that grows past any byte says what it says when read at once."""
    lines = [line.rstrip(b"\n") for line in transcript.lines()]
    pairs = zip(lines, damages, strict=False)
    data = b"".join(line + b"\n" if how[0] == "whole" else spoil(line, lines[0], how) for line, how in pairs)
    cut %= len(data) + 1
    with scratch() as home:
        folder = ClaudeFolder(home)
        db = place(folder, data[:cut])
        path = folder.main().path
        assert path is not None
        with path.open("ab") as file:
            file.write(data[cut:])
        index(db, folder.config)
        grown = picture(db, views=False)
        assert_same(picture(place(folder, data), views=False), grown)


NAMES = (
    *("type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "leafUuid", "sessionId", "timestamp", "cwd"),
    *("version", "isSidechain", "isMeta", "isCompactSummary", "requestId", "agentId", "forkedFrom", "origin", "kind"),
    *("message", "content", "usage", "id", "model", "role", "stop_reason", "text", "thinking", "input", "name"),
    *("input_tokens", "output_tokens", "cache_creation", "cache_read_input_tokens", "iterations", "tool_use_id"),
    *("attachment", "rendered", "data", "prompt", "addedNames", "hookEvent", "filename", "file", "source"),
    *("toolUseResult", "matches", "compactMetadata", "preTokens", "preservedMessages", "preservedSegment", "uuids"),
    *("microcompactMetadata", "compactedToolIds", "replacements", "retractedMessageUuids", "supersedesUuids"),
    *("file_path", "offset", "limit", "command", "skills", "tool_name", "messageUuid", "is_error", "effort"),
    *("session_id", "parent_uuid", "is_meta", "compact_metadata", "forked_from", "requestSessionId", "isDisplayOnly"),
)
TYPES = (
    *("user", "assistant", "system", "attachment", "progress", "last-prompt", "custom-title", "cost-state", "summary"),
    *("content-replacement", "queue-operation", "file-history-snapshot", "tool_use", "tool_result", "image", "text"),
    *("thinking", "document", "agent_progress", "hook_success", "queued_command", "invoked_skills", "file"),
    *("compact_boundary", "microcompact_boundary", "advisor_message", "tool_reference", "prompt_snapshot"),
)
WORDS = (
    *("", "x", "\x00", "\ud83d", "/a.py", "2026-10-05T09:00:00.000Z", "<command-name>/x", "mcp__a__b", "Read", "Task"),
    *("5e551001-0000-4000-8000-000000000001", "req_a", "msg_a", "toolu_a", "## Context Usage\n**Tokens:** 1k / 2k"),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(0, 9),
    st.floats(),
    st.sampled_from(WORDS),
    st.sampled_from(TYPES),
)


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects whose keys are those that transcripts use, often with a type."""
    free = st.dictionaries(st.sampled_from(NAMES), values, max_size=6)
    return st.builds(
        lambda fields, kind: {**fields, **({"type": kind} if kind else {})}, free, st.none() | st.sampled_from(TYPES)
    )


anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | objects(inner), max_leaves=25)


@pytest.mark.long
@examples(150)
@given(st.lists(objects(anything), min_size=1, max_size=6), st.integers(0, 6))
def test_records_of_any_shape_are_kept(drawn: list[dict[str, Any]], cut: int) -> None:
    """Known names with values of any shape, in one run or two: one row a record, no failure, the same facts."""
    lines = [dumps(record).replace(b"\n", b"") + b"\n" for record in drawn]
    with scratch() as home:
        folder = ClaudeFolder(home)
        db = place(folder, b"".join(lines[:cut]))
        path = folder.main().path
        assert path is not None
        with path.open("ab") as file:
            file.write(b"".join(lines[cut:]))
        index(db, folder.config)
        assert len(lines) == one(db, "select count(*) from records")
        assert_sound(db)
        stepwise = picture(db, views=False)
        assert_same(picture(place(folder, b"".join(lines)), views=False), stepwise)


def test_the_command_over_damage(tmp_path: Path) -> None:
    """A transcript of damage in every line: exit 0, a count of the damaged places, each of them with --verbose."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("one")
    for odd in (b"\xff\xfe\x00", b'{"type":"user","mess', b"[1]", b"{" * 3_000, b'{"a":' * 3_000, b"\x1b[2Jnoise"):
        t.raw(odd + b"\n")
    t.response("two", context=10)
    t.raw(b'{"half": ')
    t.write()
    done = folder.crusts("index", "--verbose")
    assert 0 == done.code
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err + done.out
    assert 6 == len(done.err.splitlines())
    db = tmp_path / ".claude-crusts" / "index.db"
    assert [("one",), ("two",)] == ask(db, "select text from texts order by block_id")
    assert json.loads(folder.crusts("index", "--json").out)["problems"] == 0
