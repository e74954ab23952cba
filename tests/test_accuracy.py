"""`crusts accuracy`: errors of estimates where the growth between two calls tells the truth."""

from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crusts_index.insight.window.accuracy import accuracy_of, quantile
from crusts_index.rows.reports import EstimatePair
from tests.builders import ClaudeFolder, weighs
from tests.conftest import Demo


def test_a_result_of_known_growth_gives_its_error(tmp_path: Path) -> None:
    """4,000 letters and what stands around a result weigh 1,167 by the newer tokenizer; the next call grew by 1,250."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main(model="claude-opus-4-8")
    t.prompt("look")
    context = 10_000
    for turn in range(6):
        t.call("Bash", {"command": f"cat {turn}"}, "a" * 4_000, context=context, output=30)
        context += 1_280
    t.response("done", context=context, output=5)
    t.write()
    rows = folder.crusts("accuracy", "--json").json()["rows"]
    found = next(row for row in rows if row["version"] == "all" and row["kind"] == "Bash result")
    assert 6 == found["samples"]
    assert 1_167 == weighs("a" * 4_000, around=18, factor=1.38)
    # The answer's output is less than the use alone weighs: it was logged too early.
    estimate = weighs('{"command":"cat 0"}', around=49 + 5, factor=1.38) + 1_167
    assert round((estimate - 1_280) / 1_280 * 100, 6) == round(found["median_error_percent"], 6)


def test_too_little_says_so(tmp_path: Path) -> None:
    """No pair of calls, no figure."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("hi")
    t.response("hi", context=10_000)
    t.write()
    shown = folder.crusts("accuracy")
    assert 0 == shown.code
    assert "Too few" in shown.out


@given(st.lists(st.builds(EstimatePair, st.sampled_from("ab"), st.sampled_from("xy"), *[st.integers(0, 10**6)] * 2)))
def test_groups_hold_every_sample_with_a_truth(pairs: list[EstimatePair]) -> None:
    """Nothing is counted twice or lost, and the median lies within the spread."""
    found = accuracy_of(pairs)
    assert sum(1 for pair in pairs if pair.growth > 0) == sum(one.samples for one in found)
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
