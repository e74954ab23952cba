"""How many calls are left until a window is compacted, and how sure that is (D10)."""

from __future__ import annotations

from typing import Any

import pytest

from crusts_index.insight.window.forecast import forecast_of
from crusts_index.insight.window.habits import Habits
from crusts_index.insight.window.words import left_words, limit_words, window_json
from crusts_index.windows import RANGES, growth_of, horizon_of
from tests.analysed import analysed
from tests.builders import CWD, ClaudeFolder, Transcript


def grown(t: Transcript, *contexts: int, **options: Any) -> None:
    """A prompt and an answer for each context size."""
    for place, context in enumerate(contexts):
        t.prompt(f"prompt {place}")
        t.response("done", context=context, **options)


def test_growth_is_drawn_towards_what_is_known_beforehand() -> None:
    """(sum of the deltas + 150 × prior) / (their number + 150), at least 1."""
    assert 870 == growth_of(0, 0, 870)
    assert (50_000 + 150 * 870) / 170 == growth_of(50_000, 20, 870)
    assert 1 == growth_of(-900_000, 150, 870)


def test_calls_left_go_by_growth_with_a_range() -> None:
    """(trigger − window) / growth, rounded down, and what held 80 % of the truth at that horizon."""
    found = forecast_of(100_000, 167_000, 1_000, RANGES)
    assert (67, 39, 106) == (found.calls_left, found.low, found.high)
    soon = forecast_of(166_500, 167_000, 1_000, RANGES)
    assert (1, 1, 2) == (soon.calls_left, soon.low, soon.high)
    past = forecast_of(167_000, 167_000, 1_000, RANGES)
    assert (0, 0, 0) == (past.calls_left, past.low, past.high)
    for window, trigger in ((None, 167_000), (5, None)):
        assert (None, None, None) == forecast_of(window, trigger, 1_000, RANGES)[:3]
    assert [0, 1, 2, 3, 4] == [horizon_of(calls) for calls in (9.9, 10, 25, 50, 100)]


def test_the_window_s_own_growth_counts_behind_the_boundary_only(folder: ClaudeFolder) -> None:
    """Deltas of the live path since the compaction; the prior is the project's, else everyone's, else 870."""
    t = folder.main()
    grown(t, 100_000, 101_000, 102_000, 103_000)
    t.boundary(post=3_000)
    t.summary()
    grown(t, 25_000, 30_000, 32_000)
    here = Habits(priors={CWD: 1_500.0, "": 1_200.0})
    for habits, prior in ((Habits(), 870), (Habits(priors={"": 1_200.0}), 1_200), (here, 1_500)):
        found = analysed(folder, t, habits=habits).window
        growth = (7_000 + 150 * prior) / 152
        assert growth == pytest.approx(found.growth)
        assert int((167_000 - 32_020) / growth) == found.calls_left


def test_how_it_is_said(folder: ClaudeFolder) -> None:
    """The forecast with its range; "compacts next" past the trigger; an assumed limit is called so."""
    t = folder.main()
    grown(t, 139_000)
    found = analysed(folder, t).window
    assert "about 32 calls (20 to 63)" == left_words(found)
    assert "200,000 (assumed)" == limit_words(found)
    told = window_json(found)
    assert (139_020, "exact", 200_000, "assumed", 167_000, 32, 20, 63) == (
        *(told["tokens"], told["basis"], told["limit"], told["limit_kind"], told["trigger"]),
        *(told["calls_left"], told["calls_left_low"], told["calls_left_high"]),
    )
    grown(t, 170_000)
    assert "compacts next" == left_words(analysed(folder, t).window)


def test_a_session_without_a_call_is_not_known_yet(folder: ClaudeFolder) -> None:
    """No size, no share, no health, no forecast: null."""
    t = folder.main()
    t.prompt("hello")
    found = analysed(folder, t)
    assert [None] * 4 == [found.window.size, found.window.free, found.window.health, found.window.calls_left]
    told = window_json(found.window)
    assert (None, None, None) == (told["tokens"], told["basis"], told["calls_left"])
    breakdown = found.json()["breakdown"]
    assert [None] * 4 == [
        breakdown[name] for name in ("total_tokens", "usage_percentage", "context_health", "free_tokens")
    ]
