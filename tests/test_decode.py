"""Damaged and odd input (D5): whole records are kept, what is left becomes a problem, nothing ends a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crusts_index.transcript.depth import DEEPEST
from tests.builders import OMIT, ClaudeFolder, Json, Transcript, dumps
from tests.hostile import transcript
from tests.picture import ask, index, one, read, scratch

RECORDS = "select id & (1 << 40) - 1, length, type, message from records order by id"
PROBLEMS = "select offset, length, reason from problems order by offset"


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A main transcript."""
    return folder.main()


def line(t: Transcript, **fields: Any) -> bytes:
    """One record's bytes, without a line end, not added to the transcript."""
    t.prompt(fields.pop("text", "words"), **fields)
    return t.pieces.pop().rstrip(b"\n")


def texts(db: Path) -> list[str]:
    """The texts kept, in log order."""
    return [row[0] for row in ask(db, "select text from texts order by block_id")]


def spans(db: Path) -> list[tuple[int, int]]:
    """Offset and length of each record."""
    return [row[:2] for row in ask(db, RECORDS)]


def test_glued_records_are_both_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """Two records on one line: both, each with its own offset and length, and no problem."""
    first, second = line(t, text="éins"), line(t, text="zwei")
    t.raw(first + second + b"\n")
    db = read(folder, t)
    assert [(0, len(first)), (len(first), len(second))] == spans(db)
    assert ["éins", "zwei"] == texts(db)
    assert [] == ask(db, PROBLEMS)


@pytest.mark.parametrize("cut", [1, 2, 30, 120, 200, -1])
def test_a_cut_record_followed_by_a_whole_one(folder: ClaudeFolder, t: Transcript, cut: int) -> None:
    """The whole record is kept; the damaged bytes before it are a problem with their exact place."""
    first, second = line(t, text="naïve 🧪"), line(t, text="whole")
    before = line(t, text="before") + b"\n"
    t.raw(before + first[:cut] + second + b"\n")
    db = read(folder, t)
    length = len(first[:cut])
    assert [(0, len(before) - 1), (len(before) + length, len(second))] == spans(db)
    assert ["before", "whole"] == texts(db)
    (offset, found, _) = one(db, PROBLEMS)
    assert (len(before), length) == (offset, found)


def test_a_whole_record_followed_by_a_cut_one(folder: ClaudeFolder, t: Transcript) -> None:
    """The whole record is kept, the rest of the line is a problem, the next line is read as ever."""
    first, second, third = line(t), line(t)[:100], line(t)
    t.raw(first + second + b"\n" + third + b"\n")
    db = read(folder, t)
    assert [(0, len(first)), (len(first) + 101, len(third))] == spans(db)
    assert (len(first), 100, "record cut short") == one(db, PROBLEMS)


def test_a_record_quoted_in_a_damaged_one_is_none(folder: ClaudeFolder, t: Transcript) -> None:
    """Text that looks like a record inside a cut record is not salvaged as one."""
    inner = json.dumps(json.loads(line(t, text="inner")))
    outer = dumps({"type": "user", "message": {"role": "user", "content": inner}, "uuid": "x"})
    t.raw(outer[: len(outer) - 20] + b"\n")
    db = read(folder, t)
    assert [] == spans(db)
    assert (0, len(outer) - 20) == one(db, PROBLEMS)[:2]


@pytest.mark.parametrize("keeps", ["brace", "nothing"])
def test_a_nested_object_of_a_cut_record_is_no_record(folder: ClaudeFolder, t: Transcript, keeps: str) -> None:
    """A message with a type and ids inside a record that lost its beginning or end is not a record."""
    inner = {"type": "user", "message": {"role": "user", "content": "nested"}, "uuid": "u", "timestamp": "t"}
    nested = dumps({"data": {"message": inner, "type": "agent_progress"}, "toolUseID": "x", "type": "progress"})
    t.raw((nested[:-1] if keeps == "brace" else nested[1:]) + b"\n")
    db = read(folder, t)
    assert [] == texts(db)
    assert 1 == len(ask(db, PROBLEMS))


def test_a_last_line_without_its_end_waits_unless_it_is_whole(folder: ClaudeFolder, t: Transcript) -> None:
    """Half a line is not consumed and no problem; a whole one is taken, and its line end later changes nothing."""
    first = line(t, text="one") + b"\n"
    second = line(t, text="two")
    path = t.path
    assert path is not None
    t.raw(first + second[:-1])
    db = read(folder, t)
    assert (["one"], [], len(first)) == (texts(db), ask(db, PROBLEMS), one(db, "select offset from transcripts"))
    for more, offset in ((second[-1:], len(first + second)), (b"\n", len(first + second) + 1)):
        with path.open("ab") as file:
            file.write(more)
        index(db, folder.config)
        assert ["one", "two"] == texts(db)
        assert offset == one(db, "select offset from transcripts")
    assert [] == ask(db, PROBLEMS)


@pytest.mark.parametrize("last", [b"1", b"[]", b'"text"', b"null", b"{", b"   ", b"{}x"])
def test_a_last_line_that_is_no_object_waits(folder: ClaudeFolder, t: Transcript, last: bytes) -> None:
    """It may be the beginning of more: not consumed, no problem yet."""
    t.prompt("one")
    size = len(t.data())
    t.raw(last)
    db = read(folder, t)
    assert (size, []) == (one(db, "select offset from transcripts"), ask(db, PROBLEMS))


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (b"a\xff\xfeb", "a��b"),
        (b"a\xc3", "a�"),
        (b"a\\ud83d", "a�"),
        (b"a\\ud83d\\ude00", "a\U0001f600"),
        (b"a\\udc00b", "a�b"),
        (b"a\\u0000b", "ab"),
        (b"a\x00b", "ab"),
        (b"a\x07b", "a\x07b"),
        (b"a\tb", "a\tb"),
        ("a\u2028b\x85c".encode(), "a\u2028b\x85c"),
    ],
)
def test_odd_bytes_in_a_text(folder: ClaudeFolder, t: Transcript, written: bytes, kept: str) -> None:
    """Undecodable bytes and lone surrogates become U+FFFD, NULs go, all else stays; lines end at `\\n` only."""
    t.raw(line(t, text="PLACE").replace(b"PLACE", written) + b"\n")
    t.prompt("next")
    db = read(folder, t)
    assert [kept, "next"] == texts(db)
    assert [] == ask(db, PROBLEMS)


@pytest.mark.parametrize(
    ("before", "behind"),
    [(b"\xef\xbb\xbf", b""), (b"\x00" * 9, b""), (b"  ", b"\t "), (b"", b"\r"), (b"\n \r\n", b""), (b"", b"\x00\x00")],
)
def test_bytes_around_a_record(folder: ClaudeFolder, t: Transcript, before: bytes, behind: bytes) -> None:
    """A BOM, runs of NULs, blanks and CR around a record: stripped, the record's own span kept, no problem."""
    whole = line(t)
    t.raw(before + whole + behind + b"\n")
    t.prompt("next")
    db = read(folder, t)
    assert (len(before), len(whole)) == spans(db)[0]
    assert ["words", "next"] == texts(db)
    assert [] == ask(db, PROBLEMS)


@pytest.mark.parametrize("odd", [b"[]", b"1", b"null", b'"text"', b"true", b"plain words", b"}", b"\x01\x02"])
def test_a_line_that_is_no_record(folder: ClaudeFolder, t: Transcript, odd: bytes) -> None:
    """Becomes a problem with its offset and length; the lines around it are read."""
    t.prompt("one")
    offset = len(t.data())
    t.raw(odd + b"\n")
    t.prompt("two")
    db = read(folder, t)
    assert ["one", "two"] == texts(db)
    assert (offset, len(odd)) == one(db, PROBLEMS)[:2]


def nested(depth: int, kind: str) -> bytes:
    """A value of so many levels, with a text at the innermost."""
    opening, closing = (b"[", b"]") if kind == "list" else (b'{"a":', b"}")
    return opening * depth + b'"}]"' + closing * depth


DEPTHS = (240, 300, 490, 600, 970, 1_000, 1_100, 5_000, 20_000)
PLACES = {
    "unknown field": b'{"type":"user","x":DEEP}',
    "content": b'{"type":"user","message":{"content":[{"type":"text","text":"x","y":DEEP}]}}',
    "tool outcome": b'{"type":"user","toolUseResult":DEEP,"message":{"content":"x"}}',
    "tool input": b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","input":{"a":DEEP}}]}}',
    "attachment": b'{"type":"attachment","attachment":{"type":"file","content":DEEP}}',
    "reminder": b'{"type":"attachment","attachment":{"type":"task_reminder","content":[DEEP]}}',
    "snapshot": b'{"type":"attachment","attachment":{"type":"prompt_snapshot","tools":[{"schema":DEEP}]}}',
    "rendered": b'{"type":"attachment","attachment":{"type":"file"},"rendered":[{"content":DEEP}]}',
    "progress": b'{"type":"progress","data":{"type":"agent_progress","message":{"type":"user","message":DEEP}}}',
    "boundary": b'{"type":"system","subtype":"compact_boundary","compactMetadata":{"preservedMessages":DEEP}}',
    "replacement": b'{"type":"content-replacement","replacements":[DEEP]}',
    "cost state": b'{"type":"cost-state","models":DEEP}',
    "odd field beside": b'{"type":"user","uuid":5,"deep":DEEP}',
}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("place", PLACES)
def test_nesting_without_end(folder: ClaudeFolder, t: Transcript, place: str, kind: str) -> None:
    """However deep a record nests, and wherever: it is kept, what lies too deep is a problem, the others are read."""
    deep = 0
    for depth in DEPTHS:
        record = PLACES[place].replace(b"DEEP", nested(depth, kind))
        record = record[:-1] + b',"timestamp":"2026-10-05T09:00:00.000Z"}'
        for way in (record, record + record[:-1], b'{"cut":"' + record):
            t.raw(way + b"\n")
        deep += 3 * (depth > DEEPEST)
    t.prompt("next")
    db = read(folder, t)
    assert 3 * len(DEPTHS) + 1 == one(db, "select count(*) from records")
    assert "next" == texts(db)[-1]
    assert deep == one(db, "select count(*) from problems where reason = 'nested too deeply'")


@pytest.mark.long
def test_reports_on_deep_nesting(folder: ClaudeFolder, t: Transcript) -> None:
    """Nesting at the depths that parsers, encoders and functions that call themselves give up on ends no report."""
    t.response("one", context=10)
    for place in PLACES.values():
        for depth in DEPTHS[:-1]:
            t.raw(place.replace(b"DEEP", nested(depth, "object")) + b"\n")
    t.write()
    hook = dumps({"session_id": t.session, "transcript_path": str(t.path), "hook_event_name": "Stop"})
    for command in ("index --hook", "list", "analyze", "waste", "report -o -", "lost", "verify", "timeline", "status"):
        done = folder.crusts(*command.split(), stdin=hook)
        assert (0, "") == (done.code, done.err), command


@pytest.mark.parametrize("levels", [DEEPEST - 1, DEEPEST, DEEPEST + 1])
def test_sound_and_odd_lines_are_read_to_the_same_depth(folder: ClaudeFolder, t: Transcript, levels: int) -> None:
    """Whether a line takes the quick or the patient way, the same level is the last one that is read."""
    for oddity in (b"", b"\x00"):
        t.raw(b'{"type":"cost-state","a":' + nested(levels - 1, "list") + b"}" + oddity + b"\n")
    db = read(folder, t)
    assert (2 if levels > DEEPEST else 0) == one(db, "select count(*) from problems")


BESIDE = {
    "few": b'"}]"',
    "in a text": b'"' + b'}\\n\\"]{\\\\' * 300 + b'"',
    "in a long text": b'"' + b"}" * 300_000 + b'"',
    "side by side": b"[ {} ]," * 300 + b"[]",
}


@pytest.mark.parametrize("innermost", [b"1", b"[]", b"{}", b'"}]\\""'])
@pytest.mark.parametrize("beside", BESIDE)
def test_brackets_beside_what_is_nested(folder: ClaudeFolder, t: Transcript, innermost: bytes, beside: str) -> None:
    """In texts or side by side they make nothing deeper, however many; an empty list or object is a level."""
    for levels in (DEEPEST, DEEPEST + 1):
        around = levels - 2 - (innermost in (b"[]", b"{}"))
        value = b'[ 1, {"]":' * (around // 2) + b"[" * (around % 2) + innermost
        value += b"]" * (around % 2) + b'},"}" ]' * (around // 2)
        t.raw(b'{"type":"cost-state","a":[' + BESIDE[beside] + b"," + value + b"]}\n")
    db = read(folder, t)
    assert [("nested too deeply",)] == ask(db, "select reason from problems")


def test_numbers_that_are_none(folder: ClaudeFolder, t: Transcript) -> None:
    """NaN and Infinity are no JSON, but the record around them is kept."""
    t.response("one", context=10)
    t.raw(t.pieces.pop().replace(b'"output_tokens":20', b'"output_tokens":NaN'))
    t.response("two", context=10)
    t.raw(t.pieces.pop().replace(b'"userType":"external"', b'"userType":-Infinity'))
    db = read(folder, t)
    assert ["one", "two"] == texts(db)
    assert [(0,), (20,)] == ask(db, "select output_tokens from responses order by id")


@pytest.mark.parametrize("digits", [400, 5_000])
def test_a_number_with_very_many_digits(folder: ClaudeFolder, t: Transcript, digits: int) -> None:
    """Costs that field, not the record: the text stays."""
    t.response("one", context=10)
    t.raw(t.pieces.pop().replace(b'"output_tokens":20', b'"output_tokens":' + b"9" * digits))
    t.prompt("next")
    assert ["one", "next"] == texts(read(folder, t))


def test_unknown_kinds_pass(folder: ClaudeFolder, t: Transcript) -> None:
    """Unknown types, subtypes, attachments and blocks are kept as records and ignored by the sums."""
    t.record("quantum-state", payload={"x": 1})
    t.system("never_seen", content="text")
    t.attachment("never_seen", content={"a": 1})
    t.prompt([{"type": "hologram", "data": "x"}])
    t.response({"type": "fallback", "from": {"model": "a"}}, context=10)
    t.record(OMIT)
    db = read(folder, t)
    assert 6 == len(spans(db))
    assert [] == ask(db, PROBLEMS)
    assert 0 == one(db, "select count(*) from blocks")


@pytest.mark.long
@pytest.mark.parametrize("value", [None, 1, -1, 1.5, True, "", "x", [], [1], {}, {"a": 1}, ["a", None, {}]])
@pytest.mark.parametrize(
    "field",
    [
        *("type", "subtype", "uuid", "parentUuid", "sessionId", "cwd", "version", "isSidechain", "isMeta"),
        *("requestId", "forkedFrom", "origin", "message", "toolUseResult", "agentId", "gitBranch", "timestamp"),
    ],
)
def test_odd_fields_cost_that_field(folder: ClaudeFolder, t: Transcript, field: str, value: Any) -> None:
    """Whatever stands in a field, the record is kept, and so is the one behind it."""
    t.response("one", context=10)
    record: Json = json.loads(t.pieces.pop())
    t.raw(dumps({**record, field: value}) + b"\n")
    t.prompt("next")
    db = read(folder, t)
    assert 2 == len(spans(db))
    if field != "type":
        assert "assistant" == ask(db, RECORDS)[0][2]
    if field not in ("message", "type"):
        assert "one" == texts(db)[0]
        assert 10 == one(db, "select context_tokens from api_calls")


@pytest.mark.parametrize("value", [None, 1, True, "", "x", [], [1, None, "bare"], {}, {"a": 1}])
@pytest.mark.parametrize("field", ["content", "usage", "id", "model", "stop_reason", "role"])
def test_odd_parts_of_a_message_cost_that_part(folder: ClaudeFolder, t: Transcript, field: str, value: Any) -> None:
    """An odd message field costs that field; the call and the text stay where they are not it."""
    t.response("one", context=10)
    record: Json = json.loads(t.pieces.pop())
    record["message"][field] = value
    t.raw(dumps(record) + b"\n")
    t.prompt("next")
    db = read(folder, t)
    assert 2 == len(spans(db))
    if field != "content":
        assert ["one", "next"] == texts(db)
    if field != "usage":
        assert 10 == one(db, "select context_tokens from api_calls")


@pytest.mark.long
@pytest.mark.parametrize("value", [None, 1, True, "", [], [1, None, "bare"], {}, {"a": 1}])
@pytest.mark.parametrize("field", ["type", "id", "name", "input", "tool_use_id", "content", "is_error", "text"])
def test_odd_parts_of_a_block_cost_that_part(folder: ClaudeFolder, t: Transcript, field: str, value: Any) -> None:
    """Odd fields of a tool use and of its result end nothing and leave the rest of the record."""
    use: Json = {"type": "tool_use", "id": "toolu_a", "name": "Read", "input": {"file_path": "/a"}, field: value}
    t.response(use, context=10)
    result: Json = {"type": "tool_result", "tool_use_id": "toolu_a", "content": "text", field: value}
    t.prompt([result, {"type": "text", "text": "beside it"}])
    db = read(folder, t)
    assert 2 == len(spans(db))
    assert 10 == one(db, "select context_tokens from api_calls")
    assert "beside it" in texts(db)


def test_a_broken_sidecar_says_nothing(folder: ClaudeFolder) -> None:
    """A `.meta.json` that is no JSON, or odd, costs what it would have said."""
    for place, content in enumerate((b"", b"{", b"[]", b'{"agentType":5}', b"\xff\xfe", b'{"agentType":"\\ud83d x"}')):
        agent = folder.subagent(agent=f"a{place}", meta={})
        agent.prompt("look")
        path = agent.write()
        path.with_suffix("").with_suffix(".meta.json").write_bytes(content)
    db = read(folder)
    assert 6 == one(db, "select count(*) from transcripts where session_id is not null")
    assert [(None,)] * 5 == ask(db, "select agent_type from transcripts where stem < 'agent-a5'")


@pytest.mark.long
@pytest.mark.parametrize("nul", [b"\\u0000", b"\x00", b"\\\\\\u0000"])
def test_no_column_holds_a_nul(folder: ClaudeFolder, nul: bytes) -> None:
    """Wherever a NUL stands, escaped or raw, in sound lines, odd lines and sidecars: it is gone from every column."""
    t = transcript("aNULb")
    t.path = folder.main().path
    t.pieces = [piece.replace(b"NUL", nul) for piece in t.pieces]
    agent = folder.subagent(agent="a1", meta={"agentType": "a\0b", "description": "a\0b", "toolUseId": "a\0b"})
    agent.prompt("x")
    agent.write()
    db = read(folder, t)
    for (table,) in ask(db, "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"):
        for (column,) in ask(db, "select name from pragma_table_info(?)", table):
            where = f"typeof({column}) = 'text' and instr({column}, char(0))"
            assert [] == ask(db, f"select {column} from {table} where {where}"), (table, column)
    assert "ab" in texts(db) or "a\\b" in texts(db)
