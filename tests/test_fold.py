"""From records to rows: API calls (D1), owners (D2), threads (D3), times (D6), numbers (D7), branches (D10)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import OMIT, ClaudeFolder, Transcript, dumps, text_block, usage
from tests.picture import ask, one, read, scratch
from tests.profiles import examples

OTHER = "5e551001-0000-4000-8000-000000000002"
THIRD = "5e551001-0000-4000-8000-000000000003"
CALLS = """
select input_tokens, cache_write_tokens, cache_read_tokens, output_tokens from api_calls
where is_advisor = 0 order by time_ms, input_tokens
"""


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """The main transcript of the first session."""
    return folder.main()


def assistant(t: Transcript, counts: Any, request: Any = OMIT, message: Any = OMIT, **fields: Any) -> str:
    """One line of a response with the given usage and ids."""
    return t.response("text", usage=counts, request=request, message=message, **fields)


# ---------------------------------------------------------------- D1: what one API call is


def test_lines_of_one_response_are_one_call(folder: ClaudeFolder, t: Transcript) -> None:
    """Three lines, one request id: one call, billed as its last line says, never the sum."""
    t.response("a", "b", "c", usage=usage(5, 100, 900, 70), placeholder=1)
    assert [(5, 100, 900, 70)] == ask(read(folder, t), CALLS)


def test_usage_is_that_of_the_last_record_whole(folder: ClaudeFolder, t: Transcript) -> None:
    """A later line with smaller or missing numbers wins as it is: no field is taken from an earlier one."""
    assistant(t, usage(5, 100, 900, 70, write_1h=40, speed="fast"), "req_a", "msg_a")
    assistant(t, {"input_tokens": 4, "output_tokens": 60}, "req_a", "msg_a")
    db = read(folder, t)
    assert [(4, 0, 0, 60)] == ask(db, CALLS)
    assert (0, None) == one(db, "select cache_write_1h_tokens, speed from api_calls")


def test_a_call_stands_where_its_first_line_stands_and_ends_with_its_last(folder: ClaudeFolder, t: Transcript) -> None:
    """Between the two lines of one call another call begins: order by first line, time of the last line."""
    assistant(t, usage(1), "req_a", "msg_a")
    assistant(t, usage(2), "req_b", "msg_b")
    assistant(t, usage(1, output=99), "req_a", "msg_a")
    db = read(folder, t)
    rows = "select request_id, ordinal, time_ms - first_ms from responses r join api_calls c on c.id = r.call_id"
    assert [("req_a", 1, 2000), ("req_b", 2, 0)] == ask(db, f"{rows} order by r.id")


def test_a_request_id_joins_across_sessions_and_files(folder: ClaudeFolder, t: Transcript) -> None:
    """The same request in a copy under another session id and message id is the same call."""
    assistant(t, usage(5, 6, 7, 8), "req_a", "msg_a")
    other = folder.main(OTHER)
    assistant(other, usage(5, 6, 7, 9), "req_a", "msg_other")
    assert 1 == len(ask(read(folder, t, other), CALLS))


def test_a_message_id_joins_within_one_session_only(folder: ClaudeFolder, t: Transcript) -> None:
    """Equal `message.id`: one call under one record-level session id, two under two."""
    assistant(t, usage(1), "req_a", "msg_same")
    assistant(t, usage(1), "req_b", "msg_same")
    other = folder.main(OTHER)
    assistant(other, usage(1), "req_c", "msg_same")
    assert 2 == len(ask(read(folder, t, other), CALLS))


def test_a_chain_of_ids_is_one_call(folder: ClaudeFolder, t: Transcript) -> None:
    """A and B share a message id, B and C a request id: all three are one call, in whatever order they come."""
    other, third = folder.main(OTHER), folder.main(THIRD)
    assistant(t, usage(1), "req_a", "msg_same")
    assistant(third, usage(3), "req_b", "msg_third")
    assert 2 == len(ask(read(folder, t, third), CALLS))
    assistant(other, usage(2), "req_b", "msg_same", sessionId=t.session)
    assert 1 == len(ask(read(folder, other), CALLS))


def test_without_request_ids_the_input_side_decides(folder: ClaudeFolder, t: Transcript) -> None:
    """Some relays give every response one id: only equal input, read and write make such records one call."""
    for counts in (usage(1, 2, 3, 10), usage(1, 2, 3, 20), usage(1, 2, 4, 20), usage(9, 2, 3, 20)):
        assistant(t, counts, message="msg_relay")
    assert [(1, 2, 3, 20), (1, 2, 4, 20), (9, 2, 3, 20)] == ask(read(folder, t), CALLS)


def test_a_record_without_any_id_is_a_call_of_its_own(folder: ClaudeFolder, t: Transcript) -> None:
    """Neither request id nor message id: equal numbers or not, each record is a call."""
    assistant(t, usage(1))
    assistant(t, usage(1))
    assistant(t, usage(1), request="", message="")
    assert 3 == len(ask(read(folder, t), CALLS))


def test_no_usage_is_no_call_and_all_zero_is_one_without_a_point(folder: ClaudeFolder, t: Transcript) -> None:
    """Without a usage object there is no call; with an empty one or zeros there is, of context 0."""
    t.response("nothing billed", usage=OMIT)
    t.response("null", usage=None, message="msg_null", request="req_null")
    line = json.loads(t.pieces.pop())
    line["message"]["usage"] = None
    t.raw(dumps(line) + b"\n")
    assistant(t, {}, "req_empty")
    assistant(t, usage(0, 0, 0, 0), "req_zero")
    db = read(folder, t)
    assert [("req_empty", 0), ("req_zero", 0)] == ask(
        db,
        "select r.request_id, c.context_tokens from api_calls c join responses r on r.call_id = c.id order by r.id",
    )
    assert 4 == one(db, "select max(message) from records")


@pytest.mark.parametrize(
    ("flat", "nested", "write", "hour"),
    [
        (100, {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 20}, 100, 20),
        (100, {"ephemeral_5m_input_tokens": 90, "ephemeral_1h_input_tokens": 40}, 130, 40),
        (0, {"ephemeral_1h_input_tokens": 50}, 50, 50),
        (None, None, 0, 0),
        (70, None, 70, 0),
        (70, {}, 70, 0),
        (70, "odd", 70, 0),
    ],
)
def test_cache_write_is_the_larger_figure(
    folder: ClaudeFolder, t: Transcript, flat: Any, nested: Any, write: int, hour: int
) -> None:
    """The flat field or the sum of 5m and 1h, whichever is larger; the 1h share as logged."""
    assistant(t, {"input_tokens": 1, "cache_creation_input_tokens": flat, "cache_creation": nested}, "req_a")
    db = read(folder, t)
    assert (write, hour) == one(db, "select cache_write_tokens, cache_write_1h_tokens from api_calls")


@pytest.mark.parametrize(
    ("logged", "kept", "is_problem"),
    [
        (None, 0, False),
        (OMIT, 0, False),
        (0, 0, False),
        (7.9, 7, False),
        (-0.0, 0, False),
        (2**53, 2**53, False),
        (2**53 + 1, 0, True),
        (2**70, 0, True),
        (1e300, 0, True),
        (-1, 0, True),
        (-1.5, 0, True),
        ("12", 0, True),
        (True, 0, True),
        ([], 0, True),
        ({}, 0, True),
    ],
)
@pytest.mark.parametrize("field", ["input_tokens", "cache_read_input_tokens", "output_tokens"])
def test_odd_counts(folder: ClaudeFolder, t: Transcript, field: str, logged: Any, kept: int, is_problem: bool) -> None:
    """Null and missing are 0, floats are cut; negative, too large and no number: 0 and a problem row."""
    counts = {"input_tokens": 11, "cache_read_input_tokens": 12, "output_tokens": 13, field: logged}
    assistant(t, {key: value for key, value in counts.items() if value is not OMIT}, "req_a")
    db = read(folder, t)
    columns = {"input_tokens": 11, "cache_read_tokens": 12, "output_tokens": 13}
    columns[field.replace("_input", "") if "cache" in field else field] = kept
    assert tuple(columns.values()) == one(db, f"select {', '.join(columns)} from api_calls")
    assert [(1,)] * is_problem == ask(db, "select 1 from problems")


def test_synthetic_records_are_no_calls(folder: ClaudeFolder, t: Transcript) -> None:
    """`<synthetic>` in `message.model` or at top level: no call, no message, no model."""
    t.synthetic()
    t.response("x", usage=usage(5), model="<synthetic>")
    t.response("x", usage=usage(5), model="claude-opus-4-8")
    line = json.loads(t.pieces.pop())
    line["model"] = "<synthetic>"
    t.raw(dumps(line) + b"\n")
    db = read(folder, t)
    assert [] == ask(db, "select 1 from api_calls union all select 1 from responses")
    assert [(None,)] * 3 == ask(db, "select message from records")


def test_an_advisor_is_a_call_of_its_own_model(folder: ClaudeFolder, t: Transcript) -> None:
    """An `advisor_message` iteration is billed to its own model and in no curve; others add nothing."""
    advisor = {"type": "advisor_message", "model": "claude-fable-5", **usage(500, 0, 0, 50)}
    again = {"type": "message", "model": "claude-opus-4-8", **usage(5, 0, 100, 7)}
    t.response("a", "b", usage=usage(5, 0, 100, 7, iterations=[again, advisor, {"type": "new_kind", **usage(9)}]))
    db = read(folder, t)
    rows = "select model, input_tokens, output_tokens, is_advisor from api_calls order by is_advisor"
    assert [("claude-opus-4-6", 5, 7, 0), ("claude-fable-5", 500, 50, 1)] == ask(db, rows)
    copy = folder.main(OTHER)
    copy.copy(t.lines(), forked=True)
    assert 2 == len(ask(read(folder, copy), rows))


@pytest.mark.parametrize("first", ["progress", "file"])
def test_a_nested_usage_counts_only_without_the_subagents_file(folder: ClaudeFolder, t: Transcript, first: str) -> None:
    """Progress records repeat a subagent's calls: they count until the subagent's own file is there."""
    agent = folder.subagent(agent="a1b2c3d")
    agent.prompt("look")
    agent.response("one", usage=usage(5, 6, 7, 8), request="req_n", message="msg_n")
    t.agent_progress("a1b2c3d", agent.lines())
    t.agent_progress("b2c3d4e", folder.subagent(agent="b2c3d4e").lines())
    if first == "progress":
        db = read(folder, t)
        assert [(5, 6, 7, 8)] == ask(db, CALLS)
        assert "progress" == one(db, "select h.kind from api_calls c join threads h on h.id = c.thread_id")
        db = read(folder, agent)
    else:
        db = read(folder, t, agent)
    assert [(5, 6, 7, 8)] == ask(db, CALLS)
    assert "subagent" == one(db, "select h.kind from api_calls c join threads h on h.id = c.thread_id")


def test_nested_tool_uses_stand_in_a_thread_per_agent(folder: ClaudeFolder, t: Transcript) -> None:
    """Tool uses and results nested in progress records: their own threads, and owned while no file has them."""
    lines = {}
    for agent in ("a1b2c3d", "b2c3d4e"):
        sub = folder.subagent(agent=agent)
        sub.read("/a.py", "x\n", request=f"req_{agent}")
        lines[agent] = sub.lines()
        t.agent_progress(agent, lines[agent])
    db = read(folder, t)
    rows = """select h.kind, h.agent_id, u.name, u.owns, u.owns_result, u.result_chars from tool_uses u
              join threads h on h.id = u.thread_id order by h.agent_id"""
    assert [("progress", agent, "Read", 1, 1, 2) for agent in lines] == ask(db, rows)
    sub = folder.subagent(agent="a1b2c3d")
    for line in lines["a1b2c3d"]:
        sub.raw(line)
    read(folder, sub)
    assert [
        ("progress", "a1b2c3d", 0, 0),
        ("progress", "b2c3d4e", 1, 1),
        ("subagent", "a1b2c3d", 1, 1),
    ] == ask(
        db,
        """select h.kind, coalesce(h.agent_id, 'a1b2c3d'), u.owns, u.owns_result from tool_uses u
           join threads h on h.id = u.thread_id order by 1, 2""",
    )


def test_what_a_tool_result_says_of_usage_is_never_added(folder: ClaudeFolder, t: Transcript) -> None:
    """`toolUseResult.usage` and `totalTokens` repeat the subagent's last request."""
    done = {
        "status": "completed",
        "agentId": "a1b2c3d",
        "totalTokens": 9_999,
        "usage": usage(9_000, 0, 0, 999),
    }
    t.call("Task", {"prompt": "look", "subagent_type": "Explore"}, "found", tool_use_result=done, usage=usage(1))
    db = read(folder, t)
    assert [(1, 0, 0, 20)] == ask(db, CALLS)
    assert ("Explore", "a1b2c3d") == one(db, "select agent_type, agent_id from tool_uses")


def test_cost_state_is_kept_and_the_last_wins(folder: ClaudeFolder, t: Transcript) -> None:
    """`cost-state` records stand beside the billed sums, never in them."""
    t.meta("cost-state", totalCostUSD=1.5, modelUsage={"claude-opus-4-8": {"inputTokens": 9}})
    t.meta("cost-state", totalCostUSD=2.5)
    db = read(folder, t)
    assert [] == ask(db, CALLS)
    assert {"totalCostUSD": 2.5} == json.loads(one(db, "select value from meta_records where key = 'cost-state'"))


# ---------------------------------------------------------------- D2: who owns what


OWNER = "select t.stem from api_calls c join transcripts t on t.id = c.transcript_id"


def in_either_order(folder: ClaudeFolder, *transcripts: Transcript, backwards: bool) -> Path:
    """Index the transcripts one after the other."""
    for transcript in reversed(transcripts) if backwards else transcripts:
        db = read(folder, transcript)
    return db


@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_not_copied_owns(folder: ClaudeFolder, t: Transcript, backwards: bool) -> None:
    """Rank 1: the original before a fork's copy, though the copy is of its own session and earlier by path."""
    fork = folder.main("00000000-0000-4000-8000-000000000001")
    t.read("/a.py", context=100)
    fork.copy(t.lines(), forked=True)
    db = in_either_order(folder, t, fork, backwards=backwards)
    assert t.session == one(db, OWNER)
    assert [(fork.session, 0, 0), (t.session, 1, 1)] == ask(
        db,
        "select t.stem, u.owns, u.owns_result from tool_uses u join transcripts t on t.id = u.transcript_id order by 1",
    )


@pytest.mark.parametrize("backwards", [False, True])
def test_a_transcript_record_owns_before_a_progress_record(
    folder: ClaudeFolder, t: Transcript, backwards: bool
) -> None:
    """Rank 2 stands above rank 3: the subagent's file before the progress record in a main transcript."""
    agent = folder.subagent(OTHER)
    agent.response("one", usage=usage(5), request="req_n", message="msg_n")
    t.agent_progress("a1b2c3d", agent.lines())
    assert agent.path is not None
    assert agent.path.stem == one(in_either_order(folder, t, agent, backwards=backwards), OWNER)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_main_thread_owns_before_a_subagent(folder: ClaudeFolder, t: Transcript, backwards: bool) -> None:
    """Rank 3: a side-question's file repeats the main thread's call, a little earlier."""
    agent = folder.subagent(start=t.clock.now.replace(year=2025))
    assistant(agent, usage(5), "req_a", "msg_a")
    assistant(t, usage(5), "req_a", "msg_a")
    assert t.session == one(in_either_order(folder, t, agent, backwards=backwards), OWNER)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("own", [1, 9])
def test_the_record_of_its_transcripts_session_owns(
    folder: ClaudeFolder, t: Transcript, backwards: bool, own: int
) -> None:
    """Rank 4: a resumed copy keeps the old session id, so the old session's own transcript owns."""
    resumed = folder.main("00000000-0000-4000-8000-000000000001")
    t.read("/a.py", context=100)
    resumed.copy(t.lines())
    for _ in range(own):
        resumed.prompt("go on")
    db = in_either_order(folder, t, resumed, backwards=backwards)
    assert t.session == one(db, OWNER)
    assert t.session == one(
        db, "select t.stem from tool_uses u join transcripts t on t.id = u.transcript_id where u.owns"
    )


@pytest.mark.parametrize("own", [1, 9])
def test_compactions_have_owners_too(folder: ClaudeFolder, t: Transcript, own: int) -> None:
    """A boundary in a resumed copy is the original's: one of the two counts, that of its own session."""
    resumed = folder.main("00000000-0000-4000-8000-000000000001")
    t.prompt("one")
    t.boundary()
    resumed.copy(t.lines())
    for _ in range(own):
        resumed.prompt("go on")
    owners = "select session_id, is_owner from compactions_overview order by session_id"
    assert [(resumed.session, 0), (t.session, 1)] == ask(read(folder, t, resumed), owners)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_earliest_owns(folder: ClaudeFolder, t: Transcript, backwards: bool) -> None:
    """Rank 5: by the time of the first line, though its path comes later."""
    later = folder.main("00000000-0000-4000-8000-000000000001", start=t.clock.now.replace(year=2027))
    assistant(t, usage(5, output=1), "req_a", "msg_a")
    assistant(later, usage(5, output=2), "req_a", "msg_b")
    db = in_either_order(folder, t, later, backwards=backwards)
    assert t.session == one(db, OWNER)
    assert 1 == one(db, "select output_tokens from api_calls")


@pytest.mark.parametrize("backwards", [False, True])
def test_the_path_decides_last(folder: ClaudeFolder, t: Transcript, backwards: bool) -> None:
    """Rank 6: all else equal, the first path."""
    first = folder.main("00000000-0000-4000-8000-000000000001")
    assistant(t, usage(5), "req_a", "msg_a")
    assistant(first, usage(5), "req_a", "msg_b")
    assert first.session == one(in_either_order(folder, t, first, backwards=backwards), OWNER)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_owners_usage_holds_in_copies_too(folder: ClaudeFolder, t: Transcript, backwards: bool) -> None:
    """A copy with another count for the same call is not believed, and its blocks share the owner's output."""
    t.response("word", usage=usage(5, output=4), request="req_a", message="msg_a")
    fork = folder.main(OTHER)
    fork.copy(t.lines(), forked=True)
    line = json.loads(fork.pieces[0])
    line["message"]["usage"]["output_tokens"] = 9_000
    fork.pieces[0] = dumps(line) + b"\n"
    db = in_either_order(folder, t, fork, backwards=backwards)
    assert 4 == one(db, "select output_tokens from api_calls")
    assert [(4, 1), (4, 1)] == ask(db, "select tokens, is_exact from blocks")


def test_a_uuid_twice_in_one_transcript_counts_once(folder: ClaudeFolder, t: Transcript) -> None:
    """The first record counts; the later one is kept, flagged, and has no message, block or call."""
    t.prompt("one")
    t.response("two", usage=usage(1))
    t.pieces += [t.pieces[0], t.pieces[1]]
    db = read(folder, t)
    assert [(0, 1), (0, 2), (1, None), (1, None)] == ask(db, "select is_duplicate, message from records order by id")
    assert (2, 1) == one(db, "select (select count(*) from blocks), (select count(*) from responses)")


def test_uuids_that_are_none_are_no_duplicates(folder: ClaudeFolder, t: Transcript) -> None:
    """Only a well-formed uuid says that two records are one."""
    for _ in range(2):
        t.prompt("same words", uuid="not-a-uuid")
        t.prompt("same words", uuid="")
    assert [(0, place) for place in (1, 2, 3, 4)] == ask(
        read(folder, t), "select is_duplicate, message from records order by id"
    )


def test_a_copied_boundary_is_the_one_it_was_forked_from(folder: ClaudeFolder, t: Transcript) -> None:
    """A fork may give the boundary a new uuid: `forkedFrom.messageUuid` names the compaction."""
    t.prompt("one")
    t.boundary()
    fork = folder.main(OTHER)
    fork.copy(t.lines(), forked=True)
    line = json.loads(fork.pieces[-1])
    line["uuid"] = fork.new_uuid()
    fork.pieces[-1] = dumps(line) + b"\n"
    assert 1 == one(read(folder, t, fork), "select count(distinct uuid) from compactions")


# ---------------------------------------------------------------- D3: sessions, threads, projects


def test_the_session_of_a_main_file(folder: ClaudeFolder) -> None:
    """Its name if that is a UUID, else the most frequent `sessionId` in it, ties to the smaller."""
    named = folder.main()
    named.prompt("one", sessionId=OTHER)
    odd = Transcript(OTHER, path=folder.project_folder("/home/ada/site") / "notes.jsonl")
    for session in (THIRD, OTHER, OTHER, THIRD, "zz"):
        odd.prompt("one", sessionId=session)
    db = read(folder, named, odd)
    rows = "select t.stem, s.session_id from transcripts t join sessions s on s.id = t.session_id order by 1"
    assert [(named.session, named.session), ("notes", OTHER)] == ask(db, rows)


def test_the_session_of_a_subagent_file(folder: ClaudeFolder) -> None:
    """The session folder it lies in, also levels deeper; in the old place its records' `sessionId`."""
    deep, old = folder.subagent(under="workflows/w1"), folder.subagent(OTHER, "old", old_place=True)
    deep.prompt("one", sessionId=OTHER)
    old.prompt("one")
    db = read(folder, deep, old)
    rows = "select t.stem, s.session_id, t.kind from transcripts t join sessions s on s.id = t.session_id order by 1"
    assert [("agent-a1b2c3d", deep.session, "subagent"), ("agent-old", OTHER, "subagent")] == ask(db, rows)


def test_threads_of_a_transcript(folder: ClaudeFolder, t: Transcript) -> None:
    """One main thread, and one for each root of sidechain lines; calls and messages number on in each."""
    t.prompt("one")
    for words in ("look here", "look there"):
        side = t.sidechain()
        side.prompt(words)
        side.response("found", context=100)
    t.response("two", context=200)
    db = read(folder, t)
    assert [(0, "main"), (1, "sidechain"), (2, "sidechain")] == ask(db, "select id & 1048575, kind from threads")
    assert [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2), (0, 2)] == ask(
        db, "select thread_id & 1048575, message from records order by id"
    )
    assert [(0, 1), (1, 1), (2, 1)] == ask(db, "select thread_id & 1048575, ordinal from responses order by thread_id")


def test_interleaved_sidechains_stay_apart(folder: ClaudeFolder, t: Transcript) -> None:
    """Two sidechains that log in turn are two threads, by their parents."""
    a, b = t.sidechain(), t.sidechain()
    for _ in range(3):
        a.prompt("a")
        b.prompt("b")
    db = read(folder, t)
    assert [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)] == ask(
        db, "select thread_id & 1048575, message from records order by id"
    )


def test_the_project_is_the_first_cwd(folder: ClaudeFolder, t: Transcript) -> None:
    """The session's first `cwd`, of the main transcript; its name is the last part; without any, the folder's name."""
    t.record("mode", cwd=OMIT)
    t.prompt("one", cwd="/home/ada/my_site/")
    t.prompt("two", cwd="/home/ada/elsewhere")
    agent = folder.subagent(start=t.clock.now.replace(year=2025))
    agent.prompt("look", cwd="/tmp/agent")
    bare = folder.main(OTHER, project="/srv/x")
    bare.prompt("one", cwd=OMIT)
    rows = "select s.session_id, p.path, p.name from sessions s join projects p on p.id = s.project_id order by 1"
    assert [(t.session, "/home/ada/my_site/", "my_site"), (OTHER, "-srv-x", "-srv-x")] == ask(
        read(folder, t, agent, bare), rows
    )


def test_parts_of_a_session_are_all_in_view(folder: ClaudeFolder, t: Transcript) -> None:
    """Two transcripts of one session without common uuids are its parts: both are shown."""
    t.prompt("one")
    part = Transcript(t.session, path=folder.project_folder("/home/ada/other") / f"{t.session}.jsonl")
    part.ids.seed(7)
    part.prompt("two")
    assert [(1,), (1,)] == ask(read(folder, t, part), "select in_view from transcripts")


@pytest.mark.parametrize("backwards", [False, True])
def test_of_copies_the_one_with_the_latest_message_is_shown(
    folder: ClaudeFolder, t: Transcript, backwards: bool
) -> None:
    """Two transcripts of one session that share uuids: the view is the one with the later main-thread message."""
    t.prompt("one")
    copy = Transcript(t.session, path=folder.project_folder("/home/ada/other") / f"{t.session}.jsonl")
    copy.copy(t.lines())
    copy.clock = t.clock
    copy.ids.seed(7)
    copy.prompt("two")
    t.meta("custom-title", customTitle="later, but no message")
    rows = "select folder, in_view from transcripts order by 1"
    db = in_either_order(folder, t, copy, backwards=backwards)
    assert [("-home-ada-other", 1), ("-home-ada-site", 0)] == ask(db, rows)


# ---------------------------------------------------------------- D6: times


@pytest.mark.parametrize(
    ("logged", "wanted"),
    [
        ("2026-10-05T09:00:00.000Z", "2026-10-05T09:00:00.000"),
        ("2026-10-05T11:00:00+02:00", "2026-10-05T09:00:00.000"),
        ("2026-10-05T09:00:00.123456789Z", "2026-10-05T09:00:00.123"),
        ("2026-10-05T09:00:00.999999Z", "2026-10-05T09:00:00.999"),
        ("2026-10-05 09:00:00", "2026-10-05T09:00:00.000"),
        ("1", None),
        ("", None),
        (None, None),
        (OMIT, None),
        (17_000, None),
        ("yesterday", None),
        ("2026-13-45T99:00:00Z", None),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_times_are_utc_milliseconds(folder: ClaudeFolder, t: Transcript, logged: Any, wanted: str | None) -> None:
    """One form for all; a record without a valid one takes the time of the record before it and is a problem."""
    t.prompt("before", timestamp="2026-10-05T08:00:00.000Z")
    t.prompt("odd", timestamp=logged)
    db = read(folder, t)
    got = ask(db, "select strftime('%Y-%m-%dT%H:%M:%f', time_ms / 1000.0, 'unixepoch') from records order by id")
    assert (wanted or "2026-10-05T08:00:00.000",) == got[1]
    assert (0 if wanted else 1) == one(db, "select count(*) from problems")


def test_a_first_record_without_a_time_has_none(folder: ClaudeFolder, t: Transcript) -> None:
    """There is no record before it: null, and a problem."""
    t.prompt("odd", timestamp=OMIT)
    t.prompt("next")
    t.meta("custom-title", customTitle="bookkeeping needs no time")
    db = read(folder, t)
    assert (None,) == ask(db, "select time_ms from records order by id")[0]
    assert 1 == one(db, "select count(*) from problems")
    assert (
        ask(db, "select time_ms from records order by id")[1]
        == one(db, "select first_ms, last_ms from transcripts")[:1]
    )


# ---------------------------------------------------------------- D7: messages and their numbers


def numbers(db: Path) -> list[int | None]:
    """The message number of each record in log order."""
    return [row[0] for row in ask(db, "select message from records order by id")]


def test_a_response_is_one_message_numbered_at_its_first_line(folder: ClaudeFolder, t: Transcript) -> None:
    """A tool result between the lines of a response does not renumber the later lines."""
    t.prompt("one")
    block = t.tool_use("Bash", {"command": "ls"})
    assistant(t, usage(1), "req_a", "msg_a")
    t.response(block, usage=usage(1), request="req_a", message="msg_a")
    t.tool_result(block["id"])
    assistant(t, usage(1), "req_a", "msg_a")
    t.prompt("two")
    assert [1, 2, 2, 3, 2, 4] == numbers(read(folder, t))


def test_lines_of_a_response_meet_by_message_id_else_by_request_id(folder: ClaudeFolder, t: Transcript) -> None:
    """Equal `message.id`, else equal `requestId`, else the record itself."""
    assistant(t, usage(1), "req_a", "msg_a")
    assistant(t, usage(1), "req_b", "msg_a")
    assistant(t, usage(1), "req_c")
    assistant(t, usage(1), "req_c")
    assistant(t, usage(1))
    assistant(t, usage(1))
    assert [1, 1, 2, 2, 3, 4] == numbers(read(folder, t))


def test_phantom_records_are_no_messages(folder: ClaudeFolder, t: Transcript) -> None:
    """Bookkeeping puts nothing into the context, nor does a `system` record that the model never sees."""
    t.prompt("one")
    t.progress("hook_progress", hookName="PreToolUse")
    t.meta("file-history-snapshot", messageId="m", snapshot={}, isSnapshotUpdate=False)
    t.meta("queue-operation", operation="enqueue", content="later", timestamp=t.clock.tick())
    for kind in (
        "custom-title",
        "ai-title",
        "summary",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "quantum",
    ):
        t.meta(kind)
    t.synthetic()
    for subtype in ("turn_duration", "stop_hook_summary", "api_error", "never_seen"):
        t.system(subtype, content="text")
    t.boundary()
    t.prompt("shown to the person only", isVisibleInTranscriptOnly=True)
    t.prompt("two")
    found = numbers(read(folder, t))
    assert [1, 2] == [number for number in found if number is not None]
    assert (1, 2) == (found[0], found[-1])


def test_what_puts_text_or_media_into_the_context_is_a_message(folder: ClaudeFolder, t: Transcript) -> None:
    """Prompts, results, summaries, injected text, images and local command output each take a number."""
    t.prompt("words")
    t.prompt([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}])
    t.prompt([{"type": "document", "source": {"type": "base64", "data": "AAAAAAAA"}}])
    t.prompt("a skill's body", isMeta=True)
    t.tool_result("toolu_unknown", "late")
    t.summary()
    t.system("local_command", content="<local-command-stdout>done</local-command-stdout>")
    t.prompt("")
    t.prompt([])
    assert [1, 2, 3, 4, 5, 6, 7, None, None] == numbers(read(folder, t))


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        ("hook_success", {"hookName": "h", "content": "said", "stdout": "not this"}, "said"),
        ("hook_success", {"hookName": "h", "content": "", "stdout": "not this"}, None),
        ("hook_additional_context", {"content": ["a", "b"]}, "a\nb"),
        (
            "file",
            {"filename": "/a", "content": {"type": "text", "file": {"filePath": "/a", "content": "inside"}}},
            "inside",
        ),
        ("skill_listing", {"content": "- a skill", "names": ["a"]}, "- a skill"),
        ("deferred_tools_delta", {"addedNames": ["X"], "addedLines": ["X: does x"]}, "X: does x"),
        ("queued_command", {"prompt": "and then", "commandMode": "prompt"}, "and then"),
        ("never_seen", {"payload": "unknown"}, None),
        ("date_change", {}, None),
    ],
)
def test_attachments_are_messages_by_what_they_render_to(
    folder: ClaudeFolder, t: Transcript, kind: str, fields: dict[str, Any], text: str | None
) -> None:
    """Per type: hooks their `content` only, files their content, listings their text; nothing: no message."""
    t.attachment(kind, **fields)
    db = read(folder, t)
    assert [None if text is None else 1] == numbers(db)
    assert ([] if text is None else [(text, len(text))]) == ask(
        db, "select x.text, b.chars from blocks b join texts x on x.block_id = b.id"
    )
    assert (kind, kind) == one(db, "select a.type, r.subtype from attachments a join records r on r.id = a.record_id")


def test_what_was_rendered_stands_for_an_attachment(folder: ClaudeFolder, t: Transcript) -> None:
    """`rendered`, where logged, is what the model got."""
    rendered = [{"type": "user", "content": [text_block("exactly this")]}]
    t.attachment("file", filename="/a", content="not this", envelope={"rendered": rendered})
    assert [("exactly this",)] == ask(read(folder, t), "select text from texts")


# ---------------------------------------------------------------- D10: epochs and branches


def places(db: Path) -> list[tuple[int, int]]:
    """Branch and epoch of each record in log order."""
    return ask(db, "select branch, epoch from records order by id")


def test_a_boundary_begins_an_epoch(folder: ClaudeFolder, t: Transcript) -> None:
    """Records behind a boundary stand in the next epoch, the boundary itself first."""
    t.prompt("one")
    t.boundary("auto", 150_000, 9_000, durationMs=5, preCompactDiscoveredTools=["X"])
    t.summary()
    t.prompt("two")
    t.boundary("manual")
    t.prompt("three")
    db = read(folder, t)
    assert [0, 1, 1, 1, 2, 2] == [epoch for _, epoch in places(db)]
    assert [("auto", 150_000, 9_000, 5, '["X"]'), ("manual", 167_000, None, None, None)] == ask(
        db,
        "select trigger, pre_tokens, post_tokens, duration_ms, discovered_tools from compactions order by id",
    )


def test_a_second_prompt_on_one_parent_opens_a_branch(folder: ClaudeFolder, t: Transcript) -> None:
    """A rewind: the prompt goes back to a record that has a prompt already; what follows takes its branch."""
    t.prompt("one")
    answer = t.response("ok", context=100)
    t.prompt("two")
    t.response("no good", context=200)
    t.prompt("two, better", parentUuid=answer)
    t.response("good", context=210)
    db = read(folder, t)
    assert [0, 0, 0, 0, 1, 1] == [branch for branch, _ in places(db)]
    assert (1, 0, bytes.fromhex(answer.replace("-", ""))) == one(
        db, "select branch, parent_branch, fork_uuid from branches"
    )


def test_tool_results_of_parallel_calls_open_no_branch(folder: ClaudeFolder, t: Transcript) -> None:
    """Several children of one record are no rewind as long as they are no prompts."""
    t.prompt("one")
    uses = [t.tool_use("Read", {"file_path": f"/{name}"}) for name in "abc"]
    t.response(*uses, context=100)
    last = t.parent
    for use in uses:
        t.tool_result(use["id"], "x", parentUuid=last)
    assert {(0, 0)} == set(places(read(folder, t)))


def test_a_boundary_after_a_rewind_counts_on_its_branch(folder: ClaudeFolder, t: Transcript) -> None:
    """A rewind to before a boundary leaves it: the branch that opens there stands in the earlier epoch."""
    first = t.prompt("one")
    t.prompt("two", parentUuid=first)
    t.boundary()
    t.summary()
    t.prompt("three")
    t.prompt("two, again", parentUuid=first)
    t.response("x", context=10)
    db = read(folder, t)
    assert [(0, 0), (0, 0), (0, 1), (0, 1), (0, 1), (1, 0), (1, 0)] == places(db)


def test_interleaved_panes_keep_their_branches(folder: ClaudeFolder, t: Transcript) -> None:
    """Two panes that log in turn into one file each stay on their branch, with all lines of their calls."""
    root = t.prompt("one")
    left = t.prompt("left", parentUuid=root)
    right = t.prompt("right", parentUuid=root)
    left = t.response("l", parentUuid=left, context=10)
    right = t.response("r", parentUuid=right, context=10)
    t.prompt("left on", parentUuid=left)
    t.prompt("right on", parentUuid=right)
    assert [0, 0, 1, 0, 1, 0, 1] == [branch for branch, _ in places(read(folder, t))]


def test_lines_of_a_call_and_its_results_take_the_calls_branch(folder: ClaudeFolder, t: Transcript) -> None:
    """Though they are logged after a rewind, without a parent that says so."""
    root = t.prompt("one")
    block = t.tool_use("Bash", {"command": "ls"})
    t.response("x", usage=usage(1), request="req_a", message="msg_a")
    t.response(block, usage=usage(1), request="req_a", message="msg_a")
    t.prompt("other", parentUuid=None)
    t.prompt("other", parentUuid=root)
    t.prompt("again", parentUuid=root)
    t.response("y", usage=usage(1), request="req_a", message="msg_a", parentUuid=None)
    t.tool_result(block["id"], "late", parentUuid="00000000-0000-4000-8000-00000000dead")
    found = [branch for branch, _ in places(read(folder, t))]
    assert [found[1]] * 4 == [found[1], found[2], found[6], found[7]]
    assert found[5] not in (found[1],)


def test_removals_name_what_was_taken_out(folder: ClaudeFolder, t: Transcript) -> None:
    """Microcompaction, replacement, retraction and supersession, each with what it takes out."""
    meta = {"tokensSaved": 70, "compactedToolIds": ["toolu_a", "toolu_b"], "clearedAttachmentUUIDs": []}
    t.system("microcompact_boundary", microcompactMetadata=meta)
    gone = "00000000-0000-4000-8000-00000000dead"
    t.system("api_refusal", retractedMessageUuids=[gone])
    t.response("better", context=5, supersedesUuids=[gone])
    t.meta(
        "content-replacement",
        replacements=[{"kind": "tool-result", "toolUseId": "toolu_c", "replacement": "x"}],
    )
    dead = bytes.fromhex(gone.replace("-", ""))
    assert [
        ("microcompact", "a", None, 70),
        ("microcompact", "b", None, None),
        ("retraction", None, dead, None),
        ("superseded", None, dead, None),
        ("replacement", "c", None, None),
    ] == ask(
        read(folder, t),
        "select kind, use_key, uuid, saved_tokens from removals order by record_id, place",
    )


def test_the_leaf_of_a_last_prompt_is_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """`last-prompt` names the live leaf: its record's parent column holds it."""
    leaf = t.prompt("one")
    t.meta("last-prompt", lastPrompt="one", leafUuid=leaf)
    db = read(folder, t)
    assert bytes.fromhex(leaf.replace("-", "")) == one(db, "select parent_uuid from records where type = 'last-prompt'")
    assert "one" == one(db, "select value from meta_records where key = 'last-prompt'")


# ---------------------------------------------------------------- branches against a naive reading of D10

Turn = tuple[str, int]


@pytest.mark.long
@examples(60)
@given(
    st.lists(
        st.tuples(st.sampled_from(("prompt", "response", "boundary", "result")), st.integers(0, 30)),
        max_size=25,
    )
)
def test_branches_and_epochs_read_naively(turns: list[Turn]) -> None:
    """Over random trees: a record takes its parent's place, a second prompt or boundary on a parent a new branch."""
    with scratch() as home:
        folder = ClaudeFolder(home)
        t = folder.main()
        uuids = [t.prompt("root")]
        tree: list[tuple[str, str, str | None]] = [(uuids[0], "prompt", None)]
        for kind, back in turns:
            parent = uuids[-1 - back % len(uuids)] if back > 12 else uuids[-1]
            if kind == "prompt":
                made = t.prompt("go", parentUuid=parent)
            elif kind == "response":
                made = t.response("ok", context=10, parentUuid=parent)
            elif kind == "boundary":
                made = t.boundary(logicalParentUuid=parent)
                line = json.loads(t.pieces.pop())
                line["logicalParentUuid"] = parent
                t.raw(dumps(line) + b"\n")
            else:
                made = t.tool_result("toolu_elsewhere", "x", parentUuid=parent)
            uuids.append(made)
            tree.append((made, kind, parent))
        assert naive_places(tree) == places(read(folder, t))


def naive_places(tree: list[tuple[str, str, str | None]]) -> list[tuple[int, int]]:
    """Branch and epoch of each record, from the sentences of D10."""
    place: dict[str, tuple[int, int]] = {}
    has_opener: set[str] = set()
    branches = epochs = 0
    found = []
    for uuid, kind, parent in tree:
        branch, epoch = place[parent] if parent else (0, 0)
        if kind in ("prompt", "boundary") and parent:
            if parent in has_opener:
                branches += 1
                branch = branches
            has_opener.add(parent)
        if kind == "boundary":
            epochs += 1
            epoch = epochs
        place[uuid] = (branch, epoch)
        found.append((branch, epoch))
    return found


# ---------------------------------------------------------------- X-reread against a naive reading

EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
Use = tuple[str, str, int | None, int | None, int]
uses = st.tuples(
    st.sampled_from(("Read", "Read", "Read", "Bash", *EDITS)),
    st.sampled_from(("/a", "/b", "/a ")),
    st.sampled_from((None, None, 0, 10)),
    st.sampled_from((None, None, 5)),
    st.integers(0, 2),
)


@pytest.mark.long
@examples(80)
@given(st.lists(uses, max_size=25), st.booleans(), st.integers(1, 25))
def test_rereads_read_naively(sequence: list[Use], fails: bool, cut: int) -> None:
    """X-reread: a Read with the same path, offset and limit as an earlier one of its thread, no edit in between."""
    with scratch() as home:
        folder = ClaudeFolder(home)
        main = folder.main()
        threads = [main, main.sidechain(), folder.subagent()]
        threads[1].prompt("look")
        sides = threads[1]
        logged: list[tuple[str, Use]] = []
        for place, use in enumerate(sequence):
            name, path, offset, limit, thread = use
            if place == cut:
                for t in (main, threads[2]):
                    t.write()
                read(folder)
            given: dict[str, Any] = {"notebook_path" if name == "NotebookEdit" else "file_path": path}
            if name == "Read":
                given |= {} if offset is None else {"offset": offset}
                given |= {} if limit is None else {"limit": limit}
            t = threads[thread]
            id = t.call(name, given, "text", is_error=True if fails else OMIT, context=10)
            logged.append((id, use))
        assert sides.pieces is main.pieces
        db = read(folder, main, threads[2])
        assert naive_rereads(logged) == {row[0] for row in ask(db, "select tool_use_id from rereads")}


def naive_rereads(logged: list[tuple[str, Use]]) -> set[str]:
    """Tool use ids of re-reads, by looking back from each Read."""
    found = set()
    for place, (id, (name, path, offset, limit, thread)) in enumerate(logged):
        if name != "Read":
            continue
        for _, (earlier, its_path, its_offset, its_limit, its_thread) in reversed(logged[:place]):
            if its_thread != thread or its_path != path:
                continue
            if earlier in EDITS:
                break
            if earlier == "Read" and (its_offset, its_limit) == (offset, limit):
                found.add(id)
                break
    return found


def test_a_reread_across_runs_and_a_late_result(folder: ClaudeFolder, t: Transcript) -> None:
    """The first read in one run, its result and the second read in a later one: the second is the waste."""
    block = t.tool_use("Read", {"file_path": "/a"})
    t.response(block, context=10)
    read(folder, t)
    t.tool_result(block["id"], "text")
    t.read("/a", "text", context=20)
    db = read(folder, t)
    assert [(4, 1), (4, 1)] == ask(db, "select result_chars, result_tokens from tool_uses")
    (first, second) = [row[0] for row in ask(db, "select id from tool_uses order by id")]
    assert [(second, first)] == ask(db, "select id, prior_read_id from tool_uses where prior_read_id is not null")


@pytest.mark.parametrize("segment", [False, True])
def test_what_a_boundary_preserves_can_be_joined(folder: ClaudeFolder, t: Transcript, segment: bool) -> None:
    """Each uuid it names is a row, in the form that records bear it; of a stretch its two ends."""
    uuids = [t.prompt("one"), t.prompt("two"), t.prompt("three")]
    named = {"headUuid": uuids[0], "tailUuid": uuids[2]} if segment else {"allUuids": uuids[:2]}
    t.boundary(**{"preservedSegment" if segment else "preservedMessages": named})
    db = read(folder, t)
    rows = ask(
        db,
        "select p.place, p.is_segment, x.text from preserved p join compactions c on c.id = p.record_id"
        " join records r on r.transcript_id = c.transcript_id and r.uuid = p.uuid join texts x on x.block_id = r.id"
        " order by p.place",
    )
    assert [(0, int(segment), "one"), (1, int(segment), "three" if segment else "two")] == rows
