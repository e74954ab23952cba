"""The law of the index over families of transcripts (D4): nothing in the store, the views or the reports follows the
order in which copies, parts, forks and snapshots of sessions were read."""

from __future__ import annotations

import io
import os
import random
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.__main__ import main
from crusts_index.index.run import Options, index_roots
from crusts_index.store.open import open_store
from tests.families import ROOTS, families, growths, roots_below
from tests.picture import (
    Picture,
    ask,
    assert_same,
    index,
    index_named,
    new_store,
    picture,
    scratch,
    set_prices,
    small_stretches,
)
from tests.profiles import examples
from tests.program import CORPUS
from tests.strategies import MODELS, write_folder, write_step


def store_of(base: Path, name: str) -> Path:
    """An empty store beside the roots, with prices."""
    (base / ROOTS[0] / "projects").mkdir(parents=True, exist_ok=True)
    (base / ROOTS[1] / "projects").mkdir(parents=True, exist_ok=True)
    db = new_store(base, name)
    set_prices(db, MODELS)
    return db


def told(db: Path, base: Path) -> Picture:
    """All that the store says, costs included."""
    return picture(db, base, prices=True)


OVERALL = (
    "list",
    "readout",
    "trend",
    "trend --by week",
    "lost --all",
    "waste --all",
    "accuracy",
    "search the",
    *(f"usage --by {by}" for by in "model day project session tool server agent category file".split()),
)
OF_A_SESSION = tuple("analyze timeline models waste lost fix status".split())


def said(db: Path, base: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the commands print about all sessions, each session and pairs of them, by command line."""
    monkeypatch.setenv("CRUSTS_HOME", str(db.parent))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", ",".join(str(root) for root in roots_below(base)))
    sessions = [session for (session,) in ask(db, "select session_id from sessions order by session_id")]
    lines = [*OVERALL, *(f"{command} {session}" for command in OF_A_SESSION for session in sessions)]
    lines += [f"compare {one} {other}" for one, other in pairwise(sessions)]
    return {
        line: _printed([*line.split(), "--json", "--no-index", "--db", str(db)]).replace(str(db.parent), "~")
        for line in lines
    }


def _printed(argv: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(argv)
    return f"{code}\n{out.getvalue()}{err.getvalue()}"


def shuffle_times(base: Path, order: int) -> None:
    """Other modification times, so that files are read in another order."""
    files = sorted(base.rglob("*.jsonl"))
    for place, file in enumerate(files):
        time = 1_790_000_000 + (place * 7 + order) % max(1, len(files)) * 60
        os.utime(file, (time, time))


def assert_as_clean(db: Path, base: Path, order: int) -> None:
    """The store says what a new one says after one run over the roots as they are, read in another order."""
    shuffle_times(base, order)
    clean = store_of(base, "clean.db")
    index(clean, *roots_below(base))
    assert_same(told(db, base), told(clean, base))


def cut_short(db: Path, *roots: Path) -> None:
    """A run that ends as if killed: what it had not committed is lost."""
    options = Options(jobs=1, progress=_stop)
    with closing(open_store(db, write=True)) as store, suppress(KeyboardInterrupt):
        index_roots(store, str(db), [str(root / "projects") for root in roots], options)


def _stop(*_: int) -> None:
    raise KeyboardInterrupt


def grow(data: st.DataObject, base: Path, db: Path, files: dict[str, bytes]) -> None:
    """Let the files come in steps; runs take in both roots, one of them, or one transcript by its name."""
    here, there = roots_below(base)
    for step in data.draw(growths(files)):
        path = write_step(base, step)
        how = data.draw(st.sampled_from(("both", "both", "here", "there", "named", "cut", "later")))
        if how == "named" and path.suffix == ".jsonl":
            index_named(db, path)
        elif how == "cut":
            cut_short(db, here, there)
        elif how != "later":
            index(db, *{"here": (here,), "there": (there,)}.get(how, (here, there)))
    index(db, here, there)


@pytest.mark.long
@examples(15)
@given(st.data(), families(), st.integers(0, 11))
def test_any_order_and_any_split_give_the_same(data: st.DataObject, files: dict[str, bytes], order: int) -> None:
    """Files of both roots grow in any order, cut anywhere."""
    with scratch() as base:
        db = store_of(base, "index.db")
        grow(data, base, db, files)
        again = index(db, *roots_below(base))
        assert (0, 0) == (again.changed, again.bytes_read)
        assert_as_clean(db, base, order)


@pytest.mark.long
@examples(80)
@given(st.data(), families(), st.integers(0, 11), st.integers(1, 2_000))
def test_small_stretches_and_more_runs(data: st.DataObject, files: dict[str, bytes], order: int, size: int) -> None:
    """The same, many more times, and in small stretches and transactions."""
    with scratch() as base:
        db = store_of(base, "index.db")
        with small_stretches(size):
            grow(data, base, db, files)
        assert_as_clean(db, base, order)


@pytest.mark.long
@examples(40)
@given(families(), st.integers(0, 11), st.integers(0, 11))
def test_any_order_gives_the_same(files: dict[str, bytes], first: int, second: int) -> None:
    """Whole files, read in two orders."""
    with scratch() as base:
        db = store_of(base, "index.db")
        write_folder(base, files)
        shuffle_times(base, first)
        index(db, *roots_below(base))
        assert_as_clean(db, base, second)


@pytest.mark.long
@examples(10)
@given(families())
def test_reports_do_not_follow_the_order(files: dict[str, bytes]) -> None:
    """What the commands print is the same after one run as after one run a file, from the last name to the first."""
    with scratch() as base, pytest.MonkeyPatch.context() as patch:
        write_folder(base, files)
        at_once, one_by_one = store_of(base, "a/index.db"), store_of(base, "b/index.db")
        index(at_once, *roots_below(base))
        for path in sorted(base.rglob("*.jsonl"), reverse=True):
            index_named(one_by_one, path)
        index(one_by_one, *roots_below(base))
        assert said(at_once, base, patch) == said(one_by_one, base, patch)


REAL = (CORPUS / "projects", CORPUS.parent / "client" / "projects")


@pytest.mark.long
@pytest.mark.parametrize("place", [pytest.param(place, id=place.parent.name) for place in REAL])
@pytest.mark.parametrize("seed", [1, 2])
def test_real_transcripts_in_pieces(tmp_path: Path, place: Path, seed: int) -> None:
    """A sample of real transcripts, those of one session together: random pieces against one run in another order."""
    if not place.is_dir():
        pytest.skip("no real transcripts here")
    chance = random.Random(seed)
    paths = [path for path in sorted(place.rglob("*.jsonl")) if path.stat().st_size < 300_000]
    names = chance.sample(sorted({path.name for path in paths}), min(40, len({path.name for path in paths})))
    chosen = [path for path in paths if path.name in names]
    files = {f"{ROOTS[0]}/projects/{path.relative_to(place)}": path.read_bytes() for path in chosen}
    db = store_of(tmp_path, "index.db")
    left = dict.fromkeys(files, 0)
    while left:
        for name in chance.sample(sorted(left), max(1, len(left) // 2)):
            data, start = files[name], left[name]
            end = min(len(data), start + chance.randrange(1, len(data) // 2 + 2))
            write_step(tmp_path, (name, data[start:end]))
            left[name] = end
            if end == len(data):
                del left[name]
        index(db, *roots_below(tmp_path))
    assert_as_clean(db, tmp_path, seed)
