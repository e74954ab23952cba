"""The sums that the index keeps: each is what a query over all rows says, whatever happened to the store."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.index.forget import forget
from crusts_index.index.privacy import scrub
from crusts_index.index.sums import settle_all_sums
from crusts_index.insight.window.trend import trend_of
from crusts_index.rows.trend import TrendContents
from crusts_index.store import query
from crusts_index.store.open import open_store
from crusts_index.store.prices import learn_prices, resolve_prices
from tests import unsummed
from tests.builders import ClaudeFolder
from tests.families import families, growths, roots_below
from tests.picture import ask, index, index_named, new_store, read, scratch, set_prices, small_stretches
from tests.profiles import examples
from tests.strategies import MODELS, write_folder, write_step
from tests.summed import SUMS, assert_summed

ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Auckland", "America/New_York")
"""Quarters of an hour off, and with summer time in either half of the world."""
HAPPENS = ("both", "both", "named", "gone", "rewritten", "cut", "forgotten", "priced", "scrubbed", "settled")


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
    elif how == "cut":
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
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


def same(store: sqlite3.Connection, name: str, **given: object) -> None:
    """A query gives what it gave without sums; amounts but for the last digits, which follow the order of adding."""
    found, wanted = store.execute(query.sql(name), given).fetchall(), unsummed.rows(store, name, **given)
    assert [rounded(row) for row in wanted] == [rounded(row) for row in found], (name, given)


def same_contents(store: sqlite3.Connection, project: str | None) -> None:
    """What windows hold, of the windows that a trend asks for."""
    asked: list[dict[str, object]] = []

    def fetch(kind: Any, name: str | None = None, /, **parameters: object) -> list[Any]:
        if kind is TrendContents:
            asked.append(parameters)
        return query.rows(store, kind, name, **parameters)

    trend_of(fetch, {}, {}, 0, project=project, limit=None)
    for parameters in asked:
        found = store.execute(query.sql("trend_contents"), parameters).fetchall()
        assert sorted(unsummed.rows(store, "trend_contents", **parameters)) == sorted(found)


def rounded(row: tuple[object, ...]) -> list[object]:
    """Its amounts to five digits."""
    return [round(value, 5) if isinstance(value, float) else value for value in row]


def assert_reported(data: st.DataObject, db: Path, zone: str) -> None:
    """Reports of random periods and projects say what they would say without sums."""
    moments = [row[0] for row in ask(db, "select time_ms from stored_calls union select use_ms from stored_tool_uses")]
    known = [moment for moment in moments if moment is not None] or [0]
    near = st.sampled_from((0, 1, -1, 450_000, 900_000, -900_000, 3_600_000, 86_400_000, -86_400_000))
    period = st.one_of(st.none(), st.builds(lambda at, by: at + by, st.sampled_from(known), near))
    edge = st.one_of(period, st.sampled_from(known).map(lambda at: at // 900_000 * 900_000))
    project = data.draw(st.sampled_from((None, None, "site", "API", "work\\api", "nowhere")))
    since, until = data.draw(edge), data.draw(edge)
    with closing(sqlite3.connect(db)) as store, in_zone(zone):
        for name in ("readout", "readout_sessions", "readout_tools", "readout_rereads"):
            same(store, name, since=since, project=project)
        by = data.draw(st.sampled_from("model day week month block project session agent".split()))
        apart = data.draw(st.sampled_from((1, None)))
        same(store, "usage", by=by, since=since, until=until, project=project, apart=apart)
        by = data.draw(st.sampled_from((None, "tool", "server")))
        same(store, "usage_tools", by=by, since=since, until=until, project=project)
        for session, _ in store.execute("select session_id, id from sessions").fetchall():
            same(store, "compare", session=session)
        for name in ("doctor_nonstandard", "doctor_unpriced"):
            same(store, name)
        same(store, "trend_weeks", project=project, limit=None)
        transcripts = json.dumps([row[0] for row in store.execute("select id from transcripts")])
        same(store, "trend_models", transcripts=transcripts)
        same_contents(store, project)
        points: dict[int, list[int]] = {}
        for key, context in unsummed.rows(store, "readout_curve", since=since):
            points.setdefault(key, []).append(context)
        curves: dict[int, list[int]] = {}
        for key, contexts in store.execute(query.sql("readout_curve"), {"since": since}):
            curves.setdefault(key, []).extend(map(int, contexts.split(",")))
        assert points == curves
        for name in unsummed.VIEWS:
            cursor = store.execute(unsummed.text_of(name))
            columns = ", ".join(f'"{column[0]}"' for column in cursor.description)
            wanted, found = cursor.fetchall(), store.execute(f"select {columns} from {name}").fetchall()
            assert sorted(map(rounded, wanted), key=str) == sorted(map(rounded, found), key=str), name


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """SQLite's local time is that of a zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()


@pytest.mark.long
@examples(100)
@given(st.data(), families(), st.sampled_from(ZONES))
def test_reports_say_what_they_say_without_sums(data: st.DataObject, files: dict[str, bytes], zone: str) -> None:
    """Any period, zone and project: whole quarters of an hour from sums, the edges call by call."""
    with scratch() as base:
        db = new_store(base)
        if data.draw(st.booleans()):
            set_prices(db, MODELS[:3])
        write_folder(base, files)
        index(db, *(root for root in roots_below(base) if root.exists()))
        for _ in range(4):
            assert_reported(data, db, zone)


def test_a_tool_use_that_another_transcript_has_too_counts_once_when_its_own_is_written_over(tmp_path: Path) -> None:
    """What stands where it stood, in a transcript whose end is another one, is in no sum twice."""
    folder = ClaudeFolder(tmp_path)
    first = folder.main()
    first.prompt("look")
    first.read("a.py", "text")
    first.bash("ls", "a.py")
    db = read(folder, first)
    assert first.path is not None
    folder.main("5e551001-0000-4000-8000-000000000002").path.write_bytes(first.path.read_bytes())
    index(db, folder.config)
    assert_summed(db)
    first.path.write_bytes(b"".join(first.path.read_bytes().splitlines(keepends=True)[:-1]))
    index(db, folder.config)
    assert_summed(db)


def test_calls_whose_bytes_went_stay_summed_when_their_file_is_written_over_again(tmp_path: Path) -> None:
    """They were billed: each time the file becomes another one, they are in the sums of its threads as before."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("look")
    t.response("there", context=100, output=7)
    db = read(folder, t)
    assert t.path is not None
    for text in ("first", "second", "third"):
        other = folder.main()
        other.prompt(text)
        t.path.write_bytes(b"".join(other.pieces))
        index(db, folder.config)
        assert_summed(db)
        assert [(1, 7, 1)] == ask(db, "select calls, output_tokens, retained from call_sums")


@pytest.mark.long
@examples(60)
@given(st.data(), families(), st.sampled_from((1, 700, 1 << 20)))
def test_sums_are_what_they_sum(data: st.DataObject, files: dict[str, bytes], size: int) -> None:
    """Files of two roots come in steps, vanish, are rewritten or forgotten; prices come and text goes."""
    with scratch() as base:
        db = new_store(base)
        if data.draw(st.booleans()):  # without prices new calls are summed up from the rows in hand
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
