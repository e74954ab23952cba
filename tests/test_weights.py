"""What a block's integers weigh, and how a billed output is spread over blocks (D9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.transcript.shares import share_out, spread
from crusts_index.transcript.weights import SHIPPED, Weights, factor_of
from tests.profiles import examples

OLD, NEW = "claude-opus-4-5-20251101", "claude-opus-4-8"
WEIGHTS = Weights()


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        ("claude-opus-4-5-20251101", 1.0),
        ("claude-opus-4-6", 1.0),
        ("claude-opus-4-7", 1.38),
        ("claude-opus-4-8", 1.38),
        ("us.anthropic.claude-opus-4-7-20260401-v1:0", 1.38),
        ("claude-opus-4-20250514", 1.0),
        ("claude-sonnet-4-6", 1.0),
        ("claude-sonnet-4-8", 1.0),
        ("claude-haiku-4-5", 1.0),
        ("claude-3-7-sonnet-20250219", 1.0),
        ("claude-opus-5", 1.38),
        ("claude-sonnet-5", 1.38),
        ("claude-fable-5", 1.38),
        ("claude-haiku-5-5", 1.38),
        ("claude-novella-6-1", 1.38),
        ("gpt-5", 1.0),
        ("<synthetic>", 1.0),
        ("", 1.0),
        (None, 1.0),
    ],
)
def test_the_factor_shipped_for_a_model(model: str | None, factor: float) -> None:
    """1.38 for Opus 4.7 and later and for generation 5 and later, else 1.00."""
    assert factor == factor_of(model) == WEIGHTS.factor(model)


@pytest.mark.parametrize(
    ("kind", "extra", "more", "old", "new"),
    [
        # 1,000 × 0.207 + 100 × 1.12 = 319
        ("text", 0, {}, 319, 440.22),
        ("text", 0, {"is_answer": True}, 319 + 3, 1.38 * 322),
        ("attachment", 0, {}, 319, 440.22),
        ("attachment", 135, {}, 319 + 135, 440.22 + 135),
        ("tool_use", 2, {}, 319 + 49 + 10, 1.38 * 378),
        ("tool_result", 0, {"tool": "Read"}, 319 + 18, 1.38 * 337),
        ("tool_result", 0, {}, 319 + 18, 1.38 * 337),
        ("tool_result", 0, {"tool": "WebFetch"}, 0.92 * 337, 0.92 * 1.38 * 337),
        ("tool_result", 0, {"tool": "WebSearch"}, 0.92 * 337, 0.92 * 1.38 * 337),
        ("tool_result", 0, {"tool": "Task"}, 0.92 * 337, 0.92 * 1.38 * 337),
        ("tool_result", 700, {"tool": "Agent"}, 0.92 * 337 + 700, 0.92 * 1.38 * 337 + 700),
        ("thinking", 0, {}, 322, 1.38 * 322),
        ("thinking", 1000, {}, 165, 200),
        ("thinking", 150, {}, 0, 0),
        ("thinking", 300, {}, 25, 0),
    ],
)
def test_a_block_of_each_kind(kind: str, extra: int, more: dict[str, object], old: float, new: float) -> None:
    """f × (0.207 × soft + 1.12 × marks + c), and what no text tells beside it, rounded."""
    for model, expected in ((OLD, old), (NEW, new)):
        assert round(expected) == WEIGHTS.estimate(model, kind, 1000, 100, extra, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["image", "document"])
def test_pictures_weigh_what_they_weigh(kind: str) -> None:
    """Whatever the model."""
    assert [88, 88] == [WEIGHTS.estimate(model, kind, 0, 0, 88) for model in (OLD, NEW)]


def test_fitted_factors_and_weights_of_the_user() -> None:
    """What the store holds takes the place of what is shipped; a signature goes by the tokenizer all the same."""
    fitted = Weights({"soft": 0.3}, {OLD: 2.0})
    assert (2.0, 1.38) == (fitted.factor(OLD), fitted.factor(NEW))
    assert 2 * 300 == fitted.estimate(OLD, "text", 1000, 0)
    assert 165 == fitted.estimate(OLD, "thinking", 0, 0, 1000)
    assert 0.207 == SHIPPED["soft"]


@pytest.mark.parametrize(
    ("output", "thinking", "blocks", "shares"),
    [
        (100, None, [(40, False), (20, False)], [67, 33]),
        (100, 70, [(9, True), (20, False), (20, False)], [70, 15, 15]),
        (100, 70, [(9, True)], [100]),
        (100, 0, [(10, True), (30, False)], [25, 75]),
        (100, None, [(10, True), (30, False)], [25, 75]),
        (100, 60, [(10, True), (20, True), (5, False)], [20, 40, 40]),
        (100, 200, [(10, True), (20, False)], None),
        (160, 200, [(10, True), (20, False)], [145, 15]),
        (70, None, [(100, False)], [70]),
        (69, None, [(100, False)], None),
        (7, None, [(0, False), (0, False)], [7, 0]),
        (0, None, [(0, False)], [0]),
        (5, None, [], []),
    ],
)
def test_an_output_over_its_blocks(
    output: int, thinking: int | None, blocks: list[tuple[int, bool]], shares: list[int] | None
) -> None:
    """Logged thinking goes to the thinking blocks, the rest by estimates; below 0.7 of these it is a placeholder."""
    assert shares == spread(output, thinking, blocks)


def test_an_answer_that_was_cut_off() -> None:
    """Its output is a placeholder whatever it says."""
    assert spread(1000, None, [(10, False)], is_aborted=True) is None


@examples(300)
@given(
    st.integers(0, 50_000),
    st.none() | st.integers(0, 50_000),
    st.lists(st.tuples(st.integers(0, 5_000), st.booleans()), min_size=1, max_size=8),
)
def test_shares_add_up_to_the_output(output: int, thinking: int | None, blocks: list[tuple[int, bool]]) -> None:
    """Exactly, none of them below 0; the thinking blocks together have what is logged of them, if others are there."""
    shares = spread(output, thinking, blocks)
    if shares is None:
        return
    assert output == sum(shares)
    assert min(shares) >= 0
    thought = [share for share, (_, is_thinking) in zip(shares, blocks, strict=True) if is_thinking]
    if thinking and thinking <= output and 0 < len(thought) < len(blocks):
        assert thinking == sum(thought)


@examples(200)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), min_size=1, max_size=9))
def test_shares_are_in_proportion(output: int, estimates: list[int]) -> None:
    """None is a whole token off its part."""
    shares, total = share_out(output, estimates), sum(estimates)
    assert output == sum(shares)
    assert all(
        total == 0 or abs(share - output * one / total) < 1 for share, one in zip(shares, estimates, strict=True)
    )
