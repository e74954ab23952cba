"""`crusts why`: where the money of a session went, with the sums that every other report has (D21)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.builders import ClaudeFolder, Json, dumps, usage
from tests.conftest import Demo

MODEL = "claude-opus-4-6"


def usd_by_part(parts: list[Json]) -> dict[str, float]:
    """USD by part."""
    return {one["part"]: one["usd"] for one in parts if one["usd"]}


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """Of a session and of all, in 80 columns and as JSON."""
    golden("why.txt", demo.crusts("why", "d3300006", COLUMNS="80").out)
    golden("why_since.txt", demo.crusts("why", "--since", "2020-01-01", COLUMNS="80").out)
    golden("why.json", json.dumps(demo.crusts("why", "d3300006", "--json").json(), indent=2, ensure_ascii=False) + "\n")


def test_the_sums_of_all_reports_agree(demo: Demo) -> None:
    """The parts sum to the cost; that is usage's, of every session and of all; what was sent again is that of cache."""
    for row in demo.crusts("usage", "--by", "session", "--json").json()["rows"]:
        told = demo.crusts("why", row["session"], "--json").json()
        assert abs(told["priced_usd"] - (row["priced_usd"] or 0)) < 2e-6
        assert abs(told["priced_usd"] - sum(one["usd"] for one in told["parts"])) < 1e-8
        within = sum(one["usd"] for row in told["subagents"] for one in row["parts"])
        assert abs(within - sum(one["usd"] for one in told["parts"] if one["part"] == "subagents")) < 1e-7
    told = demo.crusts("why", "--since", "2020-01-01", "--json").json()
    total = demo.crusts("usage", "--json").json()["total"]
    assert abs(told["priced_usd"] - total["cost_usd"]) < 2e-6
    cache = demo.crusts("cache", "--json").json()
    again = sum(one["usd"] for one in told["parts"] if one["part"] == "rebuilt") + sum(
        one["usd"] for row in told["subagents"] for one in row["parts"] if one["part"] == "rebuilt"
    )
    assert abs(again - cache["total"]["rebuilt_usd"]) < 2e-6
    largest = told["largest_avoidable"]
    reasons = [one for one in cache["reasons"] if one["reason"].endswith(largest["reason"].removeprefix("long_"))]
    assert abs(largest["avoidable_usd"] - sum(one["avoidable_usd"] for one in reasons)) < 2e-6


def test_the_sentence(folder: ClaudeFolder) -> None:
    """How much, for what, how often, and the largest: where, when and with how much in the window."""
    t = folder.main(model=MODEL)
    t.prompt("begin")
    t.response("one", usage=usage(0, write=100_000))
    for minutes in (9, 41):
        t.clock.now += timedelta(minutes=minutes)
        t.prompt("on")
        t.response("on", usage=usage(0, write=100_000 + minutes * 100, read=0))
    t.write()
    told = folder.crusts("why", "--json").json()
    assert told["sentence"] == (
        "$1.91, of which $1.26 went into sending 201k tokens again after 2 pauses of more than five minutes; the"
        " largest, $0.63, at #6 when you came back after 41 minutes with 104k in the window."
    )
    (instead,) = told["instead"]
    assert "of 104k a compaction leaves about 33.3k" in instead["why"]


def test_one_break_is_spoken_of_as_one(folder: ClaudeFolder) -> None:
    """Also where a compaction would not have helped."""
    t = folder.main(model=MODEL)
    t.prompt("begin")
    t.response("one", usage=usage(0, write=100_000))
    t.prompt("on")
    t.response("on", model="claude-sonnet-4-6", usage=usage(0, write=100_000, read=0))
    t.write()
    told = folder.crusts("why", "--json").json()
    assert "model_switched" == told["largest_avoidable"]["reason"]
    assert told["instead"][0]["why"].endswith(" less for this one")


@pytest.mark.parametrize("count", [1, 2])
def test_a_reason_that_nobody_knows_is_said_as_it_is(folder: ClaudeFolder, count: int) -> None:
    """Whatever the API's word is made of."""
    t = folder.main(model=MODEL)
    t.response("one", usage=usage(0, write=100_000))
    for _ in range(count):
        t.response("on", usage=usage(0, write=100_000, read=0))
        record = json.loads(t.pieces.pop())
        record["message"]["diagnostics"] = {"cache_miss_reason": {"type": "odd_{word}"}}
        t.pieces.append(dumps(record) + b"\n")
    t.write()
    said = folder.crusts("why", "--json").json()["sentence"]
    assert ("tokens again after odd {word}, at" if count == 1 else "again after 2 times odd {word}; the") in said


def test_a_little_sent_again_is_not_called_nothing(folder: ClaudeFolder) -> None:
    """Too little to be a break, yet the parts below name it."""
    t = folder.main(model=MODEL)
    t.response("one", usage=usage(0, write=10_000))
    t.write()
    assert ": nothing that had been cached was" in folder.crusts("why", "--json").json()["sentence"]
    t.response("two", usage=usage(0, write=1_000, read=9_900))
    t.write()
    told = folder.crusts("why", "--json").json()
    assert 100 == next(one["tokens"] for one in told["parts"] if one["part"] == "rebuilt")
    assert ": next to nothing that had been cached was" in told["sentence"]


def test_where_there_is_no_call(folder: ClaudeFolder, demo: Demo) -> None:
    """A period, a project and a session without one are said in a line, as by every report."""
    assert "Nothing in this period.\n" == demo.crusts("why", "--since", "2100-01-01").out
    assert "Nothing of a project" in demo.crusts("why", "--project", "nonesuch").out
    t = folder.main(model=MODEL)
    t.prompt("begin")
    t.write()
    assert "No API call in this session yet.\n" == folder.crusts("why").out


def test_subagents_are_told_by_their_spawn(folder: ClaudeFolder) -> None:
    """Each with the message that started it and the same parts inside."""
    t = folder.main(model=MODEL)
    t.prompt("begin")
    use = t.tool_use("Agent", {"prompt": "look", "subagent_type": "Explore"})
    t.response(use, usage=usage(0, write=50_000))
    agent = folder.subagent(model=MODEL, meta={"agentType": "Explore", "toolUseId": use["id"], "description": "look"})
    agent.prompt("look")
    agent.response("seen", usage=usage(0, write=10_000))
    t.write()
    agent.write()
    told = folder.crusts("why", "--json").json()
    (row,) = told["subagents"]
    assert ("Explore", "look", 2, 1) == (row["agent"], row["description"], row["spawn"], row["calls"])
    assert {"new": 0.0625, "output": 0.0005} == usd_by_part(row["parts"])
    assert 0.063 == usd_by_part(told["parts"])["subagents"]


def test_a_session_without_a_price(folder: ClaudeFolder) -> None:
    """Its cost is not known; its tokens are, by part."""
    t = folder.main(model="claude-next-9")
    t.response("one", usage=usage(5, write=10_000))
    t.write()
    told = folder.crusts("why", "--json").json()
    assert (None, 0.0, 1) == (told["cost_usd"], told["priced_usd"], told["unpriced_calls"])
    assert 10_005 == next(one["tokens"] for one in told["parts"] if one["part"] == "new")
    nothing = "none of it avoidable: nothing that had been cached was sent again."
    assert f"cost not known, since no call has a price, {nothing}" == told["sentence"]
    t.clock.now += timedelta(minutes=42)
    t.response("two", model="claude-next-9", usage=usage(12_000))
    t.write()
    said = folder.crusts("why", "--json").json()["sentence"]
    assert said.startswith("cost not known, since no call has a price, with 10.0k tokens sent again after a pause"), (
        said
    )


def test_what_costs_less_than_a_cent(folder: ClaudeFolder) -> None:
    """It is said so, and of a lower bound never "at least less than"; of one token sent as of one."""
    t = folder.main(model=MODEL)
    t.response("one", usage=usage(1))
    t.write()
    assert folder.crusts("why", "--json").json()["sentence"].startswith("less than a cent, none")
    assert "Nothing was sent again of 1 token sent: " in folder.crusts("cache").out
    t.response("two", model="claude-next-9", usage=usage(1))
    t.write()
    assert folder.crusts("why", "--json").json()["sentence"].startswith("at least $0.00, none")


@pytest.mark.parametrize("arguments", [("d33", "--since", "7d"), ("--last", "1", "--until", "today")])
def test_a_session_has_no_period(demo: Demo, arguments: tuple[str, ...]) -> None:
    """One is asked for or the other."""
    assert 2 == demo.crusts("why", *arguments).code
