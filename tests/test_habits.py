"""What the user's own history says of windows, ready-made in the store, and the forecast by it (D10)."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from crusts_index.index.habits import learn_habits, settle_habits
from crusts_index.insight.window.habits import Habits, SeenLimit, habits_of
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.analysed import Analysed
from tests.builders import SESSION, START, ClaudeFolder, Transcript
from tests.picture import ask, index, new_store

OPUS, SONNET = "claude-opus-4-6", "claude-sonnet-5"
START_MS = int(START.timestamp() * 1_000)


def session(number: int) -> str:
    """An id."""
    return f"5e551001-0000-4000-8000-{number:012d}"


def compacted(t: Transcript, step: int = 1_000, pre: int = 167_500, first: int = 150_000) -> Transcript:
    """Calls from `first` on that grow by `step`, up to an automatic compaction."""
    t.prompt("go on")
    for context in range(first, pre, step):
        t.response("done", context=context, output=20)
    t.boundary("auto", pre, 3_000)
    t.summary()
    t.response("on we go", context=25_000)
    return t


def learned(db: Path) -> Habits:
    """What the store says after it has learned."""
    with closing(open_store(db, write=True)) as store:
        learn_habits(store)
        return habits_of(partial(query.rows, store))


def store_of(folder: ClaudeFolder, *transcripts: Transcript) -> Path:
    """A store of transcripts."""
    for t in transcripts:
        t.write()
    db = new_store(folder.home)
    index(db, folder.config)
    return db


def test_nothing_is_learned_from_nothing(folder: ClaudeFolder) -> None:
    """Without an automatic compaction or a large call what is usual holds."""
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=20_000)
    assert Habits() == learned(store_of(folder, t))


def test_limits_are_seen_by_the_model_asked_for(folder: ClaudeFolder) -> None:
    """A call above 200,000, a compaction at or below; the newest says as of a session's time; [1m] is a model apart."""
    small = compacted(folder.main(session(1), model=SONNET))
    large = folder.main(session(2), model=SONNET, start=START.replace(year=2027))
    large.prompt("go")
    large.response("done", context=260_000)
    variant = folder.main(session(3), model=OPUS)
    variant.prompt("go")
    variant.response("done", context=300_000, requestedModel=f"{OPUS}[1m]")
    later = folder.main(session(4), model=SONNET, start=START.replace(year=2028))
    later.prompt("go")
    later.response("done", context=20_000)
    db = store_of(folder, small, large, variant, later)
    habits = learned(db)
    assert {SONNET, f"{OPUS}[1m]"} == habits.limits.keys()
    first, second = habits.limits[SONNET]
    assert (200_000, 167_500, 1_000_000, 260_000) == (first.tokens, first.context, second.tokens, second.context)
    window = Analysed(db, session(4), habits=habits).window
    assert (1_000_000, "seen") == (window.limit, window.limit_kind)
    assert first == habits.limit(SONNET, first.since_ms)
    assert first == habits.limit(SONNET, 5)
    assert habits.limit(OPUS, None) is None


def test_a_window_that_is_set_shows_no_limit(folder: ClaudeFolder) -> None:
    """Where autoCompactWindow is set a compaction tells neither limit nor buffer nor growth."""
    folder.config.mkdir(parents=True, exist_ok=True)
    settings = folder.config / "settings.json"
    settings.write_text('{"autoCompactWindow": 200000}')
    os.utime(settings, (0, 0))
    for number in (1, 2):
        compacted(folder.main(session(number), model=SONNET)).write()
    assert 0 == folder.crusts("index").code
    assert [] == ask(folder.home / ".claude-crusts" / "index.db", "select * from habits")


def test_buffers_are_medians_of_the_last_compactions(folder: ClaudeFolder) -> None:
    """Of a limit and version line, from two on, those between 20,000 and 60,000 only."""
    made = [
        compacted(folder.main(session(number), model=OPUS, version=version), pre=pre)
        for number, (version, pre) in enumerate(
            [("2.1.19", 155_000), ("2.1.220", 166_000), ("2.1.221", 168_000), ("2.1.222", 199_000)]
        )
    ]
    assert {"200000 2.1": 33_000} == learned(store_of(folder, *made)).buffers


def test_priors_are_by_project_from_five_epochs_on(folder: ClaudeFolder) -> None:
    """The median over the calls of past epochs, drawn to what is usual as if that were five epochs."""
    made = [compacted(folder.main(session(number), model=OPUS), step=2_000) for number in range(4)]
    other = [compacted(folder.main(session(9), "/home/ada/shop", model=OPUS), step=500)]
    db = store_of(folder, *made, *other)
    assert {""} == learned(db).priors.keys()
    assert 5 == ask(db, "select support from habits where kind = 'prior'")[0][0]
    db = store_of(folder, compacted(folder.main(session(5), model=OPUS), step=2_000))
    priors = learned(db).priors
    assert {"", "/home/ada/site"} == priors.keys()
    assert priors[""] < priors["/home/ada/site"] < 2_000


def test_ranges_are_learned_from_ten_epochs_on(folder: ClaudeFolder) -> None:
    """Windows that all grow alike narrow the range, as far as their number outweighs what is usual."""
    made = [compacted(folder.main(session(number), model=OPUS), step=900, first=120_000) for number in range(12)]
    habits = learned(store_of(folder, *made))
    usual = Habits().ranges
    assert len(usual) == len(habits.ranges)
    assert usual[4] == habits.ranges[4]  # nothing was that far away
    low, high = habits.ranges[2]
    assert usual[2][0] < low < 1 < high < usual[2][1]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
def test_the_order_of_runs_does_not_matter(folder: ClaudeFolder, tmp_path: Path, order: tuple[int, ...]) -> None:
    """However many runs read it, and whatever grew meanwhile: what one clean run would have learned."""
    made = {number: compacted(folder.main(session(number), model=OPUS), step=500 * number) for number in order}
    db = new_store(tmp_path)
    for t in made.values():
        t.write()
        index(db, folder.config)
        learned(db)
    for t in made.values():
        compacted(t, step=700)
        t.append()
    index(db, folder.config)
    clean = new_store(tmp_path / "clean")
    index(clean, folder.config)
    assert learned(clean) == learned(db)


def test_a_run_keeps_what_is_learned_and_forgetting_takes_it_back(folder: ClaudeFolder) -> None:
    """`crusts index` learns, `forget` unlearns, a rebuild learns again."""
    for number in (1, 2):
        compacted(folder.main(session(number), model=SONNET)).write()
    assert 0 == folder.crusts("index").code
    db = folder.home / ".claude-crusts" / "index.db"
    kept = ask(db, "select * from habits")
    assert {"limit", "buffer", "prior"} == {row[0] for row in kept}
    told = folder.crusts("analyze", session(1), "--json").json()["window"]
    assert (200_000, "seen") == (told["limit"], told["limit_kind"])
    assert 0 == folder.crusts("index", "--rebuild").code
    assert kept == ask(db, "select * from habits")
    for number in (1, 2):
        assert 0 == folder.crusts("forget", session(number), "--yes").code
    assert [] == ask(db, "select * from habits")


def test_nothing_new_costs_next_to_nothing(folder: ClaudeFolder) -> None:
    """What was learned is made again only where there is something new to learn from."""
    db = store_of(folder, compacted(folder.main(session(1), model=SONNET)))
    learned(db)
    with closing(open_store(db, write=True)) as store:
        store.execute("delete from habits")
        settle_habits(store)
        assert 0 == store.execute("select count(*) from habits").fetchone()[0]


def test_a_session_s_own_time_decides(folder: ClaudeFolder) -> None:
    """Before anything was seen, what was seen first holds."""
    seen = (SeenLimit(START_MS, 200_000, 167_000), SeenLimit(START_MS + 9, 1_000_000, 250_000))
    habits = Habits({OPUS: seen})
    assert [200_000, 200_000, 1_000_000, 1_000_000] == [
        found.tokens for at in (0, START_MS, START_MS + 9, None) if (found := habits.limit(OPUS, at))
    ]
    assert SESSION
