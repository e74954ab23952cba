"""Weights as rows of the store, factors that are fitted to the user's own calls, and estimates that follow (D9)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given

from crusts_index.index.estimates import estimate_all, load_weights
from crusts_index.index.find import find_one
from crusts_index.index.fit import Pair, fit_weights, fitted_factor
from crusts_index.index.ingest import name_new
from crusts_index.index.plan import Job
from crusts_index.index.read import Manner, read
from crusts_index.index.run import Options, index_roots
from crusts_index.index.sums import settle_sums
from crusts_index.index.write import Writer
from crusts_index.store.open import open_store, transaction
from crusts_index.transcript.weights import SHIPPED
from tests.builders import START, ClaudeFolder, Transcript, usage, weighs
from tests.families import families
from tests.picture import ask, assert_same, index, new_store, one, picture, scratch
from tests.profiles import examples
from tests.strategies import folders, write_folder

OLD, NEW = "claude-opus-4-5-20251101", "claude-opus-4-8"
FACTORS = "select model, value, shipped, pairs from weights where name = 'factor' order by model"
WORDS = "word " * 200
SAID, ANSWER = "so it is, " * 9, 60
"""An answer, and its tokens as billed: more than any factor makes of it."""


@pytest.fixture
def folder() -> Iterator[ClaudeFolder]:
    """A home with a config folder."""
    with scratch() as home:
        yield ClaudeFolder(home)


def grown(
    folder: ClaudeFolder, pairs: int, growth: float, *, model: str = OLD, session: int = 1, day: int = 0
) -> Transcript:
    """A session of that day whose prompts weigh `growth` times what is estimated by the older tokenizer."""
    start = START + timedelta(days=day)
    t = folder.main(f"5e551001-0000-4000-8000-0000000000{session:02d}", model=model, start=start)
    context = 20_000
    for _ in range(pairs + 1):
        t.prompt(WORDS)
        t.response(SAID, context=context, output=ANSWER)
        context += ANSWER + round(growth * 0.207 * 800)
    os.utime(t.write(), (start.timestamp(), start.timestamp()))
    return t


def configure(folder: ClaudeFolder, **said: object) -> None:
    """What config.json says."""
    home = folder.home / ".claude-crusts"
    home.mkdir(exist_ok=True, mode=0o700)
    (home / "config.json").write_text(json.dumps(said))


def db_of(folder: ClaudeFolder) -> Path:
    """The store that commands use."""
    return folder.home / ".claude-crusts" / "index.db"


def prompts(folder: ClaudeFolder) -> set[int]:
    """What the prompts are estimated at."""
    sql = "select distinct estimate from blocks b join records r on r.id = b.record_id where r.is_prompt"
    return {row[0] for row in ask(db_of(folder), sql)}


def re_estimated(db: Path) -> None:
    """Make all estimates again, by the weights that hold."""
    with closing(open_store(db, write=True)) as store, transaction(store):
        estimate_all(store)
        settle_sums(store)


def read_in(db: Path, folder: ClaudeFolder, jobs: int) -> None:
    """What a plain index reads, without what it does behind it."""
    with closing(open_store(db, write=True)) as store:
        index_roots(store, str(db), [str(folder.config / "projects")], Options(jobs=jobs, fits=True))


def fit(db: Path) -> None:
    """What a plain index does behind it about the weights."""
    with closing(open_store(db, write=True)) as store:
        fit_weights(store, is_fitting=True)


def test_a_factor_follows_the_user_s_own_calls(folder: ClaudeFolder) -> None:
    """From 100 pairs on, drawn to the shipped one by n / (n + 50); what is estimated follows without any text."""
    grown(folder, 100, 1.25)
    folder.crusts("index")
    held = 1 + 0.25 * 100 / 150
    ((model, value, shipped, pairs),) = ask(db_of(folder), FACTORS)
    assert (OLD, 1.0, 100) == (model, shipped, pairs)
    assert held == pytest.approx(value, abs=0.005)
    assert {weighs(WORDS, factor=value)} == prompts(folder)


def test_fewer_pairs_tell_nothing(folder: ClaudeFolder) -> None:
    """99 pairs leave what is shipped."""
    grown(folder, 99, 1.25)
    folder.crusts("index")
    assert [] == ask(db_of(folder), FACTORS)
    assert {weighs(WORDS, factor=1)} == prompts(folder)
    assert {(name, value, value, 0) for name, value in SHIPPED.items()} == set(
        ask(db_of(folder), "select name, value, shipped, pairs from weights")
    )


def test_each_model_has_its_own(folder: ClaudeFolder) -> None:
    """One may move while another stays: 1.38 is where the newer tokenizer starts from."""
    grown(folder, 150, 1.6, model=NEW, session=1)
    grown(folder, 150, 1.0, model=OLD, session=2)
    folder.crusts("index")
    ((model, value, shipped, pairs),) = ask(db_of(folder), FACTORS)
    assert (NEW, 1.38, 150) == (model, shipped, pairs)
    assert 1.38 + 0.22 * 150 / 200 == pytest.approx(value, abs=0.005)
    assert {weighs(WORDS, factor=value), weighs(WORDS, factor=1)} == prompts(folder)


def test_a_move_of_less_than_a_hundredth_is_none(folder: ClaudeFolder) -> None:
    """Estimates stay where a factor would move by less."""
    grown(folder, 150, 1.005)
    folder.crusts("index")
    assert [] == ask(db_of(folder), FACTORS)


def test_only_a_plain_index_fits(folder: ClaudeFolder) -> None:
    """Hooks and reports leave the weights as they are; what they read is estimated by those that hold."""
    t = grown(folder, 120, 1.25)
    folder.crusts("list")
    payload = {"session_id": t.session, "transcript_path": str(t.path), "hook_event_name": "Stop"}
    folder.crusts("index", "--hook", stdin=json.dumps(payload))
    assert [] == ask(db_of(folder), FACTORS)
    folder.crusts("index")
    value = one(db_of(folder), "select value from weights where name = 'factor'")
    grown(folder, 5, 1.0, session=2)
    folder.crusts("list")
    assert {weighs(WORDS, factor=value)} == prompts(folder)


def test_the_user_may_keep_what_is_shipped(folder: ClaudeFolder) -> None:
    """`fitWeights: false`: from the start, and also after a fit."""
    configure(folder, fitWeights=False)
    grown(folder, 120, 1.25)
    folder.crusts("index")
    assert [] == ask(db_of(folder), FACTORS)
    configure(folder)
    grown(folder, 1, 1.0, session=2)
    folder.crusts("index")
    assert {weighs(WORDS, factor=1)} != prompts(folder)
    configure(folder, fitWeights=False)
    grown(folder, 1, 1.0, session=3)
    folder.crusts("index")
    assert ([], {weighs(WORDS, factor=1)}) == (ask(db_of(folder), FACTORS), prompts(folder))


def test_placeholders_and_shares_follow(folder: ClaudeFolder) -> None:
    """An output that was near enough to its estimate may be none by the new one, and sums of calls say so."""
    t = grown(folder, 200, 1.5)
    size = weighs("a" * 469, around=3, factor=1)
    t.response("a" * 469, usage=usage(1, output=round(0.75 * size)))
    t.append()
    db = new_store(folder.home)
    index(db, folder.config)
    assert 0 == one(db, "select sum(placeholders) from call_sums")
    folder.crusts("index", "--db", str(db))
    assert (1, 1) == one(db, "select max(is_placeholder), sum(is_placeholder) from api_calls")
    assert 1 == one(db, "select sum(placeholders) from call_sums")


def test_weights_that_are_shipped_otherwise(folder: ClaudeFolder) -> None:
    """A newer version's hold from its first plain index on, and estimates with them; one that the user set stays."""
    grown(folder, 2, 1.0)
    folder.crusts("index")
    with closing(open_store(db_of(folder), write=True)) as store:
        store.execute("update weights set value = 0.1, shipped = 0.1 where name = 'soft'")
        store.execute("update weights set value = 9 where name = 'prompt'")
    re_estimated(db_of(folder))
    assert {round(0.1 * 800 + 9)} == prompts(folder)
    grown(folder, 1, 1.0, session=2)
    folder.crusts("index")
    assert {round(0.207 * 800 + 9)} == prompts(folder)


def test_a_fitted_store_verifies_and_is_rebuilt(folder: ClaudeFolder) -> None:
    """Its estimates are no difference to what is on disk, and a rebuilt store has the same weights."""
    grown(folder, 120, 1.25)
    folder.crusts("index")
    before = (ask(db_of(folder), FACTORS), prompts(folder))
    assert 0 == folder.crusts("verify").code
    folder.crusts("index", "--rebuild")
    assert before == (ask(db_of(folder), FACTORS), prompts(folder))


@pytest.mark.parametrize("jobs", [0, 2])
def test_much_that_is_new_is_fitted_to_on_the_way(
    folder: ClaudeFolder, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """The latest transcripts tell the factors, before the rest is read: it has the estimates that a fit behind all of
    it makes, and that one moves nothing. Where little is new there is no fit on the way."""
    for session in (1, 2):
        grown(folder, 30, 2.0, session=session, day=session)
    late = grown(folder, 510, 1.25, session=3, day=3)
    behind, between = new_store(folder.home, "behind.db"), new_store(folder.home, "between.db")
    read_in(behind, folder, jobs)
    assert [] == ask(behind, FACTORS)
    fit(behind)
    monkeypatch.setattr("crusts_index.index.ingest.WORTH_FITTING_BYTES", 1)
    monkeypatch.setattr("crusts_index.index.ingest.FITTED_BYTES", late.path.stat().st_size)
    read_in(between, folder, jobs)
    fitted = picture(between)
    assert [OLD] == [model for model, *_ in ask(between, FACTORS)]
    assert ask(behind, FACTORS) == ask(between, FACTORS)
    assert_same(picture(behind), fitted)
    fit(between)
    assert ask(behind, FACTORS) == ask(between, FACTORS)
    assert_same(fitted, picture(between))


def test_the_middle_of_the_tokens() -> None:
    """Half of the tokens lie below it; the number of pairs draws it from the shipped one."""
    pairs = [Pair(15, 10.0, 5.0), Pair(2_000, 1_000.0, 0.0), Pair(90, 10.0, 0.0)] * 50
    assert 1 + 1 * 150 / 200 == fitted_factor(1.0, pairs)
    assert 1.5 == fitted_factor(1.5, [])


def test_a_run_that_began_before_a_fit(folder: ClaudeFolder) -> None:
    """What it read by the weights of before is estimated by those that hold when it is written."""
    t = grown(folder, 3, 1.0)
    db = new_store(folder.home)
    (seen,) = find_one(str(t.path))
    with closing(open_store(db, write=True)) as store:
        (task,) = name_new(store, [Job(seen, None)], keep_text=True)
        stretches = list(read(*task, lambda: store))
        store.execute("insert into weights (name, model, value, shipped) values ('factor', ?, 2.0, 1)", (OLD,))
        writer = Writer(store, Manner())
        for stretch in stretches:
            assert writer.write(stretch)
        writer.commit()
    assert [(weighs(WORDS, factor=2),)] == ask(db, "select distinct estimate from blocks where chars = 1000")
    before = picture(db)
    re_estimated(db)
    assert_same(before, picture(db))


@examples(25)
@given(folders())
def test_estimates_made_again_are_the_same(files: dict[str, bytes]) -> None:
    """What the reader estimates is what follows from the stored integers, for any folder."""
    with scratch() as home:
        write_folder(home / "claude", files)
        _assert_settled(new_store(home), home / "claude")


@examples(25)
@given(families())
def test_estimates_of_families_made_again_are_the_same(made: dict[str, bytes]) -> None:
    """Also where sessions are copies, parts and forks of each other."""
    with scratch() as home:
        write_folder(home, made)
        _assert_settled(new_store(home), *sorted(path for path in home.iterdir() if path.is_dir()))


def _assert_settled(db: Path, *roots: Path) -> None:
    index(db, *roots)
    with closing(open_store(db, write=True)) as store:  # other ones than the reader had
        store.execute("insert into weights (name, model, value, shipped) values ('factor', ?, 1.7, 1)", (OLD,))
        assert 1.7 == load_weights(store).factor(OLD)
        store.execute("delete from weights")
    before = picture(db)
    re_estimated(db)
    assert_same(before, picture(db))
