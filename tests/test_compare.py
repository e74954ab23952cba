"""Two sessions side by side: one basis for both, deltas, waste, cost by owner, and what stands out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from crusts_index.insight.session.facts import CATEGORIES
from crusts_index.insight.waste.comparison import Side, compare
from crusts_index.insight.window.buckets import Bucket, Buckets
from crusts_index.insight.window.contents import Contents
from crusts_index.rows.session import Billed
from tests.builders import CWD, SESSION, ClaudeFolder
from tests.conftest import Demo

OTHER = "6e551001-0000-4000-8000-000000000002"
LONG = "x = 1\n" * 560


def two(folder: ClaudeFolder, second_context: int = 22_000) -> None:
    """A short session, and one that read a file twice and was compacted before."""
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=20_000)
    t.write()
    u = folder.main(OTHER)
    u.prompt("hello")
    u.response("hi", context=20_000)
    u.boundary(pre=100_000, post=2_000)
    u.summary("Nothing of note.")
    u.read(f"{CWD}/a.py", LONG, context=second_context)
    u.read(f"{CWD}/a.py", LONG, context=second_context + 4_000)
    u.response("done", context=second_context + 8_000)
    u.write()


def side(name: str, waste: int = 0, cuts: int = 0, **tokens: int) -> Side:
    """A side with these tokens by category, on basis window."""
    counted = {category: tokens.get(category, 0) for category in CATEGORIES}
    buckets = tuple(Bucket(category, amount, amount, 0.0, "exact") for category, amount in counted.items())
    contents = Contents(counted, dict.fromkeys(CATEGORIES, "exact"), 1, 0)
    window: Any = None  # no insight looks at it
    billed = Billed(1, 1, 1, 1, 1, 0.0, 0.0, 0, 0, 0, 0.0)
    return Side(
        name, "/p", None, 1, window, Buckets(buckets, "window", 1.0, 0, contents), waste, 9 * waste, cuts, billed
    )


def insights(a: Side, b: Side) -> list[str]:
    """What stands out."""
    return list(compare(a, b).insights)


def test_deltas_add_up_on_one_basis(folder: ClaudeFolder) -> None:
    """Categories sum to the totals on both sides; on basis window these are the windows."""
    two(folder)
    found = folder.crusts("compare", SESSION, OTHER, "--json").json()
    assert "window" == found["basis"]
    assert (20_020, 30_020) == (found["totalA"], found["totalB"])
    assert (found["window"]["sizeA"], found["window"]["sizeB"]) == (found["totalA"], found["totalB"])
    for side, total in (("tokensA", "totalA"), ("tokensB", "totalB"), ("delta", "totalDelta")):
        assert found[total] == sum(one[side] for one in found["categoryDeltas"])
    assert list(CATEGORIES) == [one["category"] for one in found["categoryDeltas"]]
    assert 49.95 == found["totalDeltaPercent"]


def test_one_side_that_cannot_be_scaled_puts_both_on_content(folder: ClaudeFolder) -> None:
    """Two windows on two bases are not compared: what was counted is."""
    two(folder, second_context=90)  # far less than what the file holds
    found = folder.crusts("compare", SESSION, OTHER, "--json").json()
    assert "content" == found["basis"]
    for side, total in (("tokensA", "totalA"), ("tokensB", "totalB")):
        assert found[total] == sum(one[side] for one in found["categoryDeltas"])
    assert found["totalB"] != found["window"]["sizeB"]
    assert "as counted" in folder.crusts("compare", SESSION, OTHER, "--no-index").out


def test_swapping_the_sides_swaps_the_numbers(folder: ClaudeFolder) -> None:
    """A against B is B against A the other way round."""
    two(folder)
    one = folder.crusts("compare", SESSION, OTHER, "--json").json()
    back = folder.crusts("compare", OTHER, SESSION, "--json").json()
    assert one["totalDelta"] == -back["totalDelta"]
    assert one["sessionA"] == back["sessionB"]
    assert [c["delta"] for c in one["categoryDeltas"]] == [-c["delta"] for c in back["categoryDeltas"]]


def test_waste_and_compactions_are_those_of_the_other_commands(folder: ClaudeFolder) -> None:
    """One number, whichever command says it."""
    two(folder)
    found = folder.crusts("compare", SESSION, OTHER, "--json").json()
    waste = folder.crusts("waste", OTHER, "--json").json()["waste"]
    counted = [one for one in waste if not one.get("excuse")]
    assert len(counted) == found["waste"]["countB"] > 0
    assert sum(one["estimated_tokens"] for one in counted) == found["waste"]["totalTokensB"]
    assert {"countA": 0, "countB": 1} == found["compaction"]


def test_cost_counts_a_call_where_it_was_first_made(folder: ClaudeFolder) -> None:
    """A fork's copied history is not paid twice (D2); without a price the cost is null, never 0."""
    t = folder.main(model="claude-opus-4-8")
    t.prompt("hello")
    t.response("hi", context=20_000)
    t.write()
    fork = folder.main(OTHER, model="no-such-model")
    fork.copy(t.lines(), forked=True)
    fork.prompt("and")
    fork.response("yes", context=21_000)
    fork.write()
    assert 0 == folder.crusts("index").code
    cost = folder.crusts("compare", SESSION, OTHER, "--json").json()["cost"]
    assert (1, 1) == (cost["callsA"], cost["callsB"])
    assert cost["usdA"] > 0
    assert (None, 1) == (cost["usdB"], cost["unpricedCallsB"])


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (side("a", tools=100), side("b", tools=115), []),
        (side("a", tools=1_000, user=9_000), side("b", tools=1_160, user=9_000), ["B has 16% more tokens of tools"]),
        (side("a", tools=1_200, user=9_000), side("b", tools=1_000, user=9_000), ["A has 20% more tokens of tools"]),
        (
            side("a", conversation=100, user=999),
            side("b", conversation=111, user=999),
            ["B has 11% more tokens of con"],
        ),
        (side("a", user=100), side("b", user=120), []),
        (side("a", user=100), side("b", user=121), ["B is larger by 21 tokens (+21%)"]),
        (side("a", user=100), side("b", user=79), ["B is smaller by 21 tokens (-21%)"]),
        (side("a"), side("b", user=121), []),
        (side("a", waste=2), side("b", waste=3), []),
        (side("a", waste=2), side("b", waste=4), ["B wastes more"]),
        (side("a", waste=1), side("b"), ["A wastes more"]),
        (side("a", cuts=1), side("b"), ["Only A was compacted"]),
        (side("a", cuts=1), side("b", cuts=2), ["B was compacted more often"]),
        (side("a", cuts=1), side("b", cuts=1), []),
    ],
)
def test_the_five_insights(a: Side, b: Side, said: list[str]) -> None:
    """Tools by more than 15%, conversation by 10, waste at least twice, compactions at all, the total by 20."""
    found = insights(a, b)
    assert len(said) == len(found), found
    assert all(one.startswith(start) for one, start in zip(found, said, strict=True)), found


def test_sessions_that_are_not_there(folder: ClaudeFolder) -> None:
    """One line on stderr, exit 1; a missing argument is wrong usage."""
    two(folder)
    done = folder.crusts("compare", SESSION, "ffff")
    assert (1, 1) == (done.code, len(done.err.strip().splitlines()))
    assert 2 == folder.crusts("compare", SESSION).code


def test_a_session_against_itself(folder: ClaudeFolder) -> None:
    """Nothing stands out."""
    two(folder)
    found = folder.crusts("compare", OTHER, OTHER, "--json").json()
    assert (0, [], {0}) == (
        found["totalDelta"],
        found["insights"],
        {one["deltaPercent"] for one in found["categoryDeltas"]},
    )


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The text and the JSON of the demo are the golden files."""
    golden("compare.txt", demo.crusts("compare", "d3300006", "d3300008", COLUMNS="80").out)
    found = demo.crusts("compare", "d3300001", "d3300008", "--json").json()
    golden("compare.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
