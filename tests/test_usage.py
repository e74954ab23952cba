"""`crusts usage`: what was billed, whose it is, and how it adds up."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.builders import OMIT, ClaudeFolder, usage
from tests.conftest import Demo, IndexedFolder
from tests.count import count
from tests.program import CORPUS

SUMS = ("calls", "input", "cache_write", "cache_read", "output")
BYS = ("model", "day", "week", "month", "block", "project", "session", "agent")
OTHER = "5e551001-0000-4000-8000-000000000002"


def rows_by(folder: ClaudeFolder | Demo, by: str, *args: str, **env: str) -> dict[Any, dict[str, Any]]:
    """Rows of `usage --by`, by their key."""
    return {row[by]: row for row in folder.crusts("usage", "--by", by, "--json", *args, **env).json()["rows"]}


@pytest.mark.parametrize("by", BYS)
def test_rows_add_up_to_the_total(demo: Demo, by: str) -> None:
    """Every call is in one row, so tokens, calls and priced cost add up to the same total for every --by."""
    found = demo.crusts("usage", "--by", by, "--json").json()
    for name in ("calls", "input", "cache_read", "cache_write_5m", "cache_write_1h", "output"):
        assert found["total"][name] == sum(row[name] for row in found["rows"]), name
    assert found["total"]["cost_usd"] == pytest.approx(sum(row["cost_usd"] for row in found["rows"]))
    whole = demo.crusts("usage", "--json").json()["total"]
    assert {name: whole[name] for name in SUMS} == {name: found["total"][name] for name in SUMS}


@pytest.mark.parametrize("by", [*BYS, "tool", "server"])
def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None], by: str) -> None:
    """The report of the demo is the golden file, in a terminal 80 columns wide."""
    args = ("--json",) if by == "project" else ()  # the path's cut depends on its place
    text = demo.crusts("usage", "--by", by, *args, COLUMNS="80").out
    assert args or max(len(line) for line in text.splitlines()) <= 80
    golden(f"usage_{by}.txt", json.dumps(json.loads(text), indent=1) + "\n" if args else text)


def test_an_independent_count_agrees(demo: Demo) -> None:
    """A plain reading of the transcripts gives the same sums by model."""
    found = rows_by(demo, "model")
    assert count(demo.folder) == {model: {name: found[model][name] for name in SUMS} for model in found}


@pytest.mark.long
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of real transcripts here")
def test_an_independent_count_agrees_on_real_transcripts(tmp_path: Path) -> None:
    """The same over a folder of real transcripts, where there is one."""
    folder = IndexedFolder(tmp_path)
    assert folder.crusts("index", CLAUDE_CONFIG_DIR=str(CORPUS)).code == 0
    found = rows_by(folder, "model", CLAUDE_CONFIG_DIR=str(CORPUS))
    assert count(CORPUS) == {model: {name: found[model][name] for name in SUMS} for model in found}


def test_days_weeks_and_months_are_the_users(tmp_path: Path) -> None:
    """Calls fall on the user's day, on the Monday of its week and into its month; blocks start on full hours."""
    folder = IndexedFolder(tmp_path)
    late = folder.main(start=datetime(2026, 10, 31, 23, 30, tzinfo=UTC))  # a Saturday
    late.response("a", context=100)
    late.write()
    later = folder.main(OTHER, start=datetime(2026, 11, 1, 4, 59, tzinfo=UTC))
    later.response("b", context=200)
    later.write()
    assert {"2026-10-31", "2026-11-01"} == rows_by(folder, "day").keys()
    assert {"2026-11-01"} == rows_by(folder, "day", "--timezone", "Asia/Seoul").keys()
    assert {"2026-10-26"} == rows_by(folder, "week").keys()
    assert {"2026-10", "2026-11"} == rows_by(folder, "month").keys()
    assert {"2026-10-31T23:00:00Z", "2026-11-01T04:00:00Z"} == rows_by(folder, "block").keys()


def test_a_block_lasts_five_hours(tmp_path: Path) -> None:
    """A call 4:59 after the full hour is in the block, one 5:00 after it begins the next."""
    folder = IndexedFolder(tmp_path)
    for session, hour, minute in ((1, 9, 20), (2, 13, 59), (3, 14, 0)):
        start = datetime(2026, 10, 5, hour, minute, tzinfo=UTC)
        t = folder.main(f"5e551001-0000-4000-8000-00000000000{session}", start=start)
        t.response("a", context=100)
        t.write()
    found = rows_by(folder, "block")
    assert {"2026-10-05T09:00:00Z": 2, "2026-10-05T14:00:00Z": 1} == {key: row["calls"] for key, row in found.items()}
    shown = folder.crusts("usage", "--by", "block", "--timezone", "Asia/Tokyo").out
    assert "\n2026-10-05 18:00 " in shown
    assert "\n2026-10-05 23:00 " in shown


def test_since_is_included_and_untils_day_too(tmp_path: Path) -> None:
    """--since takes calls at or after it, --until those before it, a bare date with its whole day."""
    folder = IndexedFolder(tmp_path)
    for session, day in ((1, 4), (2, 5), (3, 6)):
        start = datetime(2026, 10, day, tzinfo=UTC)
        t = folder.main(f"5e551001-0000-4000-8000-00000000000{session}", start=start)
        t.response("a", context=100)
        t.write()
    assert {"2026-10-05", "2026-10-06"} == rows_by(folder, "day", "--since", "2026-10-05").keys()
    assert {"2026-10-04", "2026-10-05"} == rows_by(folder, "day", "--until", "20261005").keys()
    assert {"2026-10-05"} == rows_by(folder, "day", "--since", "2026-10-05", "--until", "2026-10-05").keys()


def test_a_call_without_a_price_has_no_cost(tmp_path: Path) -> None:
    """Its row's cost is null, never 0; the total sums what is priced, and says how many are not."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.response("a", usage=usage(input=1_000_000, output=0))
    t.response("b", context=100, model="someones-own-model")
    t.write()
    assert folder.crusts("index").code == 0
    found = folder.crusts("usage", "--json")
    rows = {row["model"]: row for row in found.json()["rows"]}
    total = found.json()["total"]
    assert rows["someones-own-model"]["cost_usd"] is None
    assert rows["claude-opus-4-6"]["cost_usd"] == total["cost_usd"] > 0
    assert (1, 1, 0) == (
        total["unpriced_calls"],
        rows["someones-own-model"]["unpriced_calls"],
        rows["claude-opus-4-6"]["unpriced_calls"],
    )
    assert "the cost lacks 1 call without a price" in found.err


NONSTANDARD = {  # what a call's usage says -> whether the price list lacks a price for it
    ("speed", "standard"): 0,
    ("speed", None): 0,
    ("speed", "fast"): 1,
    ("speed", "slow"): 1,
    ("service_tier", "standard"): 0,
    ("service_tier", None): 0,
    ("service_tier", "batch"): 0,
    ("service_tier", "priority"): 1,
    ("inference_geo", ""): 0,
    ("inference_geo", "global"): 0,
    ("inference_geo", "not_available"): 0,
    ("inference_geo", "us"): 1,
}


def test_calls_that_are_not_costed_as_what_they_are(tmp_path: Path) -> None:
    """Fast mode, tiers and places are priced where the list has them, else counted in every row and said (D15)."""
    folder = IndexedFolder(tmp_path)
    t = folder.main(model="claude-opus-4-6", start=datetime(2026, 11, 1, tzinfo=UTC))
    for key, value in NONSTANDARD:
        t.response("x", usage=usage(**{key: value}))
    t.response("x", usage=usage(speed="fast"), model="claude-opus-5-5")  # listed
    t.response("x", usage=usage(speed="fast", inference_geo="us"), model="claude-opus-5-5")  # one of the two is
    t.write()
    expected = {"claude-opus-4-6": sum(NONSTANDARD.values()), "claude-opus-5-5": 1}
    for by in BYS:
        done = folder.crusts("usage", "--by", by, "--json")
        counts = [row["nonstandard_calls"] for row in done.json()["rows"]]
        assert sum(expected.values()) == sum(counts) == done.json()["total"]["nonstandard_calls"]
        assert "5 calls in fast mode, of another tier" in done.err
    assert expected == {model: row["nonstandard_calls"] for model, row in rows_by(folder, "model").items()}
    assert "5 calls are costed as standard calls, which they are not (" in folder.crusts("doctor").out
    assert 5 == folder.crusts("readout", "--full", "--since", "2026-01-01").json()["cache"]["nonstandard_calls"]


def test_retained_calls_stay_in_the_bill(tmp_path: Path) -> None:
    """A transcript written anew without a call keeps that call in the total, flagged (D4)."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.response("one", context=100)
    t.response("two", context=200)
    t.write()
    assert folder.crusts("index").code == 0
    anew = folder.main()
    anew.response("three", context=400, request="req_new", message="msg_new")
    anew.write()
    total = folder.crusts("usage", "--json").json()["total"]
    assert (3, 2) == (total["calls"], total["retained_calls"])
    assert "2 of the calls were billed" in folder.crusts("usage").out


def test_tools_by_use_result_and_what_was_carried(tmp_path: Path) -> None:
    """Carried tokens are the result's times the later calls of its epoch; servers are MCP servers only."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("go")
    t.bash("make", "x" * 400, context=1_000)  # 100 tokens, carried by the next two calls
    t.call("mcp__files__find", {}, "y" * 40, context=1_200, is_error=True)  # 10 tokens, carried by one
    t.response("done", context=1_300)
    t.boundary(pre=1_300, post=300)
    t.response("on", context=300)  # another epoch: carries nothing of them
    t.write()
    found = folder.crusts("usage", "--by", "tool", "--json").json()
    assert [
        {"tool": "Bash", "uses": 1, "result_tokens": 100, "carried_tokens": 200, "errors": 0},
        {"tool": "mcp__files__find", "uses": 1, "result_tokens": 10, "carried_tokens": 10, "errors": 1},
    ] == found["rows"]
    assert {"uses": 2, "result_tokens": 110, "carried_tokens": 210, "errors": 1} == found["total"]
    servers = folder.crusts("usage", "--by", "server", "--json").json()["rows"]
    assert [("files", 1, 10)] == [(row["server"], row["uses"], row["result_tokens"]) for row in servers]


def test_what_a_result_carried_counts_where_another_came_behind_the_last_call(tmp_path: Path) -> None:
    """A result that arrives on a branch that was left leaves what the one before it carried as it is."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.prompt("hello")
    begun = t.response("hello", context=900)
    t.prompt("go")
    t.bash("make", "x" * 400, context=1_000)  # 100 tokens, carried by the next two calls
    t.response("made", context=1_100)
    asked = t.response(t.tool_use("Bash", id="toolu_late"), context=1_200)
    t.prompt("go elsewhere", parentUuid=begun)
    t.response("there", context=1_050)
    t.tool_result("toolu_late", "y" * 40, parentUuid=asked)
    t.write()
    found = folder.crusts("usage", "--by", "tool", "--json").json()
    assert [{"tool": "Bash", "uses": 2, "result_tokens": 110, "carried_tokens": 200, "errors": 0}] == found["rows"]


def test_agents_by_type(tmp_path: Path) -> None:
    """Calls of the main thread are `main`, those of a subagent its type, or null where none is logged."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.response("a", context=100)
    t.write()
    known = folder.subagent(agent="a1", meta={"agentType": "Explore", "toolUseId": "toolu_1"})
    known.response("b", context=200)
    known.write()
    unknown = folder.subagent(agent="a2")
    unknown.response("c", context=300)
    unknown.write()
    found = rows_by(folder, "agent")
    assert {"main": 100, "Explore": 200, None: 300} == {
        key: row["input"] + row["cache_read"] for key, row in found.items()
    }


def test_a_project_is_found_by_part_of_its_path(tmp_path: Path) -> None:
    """--project takes part of the path in any case; other projects' calls are left out, of tools too."""
    folder = IndexedFolder(tmp_path)
    for session, project in ((folder.main(), 100), (folder.main(OTHER, "/home/ada/Shop"), 200)):
        session.bash("ls", "x" * 40, context=project)
        session.write()
    assert {"/home/ada/Shop"} == rows_by(folder, "project", "--project", "shop").keys()
    assert 1 == folder.crusts("usage", "--by", "tool", "--project", "SITE", "--json").json()["total"]["uses"]
    assert {} == rows_by(folder, "project", "--project", "nowhere")


def test_nothing_in_the_period(tmp_path: Path) -> None:
    """No calls: no rows, a total of nothing that cost nothing, and a sentence for people."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.response("a", context=100)
    t.write()
    found = folder.crusts("usage", "--since", "2030-01-01", "--json").json()
    assert ([], 0, 0.0) == (found["rows"], found["total"]["calls"], found["total"]["cost_usd"])
    assert "Nothing in this period" in folder.crusts("usage", "--since", "2030-01-01").out


def test_a_call_without_ids_or_time_counts(tmp_path: Path) -> None:
    """Without a filter a call counts even if it has neither ids nor a time."""
    folder = IndexedFolder(tmp_path)
    t = folder.main()
    t.response("a", context=100, request=OMIT, message=OMIT, timestamp=OMIT)
    t.write()
    assert 1 == folder.crusts("usage", "--json").json()["total"]["calls"]
    assert {None: 1} == {key: row["calls"] for key, row in rows_by(folder, "day").items()}


def test_csv_has_the_keys_of_json(demo: Demo) -> None:
    """--format csv: one line a row under the keys of the JSON rows."""
    lines = demo.crusts("usage", "--format", "csv").out.splitlines()
    rows = demo.crusts("usage", "--json").json()["rows"]
    assert list(rows[0]) == lines[0].split(",")
    assert len(rows) == len(lines) - 1


def test_wrong_usage(tmp_path: Path) -> None:
    """An unknown --by and a senseless time are wrong usage: exit 2."""
    folder = IndexedFolder(tmp_path)
    assert folder.crusts("usage", "--by", "mood").code == 2
    done = folder.crusts("usage", "--since", "someday")
    assert (2, True) == (done.code, "--since" in done.err)
