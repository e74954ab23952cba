"""Sessions over time: every number that of analyze, the order, the summary, CSV, and the weeks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from crusts_index.insight.session.loading import load
from crusts_index.insight.window.buckets import Buckets, buckets_of
from crusts_index.insight.window.evidence import Evidence
from crusts_index.insight.window.habits import Habits
from crusts_index.insight.window.judge import Window, WindowSettings, judge, window_of
from crusts_index.insight.window.many import Many
from crusts_index.insight.window.trend import Record, _summed, sparkline, trend_of
from crusts_index.rows.trend import Standing
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.builders import CWD, SESSION, START, ClaudeFolder, Transcript
from tests.conftest import Demo
from tests.picture import index, new_store, read, scratch
from tests.profiles import examples
from tests.strategies import transcripts

HEADER = (
    "sessionId,projectName,timestamp,totalTokens,percentUsed,messageCount,compactionCount,health,topCategory,"
    "topCategoryTokens,contextLimit,bucketBasis"
)


def session(number: int) -> str:
    """An id."""
    return f"5e551001-0000-4000-8000-{number:012d}"


def sizes(window: Window) -> tuple[object, ...]:
    """What sums tell of a window."""
    return window.size, window.limit, window.limit_kind, window.trigger, window.growth, window.calls_left


def counted(buckets: Buckets | None) -> tuple[Any, ...]:
    """The categories as they are and as counted; nothing where they are not known."""
    if buckets is None:
        return ()
    return buckets.basis, *((bucket.tokens, bucket.content_tokens) for bucket in buckets.buckets)


def judged(db: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], int]:
    """Each session's window and categories by trend, the same by facts, and how many sums alone could tell."""
    with closing(open_store(db)) as store:
        fetch = partial(query.rows, store)
        standings = fetch(Standing, project=None, limit=None)
        sums = Many(fetch, standings, {}, {}, Habits(), 0)
        by_sums = [(one, sums.judge(one)) for one in standings if sums.can_judge(one)]
        found, wanted = [], []
        for one, here in by_sums:
            facts = load(fetch, one.session_id)
            window = window_of(facts)
            buckets = buckets_of(facts, window)
            found.append((one.session_id, *sizes(here.window), *counted(here.buckets), one.messages))
            wanted.append((one.session_id, *sizes(window), *counted(buckets), facts.session.messages))
        return found, wanted, len(by_sums)


def test_after_an_update_it_is_the_new_version_that_compacts(folder: ClaudeFolder) -> None:
    """A session that Claude Code 2.1.20 began and 2.1.21 goes on with has the smaller buffer, told by sums too."""
    t = folder.main(model="claude-opus-4-6", version="2.1.20")
    t.prompt("go on")
    t.response("done", context=30_000)
    t.prompt("go on", version="2.1.21")
    t.response("done", context=32_000, version="2.1.21")
    found, wanted, count = judged(read(folder, t))
    assert 1 == count
    assert found == wanted
    assert 167_000 == found[0][4]


def long_session(t: Transcript) -> Transcript:
    """Reads, a skill listing, images, calls of many sizes."""
    t.attachment("skill_listing", content="- deploy: ship it\n" * 30, skillCount=1, isInitial=True)
    t.prompt("start with the parser")
    for number in range(25):
        t.read(f"{CWD}/{number}.py", "x = 1\n" * (20 + number), context=20_000 + 300 * number, output=40)
        t.bash("make", "ok\n" * number, context=20_150 + 300 * number)
    t.prompt("and now the lexer")
    t.response("done", context=30_000)
    return t


# ------------------------------------------------------------------ the numbers are those of analyze


def test_a_session_without_a_call_pulls_no_average(folder: ClaudeFolder) -> None:
    """Its window, share, health and category are null, and the averages are over the others."""
    empty, full = folder.main(session(1)), folder.main(session(2))
    empty.prompt("hello")
    full.prompt("hello")
    full.response("hi", context=100_000, output=20)
    db = read(folder, empty, full)
    with closing(open_store(db)) as store:
        found = trend_of(partial(query.rows, store), {}, {}, 0, project=None, limit=None)
    first = next(one for one in found.records if one.session_id == session(1))
    assert [None] * 5 == [
        *(first.window.size, first.percent_used, first.window.health, first.top_category, first.top_category_tokens)
    ]
    assert (100_020, 50.01) == (found.window_tokens, round(found.percent_used, 2))


def test_as_many_sessions_as_asked_for(folder: ClaudeFolder) -> None:
    """Those without a call count, and those without a message on a main thread take nobody's place and are told."""
    for number in range(1, 7):
        t = folder.main(session(number))
        if number == 3:
            t.meta("last-prompt", lastPrompt="go")
        else:
            t.prompt("go", timestamp=f"2026-10-0{number}T09:00:00.000Z")
        if number not in (3, 5):
            t.response("done", context=20_000, timestamp=f"2026-10-0{number}T09:01:00.000Z")
        t.write()
    folder.crusts("index")
    for limit, expected in ((4, 4), (5, 5), (50, 5)):
        told = folder.crusts("trend", "--json", "--limit", str(limit)).json()
        assert (expected, expected) == (len(told["records"]), told["summary"]["count"])
        assert (1, 1) == (told["summary"]["withoutCall"], told["summary"]["leftOut"])


def test_sums_tell_what_facts_tell(folder: ClaudeFolder) -> None:
    """Window, limit, basis and every category, without the blocks being read one by one."""
    found, wanted, plain = judged(read(folder, long_session(folder.main())))
    assert (wanted, 1) == (found, plain)


def test_compactions_with_preserved_messages(folder: ClaudeFolder) -> None:
    """The window since the boundary and what it names, by uuids or from head to tail."""
    t = long_session(folder.main())
    head = t.parent
    t.read(f"{CWD}/kept.py", "y = 2\n" * 100, context=31_000)
    uuids = [head, t.parent]
    t.boundary(preservedMessages={"anchorUuid": head, "uuids": uuids}, preCompactDiscoveredTools=["WebFetch"])
    t.summary("The parser is done.")
    t.prompt("go on")
    t.response("on", context=21_000)
    u = long_session(folder.main(session(2)))
    head = u.prompt("look")
    u.read(f"{CWD}/kept.py", "y = 2\n" * 100, context=31_000)
    u.boundary(preservedSegment={"headUuid": head, "anchorUuid": head, "tailUuid": u.parent}, post=900)
    u.summary("The parser is done.")
    found, wanted, plain = judged(read(folder, t, u))
    assert (wanted, 2) == (found, plain)


def test_what_was_taken_out_is_not_in_the_sums(folder: ClaudeFolder) -> None:
    """Microcompaction's results, and a second result of the same use."""
    t = long_session(folder.main())
    use = t.read(f"{CWD}/big.py", "z = 3\n" * 900, context=32_000)
    again = t.read(f"{CWD}/twice.py", "z = 3\n" * 300, context=33_000)
    t.tool_result(again, "z = 3\n" * 300)
    t.system("microcompact_boundary", microcompactMetadata={"trigger": "auto", "compactedToolIds": [use]})
    t.response("on", context=32_500)
    found, wanted, plain = judged(read(folder, t))
    assert (wanted, 1) == (found, plain)


def test_a_conversation_that_begins_again_is_told_by_sums(folder: ClaudeFolder) -> None:
    """Prompts that follow nothing: only where answers or results stand a second time are the facts asked. Tools that
    were loaded before them are not in the window."""
    told = []
    for number, repeats in enumerate((False, True, False, False), start=1):
        t = long_session(folder.main(session(number)))
        t.read(f"{CWD}/big.py", "z = 3\n" * 900, context=32_000)
        t.response(t.tool_use("ToolSearch", {"query": "web"}, "toolu_s"), context=32_500)
        t.tool_result("toolu_s", [{"type": "tool_reference", "tool_name": "WebFetch"}])
        t.response("loaded", context=34_000)
        t.prompt("again", parentUuid=None)
        if repeats:
            t.response("as it was", context=33_000, message="m1", request="r1")
            t.prompt("once more", parentUuid=None)
            t.response("as it was", context=33_000, message="m1", request="r1")
        t.read(f"{CWD}/more.py", "a = 1\n" * 500, context=21_000)
        turn = t.response("so far", context=24_000)
        if number == 3:
            t.prompt("this way")
            t.response("done", context=25_000)
            t.prompt("that way", parentUuid=turn)
            t.response("done so", context=26_000)
        if number == 4:
            t.boundary(preCompactDiscoveredTools=["WebFetch"])
            t.summary("The parser is done.")
            t.prompt("go on")
            t.response("on", context=21_500)
        told.append(t)
    found, wanted, plain = judged(read(folder, *told))
    assert (wanted, 3) == (found, plain)


def test_placeholders_of_older_versions(folder: ClaudeFolder) -> None:
    """The last answer is estimated where its output was not logged."""
    t = folder.main(version="1.0.60")
    t.prompt("start")
    t.response("A long answer. " * 60, context=20_000, output=1)
    found, wanted, plain = judged(read(folder, t))
    assert (wanted, 1) == (found, plain)


def test_a_session_without_a_call(folder: ClaudeFolder) -> None:
    """Nothing is known of its window yet, and nothing of what is in it."""
    t = folder.main()
    t.prompt("hello there")
    found, wanted, plain = judged(read(folder, t))
    assert (wanted, 1) == (found, plain)


def test_what_sums_cannot_tell_is_read_whole(folder: ClaudeFolder) -> None:
    """Inferred compactions, a leaf named behind the end, calls of crusts at the end, a rewind before any call."""
    drop = folder.main(session(1), version="1.0.60")
    drop.prompt("start")
    drop.response("big", context=90_000)
    drop.prompt("go on")
    drop.response("small", context=20_000)
    leaf = folder.main(session(2))
    leaf.prompt("start")
    target = leaf.response("one", context=20_000)
    leaf.prompt("two")
    leaf.response("two", context=25_000)
    leaf.meta("last-prompt", lastPrompt="start", leafUuid=target)
    own = folder.main(session(3))
    own.prompt("start")
    own.response("one", context=20_000)
    own.prompt("what fills it?")
    own.bash("crusts analyze", "a lot", context=21_000)
    rewound = folder.main(session(4))
    first = rewound.prompt("fix the parser")
    rewound.prompt("fix the parser")
    rewound.prompt("fix the parser", parentUuid=first)
    rewound.response("", context=1_004)
    db = read(folder, drop, leaf, own, rewound)
    found, wanted, plain = judged(db)
    assert (wanted, 0) == (found, plain)
    with closing(open_store(db)) as store:
        fetch = partial(query.rows, store)
        records = trend_of(fetch, {}, {}, 0, project=None, limit=None).records
        for record in records:
            facts = load(fetch, record.session_id)
            assert (window_of(facts).size, facts.session.messages) == (record.window.size, record.messages)


@pytest.mark.long
@given(made=transcripts())
@examples(30)
def test_any_transcript(made: Any) -> None:
    """Whatever is logged, rewinds included: a window that sums tell is the one that facts tell."""
    with scratch() as place:
        folder = ClaudeFolder(place)
        made.write(folder.project_folder(CWD) / f"{SESSION}.jsonl")
        db = new_store(place)
        index(db, folder.config)
        found, wanted, _ = judged(db)
        assert wanted == found


# ------------------------------------------------------------------ the report


def test_sessions_stand_in_the_order_of_their_last_activity(folder: ClaudeFolder) -> None:
    """Oldest first; the limit takes the last ones; nobody has to analyze first."""
    for number, day in ((1, 3), (2, 1), (3, 2)):
        t = folder.main(session(number), start=START + timedelta(days=day))
        t.prompt("hello")
        t.response("hi", context=20_000 + number)
        t.write()
    found = folder.crusts("trend", "--json").json()
    assert [session(2), session(3), session(1)] == [one["sessionId"] for one in found["records"]]
    assert [20_022, 20_023, 20_021] == [one["totalTokens"] for one in found["records"]]
    last = folder.crusts("trend", "--json", "--limit", "2").json()
    assert [session(3), session(1)] == [one["sessionId"] for one in last["records"]]
    assert 2 == last["summary"]["count"]
    assert [] == folder.crusts("trend", "--json", "--project", "elsewhere").json()["records"]


def test_compactions_count_where_they_were_first_made(folder: ClaudeFolder) -> None:
    """A fork shows the window it has, but the copied boundary is the first session's (D2)."""
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=50_000)
    t.boundary()
    t.summary()
    t.response("on", context=20_000)
    t.write()
    fork = folder.main(session(9), start=START + timedelta(days=1))
    fork.copy(t.lines(), forked=True)
    fork.prompt("and now")
    fork.response("yes", context=21_000)
    fork.write()
    found = folder.crusts("trend", "--json").json()["records"]
    assert [1, 0] == [one["compactionCount"] for one in found]


def test_csv_has_its_columns_and_does_no_harm(folder: ClaudeFolder, tmp_path: Path) -> None:
    """The header others rely on, two decimals, quoted commas, no formula; a file of it on demand."""
    t = folder.main(project='/home/ada/=cmd|"x",y')
    t.prompt("hello")
    t.response("hi", context=20_000)
    t.write()
    text = folder.crusts("trend", "--format", "csv").out
    assert HEADER == text.splitlines()[0]
    assert text.endswith("\n")
    (row,) = csv.DictReader(io.StringIO(text))
    assert '\'=cmd|"x",y' == row["projectName"]
    assert ("10.01", "20020", "200000") == (row["percentUsed"], row["totalTokens"], row["contextLimit"])
    out = tmp_path / "trend.csv"
    done = folder.crusts("trend", "--format", "csv", "--output", str(out), "--json")
    assert ("", text) == (done.out, out.read_text())
    assert 1 == folder.crusts("trend", "--format", "csv", "--output", str(tmp_path / "no" / "where")).code
    assert 2 == folder.crusts("trend", "--output", str(out)).code


def test_nothing_yet(folder: ClaudeFolder) -> None:
    """An empty summary, flat; words in text; the header alone in CSV."""
    found = folder.crusts("trend", "--json").json()
    assert {
        "count": 0,
        "avgPercentUsed": 0,
        "avgTotalTokens": 0,
        "avgCompactionCount": 0,
        "avgMessageCount": 0,
        "dominantCategory": "conversation",
        "direction": "flat",
        "percentUsedDelta": 0,
        "withoutCall": 0,
        "leftOut": 0,
        "series": [],
    } == found["summary"]
    assert "No sessions yet" in folder.crusts("trend").out
    assert HEADER + "\n" == folder.crusts("trend", "--format", "csv").out
    assert [] == folder.crusts("trend", "--by", "week", "--json").json()["weeks"]


def record(percent: float, top: str = "tools") -> Record:
    """A session that ended so full."""
    evidence = Evidence("s", "/p", None, None, "m", "m", post_tokens=round(percent * 2_000))
    window = judge(evidence, WindowSettings(context_windows={"m": 200_000}), Habits())
    return Record("s", "/p", 0, window, 5, 1, top, 5, "window")


@pytest.mark.parametrize(
    ("percents", "direction", "delta"),
    [
        ([10, 90], "flat", 0),
        ([10, 50, 15], "flat", 5),
        ([10, 50, 15.1], "worsening", 5.1),
        ([15.1, 50, 10], "improving", -5.1),
        ([10, 20, 50, 50, 50, 30, 40], "worsening", 20),
    ],
)
def test_direction_is_by_thirds(percents: list[float], direction: str, delta: float) -> None:
    """The mean of the last third less that of the first, from three sessions on; 5 points are no change."""
    found = _summed([record(percent) for percent in percents])
    assert (direction, pytest.approx(delta)) == (found.direction, found.percent_delta)


def test_the_dominant_category_is_the_most_frequent_the_first_of_equals() -> None:
    """Ties go to the one seen first."""
    assert (
        "system"
        == _summed(
            [record(1, "system"), record(1), record(1, "user"), record(1), record(1, "system")]
        ).dominant_category
    )


def test_sparkline() -> None:
    """From the least to the most; equal values are all least."""
    assert "▁▅█" == sparkline([0, 50, 100])
    assert "▁▁" == sparkline([7, 7])
    assert "" == sparkline([])


# ------------------------------------------------------------------ weeks


def test_weeks_are_the_users_and_count_once(folder: ClaudeFolder) -> None:
    """By their Monday in the zone asked for: calls, median peak, compactions, re-reads, cache and cost."""
    monday = datetime(2026, 10, 12, 2, 0, tzinfo=UTC)
    for number, context in ((1, 40_000), (2, 60_000)):
        t = folder.main(session(number), start=monday, model="claude-opus-4-8")
        t.prompt("hello")
        t.read(f"{CWD}/a.py", "x = 1\n" * 400, context=20_000)
        t.read(f"{CWD}/a.py", "x = 1\n" * 400, context=30_000)
        t.boundary()
        t.summary()
        t.response("on", context=context)
        t.write()
    assert 0 == folder.crusts("index").code
    (week,) = folder.crusts("trend", "--by", "week", "--json", "--timezone", "UTC").json()["weeks"]
    assert ("2026-10-12", 2, 6, 50_000, 2) == tuple(
        week[name] for name in ("week", "sessions", "calls", "peak_p50", "compactions")
    )
    assert (1_200, 2_400, 0.5) == (week["reread_tokens"], week["result_tokens"], week["waste_share"])
    context = 2 * 50_000 + 100_000
    assert round((context - 18) / context, 4) == week["cache_read_share"]
    assert week["cost_usd"] > 0
    (west,) = folder.crusts("trend", "--by", "week", "--json", "--timezone", "America/Lima").json()["weeks"]
    assert "2026-10-05" == west["week"]
    text = folder.crusts("trend", "--by", "week", "--format", "csv").out
    assert text.startswith("week,sessions,calls,peak_p50,compactions,")


def test_a_week_with_an_unpriced_call_has_no_cost(folder: ClaudeFolder) -> None:
    """Null, never 0, and the calls are counted."""
    t = folder.main(model="no-such-model")
    t.prompt("hello")
    t.response("hi", context=20_000)
    t.write()
    (week,) = folder.crusts("trend", "--by", "week", "--json").json()["weeks"]
    assert (None, 1) == (week["cost_usd"], week["unpriced_calls"])


def test_the_last_weeks(folder: ClaudeFolder) -> None:
    """--limit takes the last ones, oldest first."""
    for number in range(3):
        t = folder.main(session(number), start=START + timedelta(weeks=number))
        t.prompt("hello")
        t.response("hi", context=20_000)
        t.write()
    found = folder.crusts("trend", "--by", "week", "--limit", "2", "--json").json()["weeks"]
    assert ["2026-10-12", "2026-10-19"] == [one["week"] for one in found]


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """Text, JSON and CSV of the demo are the golden files; the numbers are those that analyze gives."""
    golden("trend.txt", demo.crusts("trend", COLUMNS="80").out)
    golden("trend_week.txt", demo.crusts("trend", "--by", "week", COLUMNS="80").out)
    golden("trend.csv", demo.crusts("trend", "--format", "csv").out)
    found = demo.crusts("trend", "--json").json()
    golden("trend.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    for one in found["records"]:
        said = demo.crusts("analyze", one["sessionId"], "--json").json()["breakdown"]
        assert (said["total_tokens"], said["context_limit"], said["context_health"]) == (
            one["totalTokens"],
            one["contextLimit"],
            one["health"],
        )
        now = said["currentContext"]["buckets"]
        assert max(bucket["tokens"] for bucket in now) == one["topCategoryTokens"]


def test_sessions_of_one_message_give_no_direction() -> None:
    """A prompt and its answer say nothing of how full windows end."""
    short = [record(percent)._replace(messages=2) for percent in (90, 50, 10)]
    assert ("flat", 0.0) == (_summed(short).direction, _summed(short).percent_delta)


def test_what_is_left_out_is_told(folder: ClaudeFolder) -> None:
    """Sessions without a message on a main thread are counted, and those without a call."""
    empty, full = folder.main(session(1)), folder.main(session(2))
    empty.prompt("hello")
    full.prompt("hello")
    full.response("hi", context=100_000, output=20)
    lone = folder.subagent(session(3), "a1")
    lone.prompt("go")
    lone.response("gone", context=9_000, output=20)
    for one in (empty, full, lone):
        one.write()
    told = folder.crusts("trend", "--json").json()["summary"]
    assert (2, 1, 1) == (told["count"], told["withoutCall"], told["leftOut"])
