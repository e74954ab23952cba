"""Outputs that are placeholders: what is printed of them is at least so much, and never called exact (D9, D15)."""

from __future__ import annotations

from pathlib import Path

import pytest

from crusts_index.render import text
from tests.builders import SESSION, ClaudeFolder, usage, weighs
from tests.conftest import IndexedFolder

LONG = "a" * 4_000
MISSING = weighs(LONG, around=3) - 7
OUTPUT_PRICE = 25e-6
"""USD a token of output of the model that builders answer with."""


@pytest.fixture
def folder(tmp_path: Path) -> ClaudeFolder:
    """Two calls: a whole one with 2,000 tokens of output, and one whose 7 are a placeholder for a long answer."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("go")
    t.response("a" * 8_000, usage=usage(input=10, read=20_000, write=1_000, output=2_000))
    t.prompt("on")
    t.response(LONG, usage=usage(input=10, read=23_000, write=100, output=7))
    t.write()
    assert folder.crusts("index").code == 0
    return folder


@pytest.mark.parametrize("by", "model day week month block project session agent".split())
def test_usage_counts_them_and_estimates_what_is_missing_apart(folder: ClaudeFolder, by: str) -> None:
    """One of two; the estimate of its answer less the 7 logged is in neither output nor cost."""
    told = folder.crusts("usage", "--by", by, "--json").json()
    for row in (*told["rows"], told["total"]):
        assert (2, 1, 2_007, MISSING) == (
            *(row["calls"], row["placeholder_calls"], row["output"]),
            row["output_missing"],
        )
        assert round(MISSING * OUTPUT_PRICE, 6) == row["cost_missing_usd"]
        inputs = (20 * 5 + 43_000 * 0.5 + 1_100 * 6.25) / 1e6
        assert round(inputs + 2_007 * OUTPUT_PRICE, 6) == row["cost_usd"] == row["priced_usd"]
        assert 0 == row["nonstandard_calls"]


def test_usage_says_at_least_and_not_exact(folder: ClaudeFolder) -> None:
    """≥ before output and cost, a word and a count, what is missing apart; only input is called exact."""
    said = folder.crusts("usage").out
    row = next(line for line in said.splitlines() if line.startswith("claude-opus"))
    assert (2, True) == (row.count("≥"), row.split()[-2:] == ["≥", "$0.08"])
    assert "1 of 2 calls logged a placeholder as their output" in said
    assert f"estimated: {text.tokens(MISSING)} tokens, $0.02." in said
    assert "Calls and input tokens are exact" in said


def test_what_is_whole_is_exact(tmp_path: Path) -> None:
    """Without a placeholder nothing of it is said."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.response("a" * 8_000, usage=usage(input=10, output=2_000))
    t.write()
    said = folder.crusts("usage").out
    assert ("≥" not in said, "placeholder" not in said, "Calls and tokens are exact" in said) == (True, True, True)


def test_a_row_that_is_partly_priced_stands_by_what_is(tmp_path: Path) -> None:
    """The project with an unpriced call costs at least more than the other one: it stands first, with ≥."""
    folder = IndexedFolder(tmp_path)
    for number, (place, models) in enumerate((("dear", ("claude-opus-4-8", "no-such-model")), ("cheap", (None,)))):
        t = folder.main(f"5e551001-0000-4000-8000-00000000000{number}", cwd=f"/home/ada/{place}")
        for model in models:
            t.response("a", usage=usage(input=1_000_000 if place == "dear" else 1_000, output=1), model=model)
        t.write()
    rows = folder.crusts("usage", "--by", "project", "--json").json()["rows"]
    assert [("/home/ada/dear", None, True), ("/home/ada/cheap", rows[1]["priced_usd"], True)] == [
        (row["project"], row["cost_usd"], row["priced_usd"] > 0) for row in rows
    ]
    first = folder.crusts("usage", "--by", "project").out.splitlines()[2]
    assert first.split()[0].endswith("dear")
    assert f"≥ ${rows[0]['priced_usd']:.2f}" in first


def test_waste_over_all_is_carried_at_least_for_what_is_priced(tmp_path: Path) -> None:
    """One habit of two models, one of them without a price: ≥ in its row and in the total, never a sum as if whole."""
    folder = IndexedFolder(tmp_path)
    for number, model in enumerate((None, "no-such-model")):
        t = folder.main(f"5e551001-0000-4000-8000-00000000000{number}")
        t.read("/home/ada/a.py", LONG, context=20_000, model=model)
        t.read("/home/ada/a.py", LONG, context=22_000, model=model)
        t.response("done", context=24_000, model=model)
        t.response("done", context=24_100, model=model)
        t.write()
    told = folder.crusts("waste", "--all", "--json").json()
    for row in (told["total"], *told["habits"], *told["files"]):
        assert (None, True) == (row["carried_usd"], row["priced_usd"] > 0)
    lines = folder.crusts("waste", "--all").out.splitlines()
    assert "≥ $0.00 as cache reads." in lines[1]
    assert any("≥ $0.00  reading again" in line for line in lines)
    assert lines[-1].startswith("≥ at least: calls without a list price")
    (priced, unpriced) = (next(row for row in told["sessions"] if row["session"].endswith(end)) for end in "01")
    assert (told["total"]["priced_usd"], None) == (priced["carried_usd"], unpriced["priced_usd"])


def test_what_was_lost_is_fetched_again_for_at_least_what_is_priced(tmp_path: Path) -> None:
    """Two files read again after a compaction, one by a call without a price: ≥ in the session's page and over all."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("go")
    for name in "ab":
        t.read(f"/home/ada/{name}.py", LONG * 20, context=40_000)
    t.boundary()
    t.summary()
    t.response("on we go", context=22_000)
    for name, model in (("a", "no-such-model"), ("b", None)):
        t.read(f"/home/ada/{name}.py", LONG * 20, context=30_000, model=model)
        t.response("so it is", context=50_000, model=model)
    t.write()
    event = folder.crusts("lost", "--json").json()["events"][0]
    usd = sorted(item["reacquired"]["costUsd"] or 0 for item in event["items"] if item["reacquired"])
    assert (None, 2, 0) == (event["reacquired"]["costUsd"], len(usd), usd[0])
    said = f"≥ {text.usd(usd[1])}"
    assert f"tokens for {said}." in folder.crusts("lost").out
    over_all = folder.crusts("lost", "--all")
    assert (2, True) == (over_all.out.count(said), "A part of 1 compaction has no price" in over_all.out)
    assert round(usd[1], 6) == folder.crusts("lost", "--all", "--json").json()["total"]["reacquiredCostUsd"]


def test_a_period_counts_its_own(folder: ClaudeFolder) -> None:
    """Placeholders before the period or behind it are neither counted nor estimated."""
    for period in (("--until", "2026-10-04"), ("--since", "2026-10-06")):
        total = folder.crusts("usage", *period, "--json").json()["total"]
        assert (0, 0, 0) == (total["placeholder_calls"], total["output_missing"], total["cost_missing_usd"])
    total = folder.crusts("usage", "--since", "2026-10-05T00:00:00Z", "--json").json()["total"]
    assert (1, MISSING) == (total["placeholder_calls"], total["output_missing"])


def test_models_compare_and_trend(folder: ClaudeFolder) -> None:
    """The same count and estimate, and the same words, wherever output or cost stands."""
    segment = folder.crusts("models", "--json").json()["segments"][0]
    assert (1, MISSING, round(MISSING * OUTPUT_PRICE, 6)) == tuple(
        segment[key] for key in ("placeholderCalls", "outputMissing", "costMissingUsd")
    )
    models = folder.crusts("models").out
    assert "≥ 2.0k" in models
    assert "All but the output is exact" in models
    cost = folder.crusts("compare", SESSION, SESSION, "--json").json()["cost"]
    assert (1, round(MISSING * OUTPUT_PRICE, 6)) == (cost["placeholderCallsA"], cost["missingUsdA"])
    (week,) = folder.crusts("trend", "--by", "week", "--json").json()["weeks"]
    assert (1, MISSING) == (week["placeholder_calls"], week["output_missing"])
    for command in (("compare", SESSION, SESSION), ("trend", "--by", "week")):
        said = folder.crusts(*command).out
        assert ("≥ $0.08" in said, "1 of 2 calls logged a placeholder" in said) == (True, True)


@pytest.mark.parametrize("more", [(), ("--project", "site")])
def test_reports(folder: ClaudeFolder, more: tuple[str, ...]) -> None:
    """A report has ≥ before them, and calls no such output exact."""
    page = folder.crusts("report", *more, "--format", "md", "--output", "-").out
    assert "≥ 2.0k" in page
    assert "≥ $0.08" in page
    assert "output (at least)" in page.replace("output: at least", "output (at least)")


def test_doctor_and_verify(folder: ClaudeFolder) -> None:
    """Both say how many; verify does not call all numbers exact."""
    assert "1 of 2 calls logged a placeholder" in folder.crusts("doctor").out
    said = folder.crusts("verify")
    assert (0, True, False) == (said.code, "1 calls is a placeholder" in said.out, "All numbers are exact" in said.out)
    assert 1 == folder.crusts("verify", "--json").json()["placeholder_calls"]


def test_views_tell_them(folder: ClaudeFolder) -> None:
    """In SQL: calls with what is missing, days and sessions with how many there are."""
    for statement, wanted in (
        ("select sum(is_placeholder), sum(output_missing) from calls", [1, MISSING]),
        ("select placeholder_calls from cost_by_day", [1]),
        ("select placeholder_calls from sessions_overview", [1]),
        ("select sum(is_placeholder) from session_calls", [1]),
        ("select output_missing from missing_outputs", [MISSING]),
    ):
        assert [wanted] == [list(row) for row in folder.crusts("sql", statement, "--json").json()["rows"]], statement


def test_numbers_that_may_be_larger() -> None:
    """≥ stands before each form of them; what is not known is not made known by it."""
    assert ("≥ 5", "≥ 1.2k", "≥ $1.50", "≥ $0.00") == (
        *(text.number(text.AtLeast(5)), text.tokens(text.AtLeast(1_234))),
        *(text.usd(text.AtLeast(1.5)), text.usd(text.AtLeast(0.001))),
    )
    assert (None, 3, True) == (
        *(text.at_least(None, 1), text.at_least(3, 0)),
        isinstance(text.at_least(3, 1), text.AtLeast),
    )


def test_the_timeline_derives_windows_behind_them(folder: ClaudeFolder) -> None:
    """A window holds what the answer is estimated at, not the placeholder, and says that it is derived."""
    messages = folder.crusts("timeline", "--json").json()["messages"]
    assert [
        (None, None),
        (21_010 + 2_000, "exact"),
        (None, None),
        (23_110 + MISSING + 7, "derived"),
    ] == [(one["windowTokens"], one["windowAccuracy"]) for one in messages]
    analyzed = folder.crusts("analyze", "--json").json()["window"]
    assert (23_110 + MISSING + 7, "derived") == (analyzed["tokens"], analyzed["basis"])


def test_analyze_has_the_cost(folder: ClaudeFolder) -> None:
    """What the session was billed for, main thread and subagents apart; a cut session has none of its own."""
    worker = folder.subagent(agent="a1")
    worker.response("ok", usage=usage(input=1_000_000, output=100))
    worker.write()
    cost = folder.crusts("analyze", "--json").json()["cost"]
    assert (3, 2, 1, MISSING, 0) == tuple(
        cost[key] for key in ("calls", "main_calls", "placeholder_calls", "output_missing", "unpriced_calls")
    )
    assert round(cost["main_usd"] + cost["subagents_usd"], 6) == cost["usd"] == cost["priced_usd"]
    assert 5 + 100 * OUTPUT_PRICE == cost["subagents_usd"]
    said = folder.crusts("analyze", COLUMNS="200").out
    assert "≥ $5.08 for 3 calls at list price: 2 of the main thread, ≥ $0.08, and 1 of others, ≥ $5.00" in said
    assert "1 of 3 calls logged a placeholder" in said
    assert folder.crusts("analyze", "--until", "2", "--json").json()["cost"] is None


def test_a_projects_report_as_json(folder: ClaudeFolder) -> None:
    """Models and days tell what is missing."""
    told = folder.crusts("report", "--project", "site", "--json").json()
    for rows in (told["usage"], told["days"]):
        assert [(1, MISSING)] == [(row["placeholder_calls"], row["output_missing"]) for row in rows]


def test_a_session_of_subagents_alone_has_no_cost_of_its_main_thread(tmp_path: Path) -> None:
    """One call is a call, and no calls cost nothing rather than at least nothing; the limit is not told of no model."""
    folder = IndexedFolder(tmp_path)
    worker = folder.subagent(meta={"agentType": "Explore"})
    worker.prompt("look")
    worker.response(LONG, usage=usage(input=10, read=9_000, write=100, output=1))
    worker.write()
    said = " ".join(folder.crusts("analyze", SESSION).out.split())
    assert "for 1 call at list price, none of the main thread (derived)" in said
    assert "1 of 1 call logged a placeholder" in said
    assert "Not known yet: no call so far. Tools" in said
