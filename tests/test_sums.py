"""The sums that the index keeps: each is what a query over all rows says, whatever happened to the store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.index.forget import forget
from crusts_index.index.privacy import scrub
from crusts_index.index.sums import settle_all_sums
from crusts_index.store.open import open_store
from crusts_index.store.prices import learn_prices, resolve_prices
from tests.families import families, growths, roots_below
from tests.picture import index, index_named, new_store, scratch, set_prices, small_stretches
from tests.profiles import examples
from tests.strategies import MODELS, write_step
from tests.summed import SUMS, assert_summed

HAPPENS = ("both", "both", "named", "gone", "rewritten", "forgotten", "priced", "scrubbed", "settled")


def happen(data: st.DataObject, base: Path, db: Path, step: tuple[str, bytes]) -> None:
    """A file grows, and something befalls it or the store."""
    path, how = write_step(base, step), data.draw(st.sampled_from(HAPPENS))
    if how == "named" and path.suffix == ".jsonl":
        index_named(db, path)
        return
    if how == "gone":
        path.unlink()
    elif how == "rewritten":
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    index(db, *(root for root in roots_below(base) if root.exists()))
    with closing(open_store(db, write=True)) as store:
        if how == "forgotten":
            sessions = [row[0] for row in store.execute("select session_id from sessions order by session_id")]
            if sessions:
                forget(store, [data.draw(st.sampled_from(sessions))])
        elif how == "priced":
            learn_prices(store, 0, refresh=data.draw(st.booleans()))
        elif how == "scrubbed":
            scrub(store)
        elif how == "settled":
            store.execute("begin")
            resolve_prices(store)
            settle_all_sums(store)
            store.execute("commit")


@pytest.mark.long
@examples(60)
@given(st.data(), families(), st.sampled_from((1, 700, 1 << 20)))
def test_sums_are_what_they_sum(data: st.DataObject, files: dict[str, bytes], size: int) -> None:
    """Files of two roots come in steps, vanish, are rewritten or forgotten; prices come and text goes."""
    with scratch() as base:
        db = new_store(base)
        set_prices(db, MODELS[:1])
        with small_stretches(size):
            for step in data.draw(growths(files)):
                happen(data, base, db, step)
                assert_summed(db)
        with closing(open_store(db, write=True)) as store:
            kept = {table: store.execute(f"select * from {table}").fetchall() for table in SUMS}
            store.execute("begin")
            settle_all_sums(store)
            assert kept == {table: store.execute(f"select * from {table}").fetchall() for table in SUMS}
