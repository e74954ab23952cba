"""`crusts accuracy --forecast`: the forecast replayed over past windows, each judged by what stood before it (D10)."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from crusts_index.index.past_windows import past_windows
from crusts_index.insight.window.record import Horizon, Judged, record_of
from crusts_index.store.open import open_store
from crusts_index.windows import PRIOR, RANGES, PastWindow
from tests.builders import START, ClaudeFolder, Transcript
from tests.picture import index, new_store

OPUS, SONNET = "claude-opus-4-6", "claude-sonnet-5"
VERSION = "2.1.220"


def session(number: int) -> str:
    """An id."""
    return f"5e551001-0000-4000-8000-{number:012d}"


def compacted(t: Transcript, step: int = 1_000, pre: int = 167_500, trigger: str = "auto") -> Transcript:
    """Calls from 150,000 on that grow by `step`, up to a compaction."""
    t.prompt("go on")
    for context in range(150_000, pre, step):
        t.response("done", context=context, output=20)
    t.boundary(trigger, pre, 3_000)
    t.summary()
    t.response("on we go", context=25_000)
    return t


def told(folder: ClaudeFolder, *transcripts: Transcript) -> list[PastWindow]:
    """The past windows of a store of these transcripts."""
    for t in transcripts:
        t.write()
    db = new_store(folder.home)
    index(db, folder.config)
    with closing(open_store(db)) as store:
        return list(past_windows(store))


def window(contexts: list[int], model: str = OPUS, prior: float = PRIOR, limit: int | None = None) -> PastWindow:
    """A window by the contexts of its calls, with nothing else learned."""
    return PastWindow(model, model, VERSION, [(context, 0) for context in contexts], limit, {}, prior, RANGES)


def test_forecasts_are_held_against_the_calls_that_came() -> None:
    """Ten calls that grow by 1,000 up to 167,000, where 1,000 is expected: of the fifth call 5 are left and 5 promised,
    of the last but one 1; every range holds."""
    record = record_of([window(list(range(158_000, 168_000, 1_000)), prior=1_000)])
    assert record is not None
    assert (1, 5, 0, 0, 0, 1) == record[:6]
    assert (Horizon(10, 5, 0, 1),) == record.horizons
    assert Judged(5, 0, 0, 0) == record.plain


def test_a_range_that_misses_and_a_promise_past_the_trigger() -> None:
    """Growth of 4,000 where 1,000 is usual: more than twice too many are promised. Past the trigger none is."""
    fast = record_of([window(list(range(127_000, 167_001, 4_000)), prior=1_000)])
    assert fast is not None
    assert (1, 6) == fast[:2]
    assert fast.bias > 1
    assert (1, 0) == (fast.twice_too_many, fast.coverage_80)
    assert Judged(6, 0, 0, 0) == fast.plain
    late = record_of([window([150_000, 160_000, 165_000, 166_000, 168_000, 169_000, 170_000])])
    assert late is not None
    assert (1, 2, 1, -1, 0, 0) == late[:6]


def test_the_plain_one_may_promise_nothing() -> None:
    """Where the median of the last steps is not above 0 it says nothing, and is not judged."""
    record = record_of([window([100_000] * 8)])
    assert record is not None
    assert (3, None) == (record.points, record.plain)


def test_windows_of_few_calls_are_no_record() -> None:
    """The fifth call is the first that is judged, and the last has none left."""
    assert record_of([window([1_000] * 5)]) is None
    assert record_of([]) is None


@pytest.mark.parametrize(
    ("model", "limit", "promised"), [(SONNET, None, 919), (SONNET, 200_000, 0), (f"{OPUS}[1m]", None, 919)]
)
def test_the_limit_is_what_was_known_then(model: str, limit: int | None, promised: int) -> None:
    """A model that is taken to have 1,000,000, or was asked for so, is promised all of it, until 200,000 was seen."""
    record = record_of([window([160_000, *range(163_000, 168_000, 1_000)], model, PRIOR, limit)])
    assert record is not None
    assert (promised > 0) == (record.bias > 100)


def test_each_window_is_told_by_what_stood_before_it(folder: ClaudeFolder) -> None:
    """Of the first nothing was seen or learned; of the second the first one's limit and growth. A later one changes
    neither, and one that the user asked for is none."""
    days = [START + timedelta(days=number) for number in range(4)]
    made = [compacted(folder.main(session(number), model=SONNET, start=days[number])) for number in (0, 1)]
    asked = compacted(folder.main(session(2), model=SONNET, start=days[2]), trigger="manual")
    first, second = told(folder, *made, asked)
    assert (None, PRIOR, RANGES, {}) == (first.seen_limit, first.prior, first.ranges, first.buffers)
    assert (18, (150_000, 20)) == (len(first.calls), first.calls[0])
    assert 200_000 == second.seen_limit
    assert PRIOR < second.prior < 1_000
    more = told(folder, compacted(folder.main(session(3), model=SONNET, start=days[3]), step=3_000))
    assert [first, second] == more[:2]
    assert 32_500 == more[2].buffers["200000 2.1"]


def test_the_command(folder: ClaudeFolder) -> None:
    """One screen of words; the same numbers as JSON, beside those of the estimates."""
    for number in (1, 2):
        compacted(folder.main(session(number), model=OPUS)).write()
    found = folder.crusts("accuracy", "--json").json()["forecast"]
    assert (2, 26) == (found["epochs"], found["points"])
    assert {"median_abs_error", "bias", "twice_too_many", "coverage_80", "horizons", "plain"} < found.keys()
    assert found == folder.crusts("accuracy", "--forecast", "--json").json()["forecast"]
    lines = folder.crusts("accuracy", "--forecast", COLUMNS="80").out.splitlines()
    assert "26 calls of 2 past windows" in lines[0]
    assert (True, True) == (len(lines) <= 24, max(map(len, lines)) <= 80)


def test_no_record(tmp_path: Path) -> None:
    """Without a window that was compacted by itself there is none, and it is said."""
    folder = ClaudeFolder(tmp_path)
    folder.main().write()
    assert "no forecast to judge" in folder.crusts("accuracy", "--forecast").out
    found = folder.crusts("accuracy", "--json").json()["forecast"]
    assert (0, 0, None, None, None) == tuple(
        found[name] for name in ("epochs", "points", "median_abs_error", "bias", "coverage_80")
    )
