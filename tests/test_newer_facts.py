"""What newer versions log beside what was said, as the store has it (D20)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest

from tests.builders import ClaudeFolder, Transcript, dumps, respelled, text_block, tool, usage
from tests.picture import ask, assert_same, one, picture, read, scratch, small_stretches

FIRST, SECOND = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
FACTS = "select requested_model, request, miss_reason, missed_tokens, skill, plugin, mcp_server, mcp_tool, agent"


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


@pytest.fixture
def t(folder: ClaudeFolder) -> Transcript:
    """A main transcript."""
    return folder.main()


def missed(t: Transcript, reason: str | None, tokens: object) -> None:
    """Let the last answer say why the cache did not hold."""
    record = json.loads(t.pieces.pop())
    told = {"type": reason, "cache_missed_input_tokens": tokens}
    record["message"]["diagnostics"] = {"cache_miss_reason": told if reason else None}
    t.pieces.append(dumps(record) + b"\n")


def test_what_an_answer_is_due_to(folder: ClaudeFolder, t: Transcript) -> None:
    """The model asked for, the request, skill, plugin, server, tool and agent; an answer without any has no row."""
    t.response("plain", context=10)
    due = {"attributionSkill": "tidy", "attributionPlugin": "forge", "attributionAgent": "explorer"}
    t.response("due", context=20, requestRef=FIRST, requestedModel="claude-opus-4-8[1m]", **due)
    t.response("next", context=30, attributionMcpServer="tracker", attributionMcpTool="search")
    assert [
        ("claude-opus-4-8[1m]", uuid.UUID(FIRST).bytes, None, None, "tidy", "forge", None, None, "explorer"),
        (None, None, None, None, None, None, "tracker", "search", None),
    ] == ask(read(folder, t), f"{FACTS} from response_facts order by response_id")


def test_why_the_cache_did_not_hold(folder: ClaudeFolder, t: Transcript) -> None:
    """Reason and tokens as the API told; a count out of range or of no kind is none."""
    for reason, tokens in (("messages_changed", 4_321), ("none", 0), ("other", -1), ("odd", "many"), (None, None)):
        t.response("on", context=10)
        missed(t, reason, tokens)
    assert [("messages_changed", 4_321), ("none", 0), ("other", None), ("odd", None)] == ask(
        read(folder, t), "select miss_reason, missed_tokens from response_facts order by response_id"
    )


def test_several_lines_of_one_answer_add_up(folder: ClaudeFolder, t: Transcript) -> None:
    """Of what more than one line says the last holds, in one run and over several."""
    with scratch() as home, small_stretches(200):
        pictures = []
        for place, is_split in ((folder, True), (ClaudeFolder(home), False)):
            t = place.main()
            for facts in ({"attributionSkill": "a", "requestRef": FIRST}, {"attributionSkill": "b"}, {}):
                t.response("line", usage=usage(5), request="req_a", message="msg_a", **facts)
                if is_split:
                    read(place, t)
            db = read(place, t)
            pictures.append(picture(db, place.config))
            assert ("b", uuid.UUID(FIRST).bytes) == one(db, "select skill, request from response_facts")
        assert_same(*pictures)


def test_the_branch_of_each_answer(folder: ClaudeFolder, t: Transcript) -> None:
    """As git had it then."""
    t.response("one", context=10)
    t.branch = "try"
    t.response("two", context=20)
    assert [("main",), ("try",)] == ask(read(folder, t), "select git_branch from responses order by id")


def test_the_model_that_an_agent_ran_on(folder: ClaudeFolder, t: Transcript) -> None:
    """As its result says, `[1m]` and all."""
    told = {"agentId": "a1", "resolvedModel": "claude-opus-4-8[1m]"}
    t.call("Agent", {"prompt": "look"}, "found", context=10, tool_use_result=told)
    t.call("Bash", {"command": "ls"}, "a", context=20, tool_use_result={"resolvedModel": "no"})
    assert [("a1", "claude-opus-4-8[1m]"), (None, None)] == ask(
        read(folder, t), "select agent_id, resolved_model from tool_uses order by id"
    )


def test_requests_and_what_changed_between_them(folder: ClaudeFolder, t: Transcript) -> None:
    """A retry has no answer; the base tells how many messages are kept, and whether shape, model and effort are."""
    t.request(id=FIRST, tail=2)
    t.request(id=SECOND, base=FIRST, keep=2, tail=0)
    t.response("on", context=10, requestRef=SECOND)
    t.request(base=SECOND, keep=1, tail=3, model="claude-haiku-5-5", effort="high", ttl="1h", shape="other")
    columns = "kept, tail, base_messages, is_same_shape, is_same_model, is_same_effort, is_same_cache, is_answered"
    assert [
        (0, 2, None, None, None, None, None, 0),
        (2, 0, 2, 1, 1, 1, 1, 1),
        (1, 3, 2, 0, 0, 0, 0, 0),
    ] == ask(read(folder, t), f"select {columns} from requests order by record_id")


def test_the_parts_that_stand_before_the_messages(folder: ClaudeFolder, t: Transcript) -> None:
    """Tools by name, system texts and files by path, measured; a shape's parts are found by the requests' hash."""
    t.request_shape(["You are."], [tool("Bash"), tool("mcp__a__b")])
    t.request()
    t.prompt_snapshot(["You are."], [tool("Bash")])
    t.instructions({"/home/ada/CLAUDE.md": "# Rules\n"})
    db = read(folder, t)
    parts = ask(db, "select kind, name, path, soft, marks from sent_parts order by record_id, place")
    bash = ("tool", "Bash", None)
    assert [("system", None, None), bash, ("tool", "mcp__a__b", None), ("system", None, None), bash] == [
        part[:3] for part in parts[:-1]
    ]
    assert ("file", "Project", "/home/ada/CLAUDE.md", 6, 3) == parts[-1]
    assert parts[1] == parts[4]
    assert 3 == one(db, "select count(*) from sent_parts p join requests q on q.shape_hash = p.shape_hash")


def test_no_text_of_requests_is_kept(folder: ClaudeFolder, t: Transcript) -> None:
    """Neither of a request's messages nor of what stands before them; none of them is a message."""
    t.request_shape(["secret system"], [tool("Bash", "secret tool")])
    t.request_blob("secret message")
    t.request()
    t.prompt_snapshot(["secret system"], [tool("Bash", "secret tool")])
    db = read(folder, t)
    assert b"secret" not in db.read_bytes()
    assert [] == ask(db, "select * from blocks")
    assert [("api-request-shape",), ("api-request-blob",), ("api-request",), ("attachment",)] == ask(
        db, "select type from records where message is null order by id"
    )


def test_what_claude_code_says_that_it_cost(folder: ClaudeFolder, t: Transcript) -> None:
    """Model by model, of the last record; what is not logged or no count is none."""
    counts = {"inputTokens": 3, "outputTokens": 4, "thinkingTokens": 1, "cacheReadInputTokens": 5, "costUSD": 0.25}
    written = {"cacheCreationInputTokens": 9, "cacheCreationEphemeral5mInputTokens": 7, "webSearchRequests": 2}
    t.meta("cost-state", totalCostUSD=0.1, modelUsage={"claude-opus-4-8[1m]": {"inputTokens": 1}})
    told = {"claude-opus-4-8[1m]": {**counts, **written}, "claude-haiku-4-5": {"outputTokens": -1, "costUSD": "x"}}
    t.meta("cost-state", totalCostUSD=0.3, modelUsage=told)
    expected = [
        ("claude-haiku-4-5", 0, 0, None, 0, 0, None, None, 0, None),
        ("claude-opus-4-8[1m]", 3, 4, 1, 5, 9, 7, None, 2, 0.25),
    ]
    columns = (
        "model, input_tokens, output_tokens, thinking_tokens, cache_read_tokens, cache_write_tokens,"
        " cache_write_5m_tokens, cache_write_1h_tokens, web_searches, cost_usd"
    )
    assert expected == ask(read(folder, t), f"select {columns} from cost_states order by model")
    other = folder.main("5e551001-0000-4000-8000-000000000002")
    other.raw(dumps(respelled(json.loads(t.lines()[-1]))) + b"\n")
    db = read(folder, other)
    assert expected == ask(db, f"select {columns} from cost_states where transcript_id = 2 order by model")


@pytest.mark.parametrize("how", ["type", "subtype", "attachment"])
def test_writes_that_were_lost_can_be_counted(folder: ClaudeFolder, t: Transcript, how: str) -> None:
    """The record stays, whatever kind it is of; a count that it tells too."""
    t.prompt([text_block("go")])
    if how == "type":
        t.record("session_writes_lost", count=3)
    elif how == "subtype":
        t.system("session_writes_lost", count=3)
    else:
        t.attachment("session_writes_lost", count=3)
    db = read(folder, t)
    assert 1 == one(db, "select count(*) from records where 'session_writes_lost' in (type, subtype)")
    value = one(db, "select value from meta_records where key = 'session_writes_lost'")
    assert 3 == json.loads(value)["count"]
