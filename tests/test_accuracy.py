"""`crusts accuracy`: errors of estimates where the growth between two calls tells the truth."""

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crusts_index.insight.window.accuracy import Sample, groups, growth_errors, quantile, spreads, weight_errors
from crusts_index.rows.reports import EstimatePair
from tests.builders import ClaudeFolder, weighs
from tests.conftest import Demo
from tests.picture import ask

GREW = 1_280
USE = weighs('{"command":"cat 0"}', around=49 + 5)
"""The answer's output is less than the use alone weighs: it was logged too early."""
RESULT = weighs("a" * 4_000, around=18)


def known(tmp_path: Path) -> ClaudeFolder:
    """Six results of 4,000 letters; each next call grew by 1,280. A last pair grew by less than 50."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("look")
    context = 10_000
    for turn in range(6):
        t.call("Bash", {"command": f"cat {turn}"}, "a" * 4_000, context=context, output=30)
        context += GREW
    t.response("done", context=context, output=5)
    t.prompt("so")
    t.response("done", context=context + 49, output=5)
    t.write()
    return folder


def test_errors_of_all_pairs(tmp_path: Path) -> None:
    """Each pair's estimate against its growth, as shares of it; one that grew by less than 50 says nothing."""
    found = known(tmp_path).crusts("accuracy", "--json").json()
    error = round((USE + RESULT) / GREW - 1, 4)
    errors = {"pairs": 6, "median_abs_error": abs(error), "bias": error, "p75": abs(error), "p90": abs(error)}
    assert errors == found["growth"]
    assert [("kind", "Bash result", 6), ("model", "claude-opus-4-6", 6)] == [
        (one["by"], one["key"], one["pairs"]) for one in found["by"]
    ]
    (weights,) = found["weights"]
    assert ("claude-opus-4-6", 6, 1.0, None, None, None) == tuple(
        weights[name] for name in ("model", "pairs", "default", "fitted", "fitted_error", "fitted_bias")
    )
    assert round(error, 2) == round(weights["default_bias"], 2) == -round(weights["default_error"], 2)
    assert "rows" not in found


def test_a_pair_is_of_the_kind_with_most_tokens(tmp_path: Path) -> None:
    """Two reads together outweigh the longer command between them; a long input of an MCP tool is the answer's."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("look")
    uses = [
        t.tool_use("Read", {"file_path": "/a"}),
        t.tool_use("Bash", {"command": "cat b"}),
        t.tool_use("Read", {"file_path": "/c"}),
    ]
    t.response(*uses, context=10_000, output=100)
    for use, size in zip(uses, (2_000, 3_000, 2_000), strict=True):
        t.tool_result(use["id"], "a" * size)
    t.call("mcp__notes__write", {"text": "a" * 4_000}, "ok", context=12_000, output=900)
    t.response("done", context=13_000, output=5)
    t.write()
    by = folder.crusts("accuracy", "--fewest", "1", "--json").json()["by"]
    assert {"Read result": 1, "answer": 1} == {one["key"]: one["pairs"] for one in by if one["by"] == "kind"}


def test_the_long_table(tmp_path: Path) -> None:
    """With --verbose by version and kind, in percent."""
    rows = known(tmp_path).crusts("accuracy", "--verbose", "--json").json()["rows"]
    found = next(row for row in rows if row["version"] == "all" and row["kind"] == "Bash result")
    assert 6 == found["samples"]
    assert round(((USE + RESULT) / GREW - 1) * 100, 6) == round(found["median_error_percent"], 6)
    said = ClaudeFolder(tmp_path).crusts("accuracy", "--verbose").out
    assert ("version" in said, "2.1." in said) == (True, True)


def test_too_little_says_so(tmp_path: Path) -> None:
    """No pair of calls, no figure: null in JSON."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("hi")
    t.response("hi", context=10_000)
    t.write()
    shown = folder.crusts("accuracy")
    assert 0 == shown.code
    assert "No two calls" in shown.out
    growth = folder.crusts("accuracy", "--json").json()["growth"]
    assert {"pairs": 0, "median_abs_error": None, "bias": None, "p75": None, "p90": None} == growth


def test_a_plain_count_over_the_views_agrees(demo: Demo) -> None:
    """session_calls and messages alone: tokens of the messages from a call's own up to the next call, against the
    difference of their contexts."""
    messages: dict[Any, list[Any]] = defaultdict(list)
    for path, thread, branch, epoch, number, tokens in ask(
        demo.db, "select path, thread, branch, epoch, number, tokens from messages where in_view"
    ):
        messages[path, thread, branch, epoch].append((number, tokens))
    calls: dict[Any, list[Any]] = defaultdict(list)
    for path, thread, branch, epoch, ordinal, number, context in ask(
        demo.db,
        "select path, thread_key & 1048575, branch, epoch, ordinal, message, context_tokens from session_calls"
        " where context_tokens > 0 and not is_advisor",
    ):
        calls[path, thread, branch, epoch].append((ordinal, number, context))
    errors = []
    for key, some in calls.items():
        some.sort()
        for (_, first, before), (_, last, after) in pairwise(some):
            between = [
                tokens for number, tokens in messages[key] if None not in (first, last) and first <= number < last
            ]
            if between and after - before >= 50:
                errors.append(sum(between) / (after - before) - 1)
    sizes = [abs(error) for error in errors]
    told = demo.crusts("accuracy", "--json").json()["growth"]
    assert {
        "pairs": len(errors),
        "median_abs_error": round(quantile(sizes, 0.5), 4),
        "bias": round(quantile(errors, 0.5), 4),
        "p75": round(quantile(sizes, 0.75), 4),
        "p90": round(quantile(sizes, 0.9), 4),
    } == told


def test_one_screen(demo: Demo) -> None:
    """At most 24 lines of 80 columns."""
    lines = demo.crusts("accuracy", COLUMNS="80").out.splitlines()
    assert (True, True) == (len(lines) <= 24, max(map(len, lines)) <= 80)


PAIRS = st.lists(
    st.builds(EstimatePair, *[st.sampled_from("ab")] * 3, *[st.integers(0, 10**6)] * 2, st.integers(50, 10**6))
)


@given(PAIRS)
def test_every_pair_is_in_one_group_of_each(pairs: list[EstimatePair]) -> None:
    """By kind as by model nothing is counted twice or lost, and sizes of errors stand in order."""
    told = growth_errors(pairs)
    found = groups(pairs)
    assert (told is None) == (not pairs)
    for by in ("kind", "model"):
        assert len(pairs) == sum(one.errors.pairs for one in found if one.by == by)
    for errors in (*(one.errors for one in found), *([told] if told else [])):
        assert abs(errors.bias) <= errors.p90 or errors.pairs > 1
        assert 0 <= errors.median_abs_error <= errors.p75 <= errors.p90


def test_the_fitted_factor_beside_the_shipped_one() -> None:
    """Each with the errors of all its pairs but for those that grew too little; most pairs first."""
    pairs = {"a": [(100, 100.0, 0.0), (100, 110.0, 0.0), (49, 1.0, 0.0)], "b": [(200, 50.0, 100.0)] * 3, "c": []}
    found = weight_errors(pairs, {"a": (1.0, 0.9), "b": (1.0, None), "c": (1.0, None)})
    assert [("b", 3, 1.0, 0.25, -0.25, None, None, None), ("a", 2, 1.0, 0.05, 0.05, 0.9, 0.055, -0.055)] == [
        tuple(one) for one in found
    ]


@given(st.lists(st.builds(Sample, st.sampled_from("ab"), st.sampled_from("xy"), *[st.integers(0, 10**6)] * 2)))
def test_groups_hold_every_sample_with_a_truth(samples: list[Sample]) -> None:
    """Nothing is counted twice or lost, and the median lies within the spread."""
    found = spreads(samples)
    assert sum(1 for one in samples if one.truth > 0) == sum(one.samples for one in found)
    for one in found:
        assert one.spread_low_percent <= one.median_error_percent <= one.spread_high_percent


def test_quantiles_are_interpolated() -> None:
    """The median of two values lies between them."""
    assert 1.5 == quantile([2.0, 1.0], 0.5)
    assert 1.0 == quantile([1.0], 0.75)


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The errors over the demo, in a terminal 80 columns wide and as JSON."""
    golden("accuracy.txt", demo.crusts("accuracy", "--fewest", "2", COLUMNS="80").out)
    golden("accuracy.json", demo.crusts("accuracy", "--fewest", "2", "--json").out)
