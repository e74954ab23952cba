"""Why the cache did not hold: planted causes are named, with the call where they show (D21)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from crusts_index.insight.money.breaks import REASONS
from crusts_index.store import query
from tests.builders import ClaudeFolder
from tests.conftest import Demo
from tests.picture import ask, read
from tests.planted import PLANTED, PLANTS, plant


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_cause_is_named(folder: ClaudeFolder, name: str) -> None:
    """`cache` and `why` name the reason, how it is known, and the message at which it shows; or none."""
    _, reason, certainty = plant(folder, name)
    db = read(folder)
    (place,) = ask(db, f"select number from messages where preview = '{PLANTED}'") or [(None,)]
    told = folder.crusts("cache", "--json").json()
    wanted = [] if reason is None else [(reason, certainty, *place)]
    assert wanted == [(one["reason"], one["certainty"], one["message"]) for one in told["breaks"]]
    assert wanted == [(one["reason"], one["certainty"], *place) for one in told["reasons"]]
    why = folder.crusts("why", "--json").json()
    largest = why["largest_avoidable"]
    assert (largest and [largest["reason"], largest["message"]]) == ([reason, *place] if wanted else None)
    assert ("none of it avoidable" in why["sentence"]) == (reason is None)
    first = folder.crusts("why", COLUMNS="500").out.splitlines()[0]
    assert why["sentence"] == first
    assert reason is None or f"#{place[0]} " in first


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """By reason, by day and break by break in 80 columns, and as JSON."""
    golden("cache.txt", demo.crusts("cache", COLUMNS="80").out)
    golden("cache_day.txt", demo.crusts("cache", "--by", "day", "--limit", "3", COLUMNS="80").out)
    golden("cache_breaks.txt", demo.crusts("cache", "--breaks", "--limit", "5", COLUMNS="80").out)
    golden("cache.json", json.dumps(demo.crusts("cache", "--json").json(), indent=2, ensure_ascii=False) + "\n")


def test_the_sums_agree(demo: Demo) -> None:
    """The parts make the input that usage tells; the breaks of a reason make its sum."""
    told = demo.crusts("cache", "--json").json()
    total, parts = told["total"], ("new", "carried", "rebuilt", "compaction")
    assert abs(total["input_usd"] - sum(total[f"{part}_usd"] for part in parts)) < 1e-5
    usage = demo.crusts("usage", "--json").json()["total"]
    assert usage["input"] + usage["cache_read"] + usage["cache_write"] == sum(total[f"{part}_tokens"] for part in parts)
    for by in ("day", "project", "model", "session"):
        rows = demo.crusts("cache", "--by", by, "--json").json()["rows"]
        for name in ("tokens", "avoidable_usd"):
            assert abs(sum(row[name] for row in rows) - sum(one[name] for one in told["breaks"])) < 1e-5
    assert abs(total["avoidable_usd"] - sum(one["avoidable_usd"] for one in told["reasons"])) < 1e-5


def test_every_reason_is_said_and_planted() -> None:
    """Each word that the view may give has what is said of it, and a session that shows it."""
    text = dict(query.view_scripts())["cache_breaks"].partition("create view")[2]
    words = set(re.findall(r"(?:then|else) '(\w+)'", text)) | set(
        re.findall(r"then iif\(.*'(\w+)', '(\w+)'\)", text)[0]
    )
    assert set(REASONS) == words - {"logged", "exact", "inferred"}
    shown = {reason for _, reason, _, _ in PLANTS.values() if reason is not None}
    assert {"unknown"} == words - {"logged", "exact", "inferred"} - shown


def test_breaks_are_told_singly_or_in_sums(demo: Demo) -> None:
    """Both at once are wrong usage; as JSON the object has both."""
    both = demo.crusts("cache", "--by", "day", "--breaks")
    assert (2, "", True) == (both.code, both.out, "--by or --breaks" in both.err)
    told = demo.crusts("cache", "--by", "day", "--breaks", "--json").json()
    assert told["breaks"]
