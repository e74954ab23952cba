"""List prices: which model has which, and which price a call gets. Spec: D15."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from genai_prices import Usage, calc_price

from crusts_index.store.open import open_store, transaction
from crusts_index.store.prices import learn_prices, resolve_prices
from crusts_index.store.upgrade import ensure
from crusts_index.transcript.words import word_id
from tests.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterator

THREAD = """
insert into transcripts (id, root, path, folder, kind, stem) values (1, '', '', '', 'main', '');
insert into threads (id, transcript_id, kind) values (1, 1, 'main');
"""
NOW = 1_790_000_000_000
COST = """
select call.id,
  (input_tokens * input_usd + cache_read_tokens * cache_read_usd
    + (cache_write_tokens - cache_write_1h_tokens) * cache_write_5m_usd
    + cache_write_1h_tokens * cache_write_1h_usd + output_tokens * output_usd) / 1e6
    + ifnull(web_searches * web_search_usd, 0) / 1e3
from api_calls as call left join prices as price on price.id = call.price_id
"""


HAS_USAGE = 8


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An empty store with a thread to hang calls on."""
    ensure(tmp_path / "index.db")
    with closing(open_store(tmp_path / "index.db", write=True)) as connection:
        connection.executescript(THREAD)
        yield connection


def at(*day: int) -> int:
    """UTC milliseconds of a moment."""
    return int(datetime(*day, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc, arg-type]


def call(store: sqlite3.Connection, model: str | None, **columns: Any) -> int:
    """A call of one response with this usage; its id."""
    time_ms = columns.pop("time_ms", at(2026, 1, 1))
    for name, word in (("model", model), ("speed", columns.get("speed"))):
        if word is not None:
            store.execute("insert or ignore into words values (?, ?)", (word_id(word), word))
            columns[name] = word_id(word)
    row = {"thread_id": 1, "ordinal": 1, "flags": HAS_USAGE, "last_ms": time_ms, **columns}
    marks = ", ".join(f":{name}" for name in row)
    cursor = store.execute(f"insert into stored_responses ({', '.join(row)}) values ({marks})", row)
    assert cursor.lastrowid is not None
    store.execute("insert into stored_calls (id, time_ms) values (?, ?)", (cursor.lastrowid, time_ms))
    return cursor.lastrowid


def cost(store: sqlite3.Connection, call_id: int) -> float | None:
    """What the call cost in USD; None if it has no price."""
    usd: float | None = dict(store.execute(COST))[call_id]
    return usd


def by_package(model: str, day: datetime, **usage: int) -> Decimal:
    """What the price list's own arithmetic says."""
    fresh, read, write = (usage.get(name, 0) for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens"))
    given = Usage(
        input_tokens=fresh + read + write,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_write_1h_tokens=usage.get("cache_write_1h_tokens", 0),
        output_tokens=usage.get("output_tokens", 0),
    )
    return calc_price(given, model, provider_id="anthropic", genai_request_timestamp=day).total_price


def test_cache_writes_by_their_time_to_live(store: sqlite3.Connection) -> None:
    """A million tokens written for an hour cost 6.00 USD on Sonnet 3.7, for five minutes 3.75."""
    hour = call(store, "claude-3-7-sonnet-20250219", cache_write_tokens=10**6, cache_write_1h_tokens=10**6)
    minutes = call(store, "claude-3-7-sonnet-20250219", cache_write_tokens=10**6)
    assert [] == learn_prices(store, NOW)
    assert 6.0 == cost(store, hour)
    assert 3.75 == cost(store, minutes)


@pytest.mark.parametrize(
    ("model", "day", "usage"),
    [
        ("claude-opus-4-5-20251101", (2025, 12, 1), {"input_tokens": 1000, "output_tokens": 500}),
        ("claude-sonnet-4-5-20250929", (2025, 12, 1), {"input_tokens": 200_000, "output_tokens": 10}),
        ("claude-sonnet-4-5-20250929", (2025, 12, 1), {"input_tokens": 200_001, "output_tokens": 10}),
        ("claude-sonnet-4-5-20250929", (2025, 12, 1), {"input_tokens": 1, "cache_read_tokens": 200_000}),
        ("claude-sonnet-4-6", (2026, 3, 12, 23, 59, 59), {"input_tokens": 300_000, "output_tokens": 10}),
        ("claude-sonnet-4-6", (2026, 3, 13), {"input_tokens": 300_000, "output_tokens": 10}),
        (
            "claude-haiku-4-5",
            (2026, 5, 1),
            {
                "input_tokens": 3,
                "cache_write_tokens": 9000,
                "cache_write_1h_tokens": 4000,
                "cache_read_tokens": 70,
            },
        ),
    ],
)
def test_costs_agree_with_the_price_list(
    store: sqlite3.Connection, model: str, day: tuple[int, ...], usage: dict[str, int]
) -> None:
    """Tiers go by all input tokens and take the whole call, periods by UTC day: as the list sums."""
    number = call(store, model, time_ms=at(*day), **usage)
    learn_prices(store, NOW)
    expected = by_package(model, datetime(*day, tzinfo=UTC), **usage)  # type: ignore[misc, arg-type]
    assert float(expected) == pytest.approx(cost(store, number), rel=1e-12)


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("claude-sonnet-4-6[1m]", "anthropic/claude-sonnet-4-6"),
        ("Claude-Opus-4-5-20251101", "anthropic/claude-opus-4-5"),
        ("claude-opus-4-1@20250805", "anthropic/claude-opus-4-1"),
        ("anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        (
            "arn:aws:bedrock:eu-west-1:1:inference-profile/global.anthropic.claude-opus-4-5-20251101-v1:0",
            "aws/global.anthropic.claude-opus-4-5-v1:0",
        ),
    ],
)
def test_names_of_a_model(store: sqlite3.Connection, model: str, listed: str) -> None:
    """Bedrock, Vertex and long-context names are found; the row says which entry of the list it is."""
    call(store, model)
    assert [] == learn_prices(store, NOW)
    sources = [row[0].split("; ")[0].split(" ")[2] for row in store.execute("select source from prices")]
    assert {listed} == set(sources)
    assert [(1,)] == store.execute("select priced from models").fetchall()


@pytest.mark.parametrize("model", ["haiku", "sonnet", "opus", "claude-mystery-9", "claude", "deepseek-r1:8b", ""])
def test_unknown_models_have_no_price(store: sqlite3.Connection, model: str) -> None:
    """A name the list does not have is named and its calls have no price, which is not 0."""
    number = call(store, model, input_tokens=5)
    assert [model] == learn_prices(store, NOW)
    assert cost(store, number) is None
    assert [(model, 0, NOW)] == store.execute("select model, priced, asked_ms from models").fetchall()


def test_what_is_no_model_is_not_asked_about(store: sqlite3.Connection) -> None:
    """`<synthetic>` and a call without a model are no models. Spec: D1."""
    call(store, "<synthetic>")
    call(store, None)
    assert [] == learn_prices(store, NOW)
    assert [] == store.execute("select * from models").fetchall()


def test_missing_prices_are_derived_and_say_so(store: sqlite3.Connection) -> None:
    """Without a listed price: an hour's write is 2 x input, five minutes' 1.25 x, a read 0.1 x."""
    call(store, "claude-2.1")
    call(store, "claude-opus-4-5")
    learn_prices(store, NOW)
    rows = {
        row[0]: row[1:]
        for row in store.execute(
            "select model, input_usd, cache_read_usd, cache_write_5m_usd, cache_write_1h_usd, source from prices"
        )
    }
    assert (8.0, 0.8, 10.0, 16.0) == rows["claude-2.1"][:4]
    for said in ("cache read 0.1 x input", "5m cache write 1.25 x input", "1h cache write 2 x input"):
        assert said in rows["claude-2.1"][4]
    assert "derived" not in rows["claude-opus-4-5"][4]


def test_fast_mode_has_its_own_price_where_listed(store: sqlite3.Connection) -> None:
    """A fast call has the fast price if the list has one, else that of its model."""
    fast = call(store, "claude-opus-5-5", speed="fast", input_tokens=10**6)
    standard = call(store, "claude-opus-5-5", speed="standard", input_tokens=10**6)
    unlisted = call(store, "claude-haiku-4-5", speed="fast", input_tokens=10**6)
    learn_prices(store, NOW)
    assert (8.0, 4.0, 1.0) == (cost(store, fast), cost(store, standard), cost(store, unlisted))


def test_a_tier_has_its_own_price_where_listed(store: sqlite3.Connection) -> None:
    """Whatever else the call's usage says; a word that the list has no price for changes nothing."""
    standard, *others = (
        call(store, "claude-haiku-4-5", speed=speed, input_tokens=10**6, time_ms=at(2026, 11, 1))
        for speed in (None, "batch", "us batch", "us", "priority", "batches")
    )
    learn_prices(store, NOW)
    assert 1.0 == cost(store, standard)
    assert [0.5, 0.5, 1.0, 1.0, 1.0] == [cost(store, one) for one in others]


def test_a_call_without_a_time_has_the_latest_price(store: sqlite3.Connection) -> None:
    """Its day is not known, so the period is that of today."""
    number = call(store, "claude-sonnet-4-6", time_ms=None, input_tokens=10**6)
    learn_prices(store, NOW)
    assert 3.0 == cost(store, number)


def test_asked_once(tmp_path: Path) -> None:
    """The price list is imported for a model not asked about before, and never again for it, known or not."""
    program = Program(tmp_path / "program")
    ensure(tmp_path / "index.db")
    with closing(open_store(tmp_path / "index.db", write=True)) as store:
        store.executescript(THREAD)
        call(store, "claude-opus-4-5")
        call(store, "claude-mystery-9")
    code = """
from crusts_index.store.prices import learn_prices
store = open_store(path, write=True)
print(learn_prices(store, 1), 'genai_prices' in sys.modules)
"""
    assert "['claude-mystery-9'] True" == program.run(code, tmp_path / "index.db")
    with closing(open_store(tmp_path / "index.db", write=True)) as store:
        call(store, "claude-mystery-9")
    assert "['claude-mystery-9'] False" == program.run(code, tmp_path / "index.db")


def test_unknown_models_are_asked_about_again_by_a_newer_list(store: sqlite3.Connection) -> None:
    """What an older list did not know may be in this one."""
    number = call(store, "claude-opus-4-5", input_tokens=10**6)
    store.execute("insert into models values ('claude-opus-4-5', 0, 'genai-prices 0.0.1', 1)")
    assert [] == learn_prices(store, NOW)
    assert 5.0 == cost(store, number)


def test_a_refresh_asks_about_all(store: sqlite3.Connection) -> None:
    """Prices that changed take hold for every call; a model the list dropped keeps what it had."""
    number = call(store, "claude-opus-4-5", input_tokens=10**6)
    dropped = call(store, "claude-dropped-1", input_tokens=10**6)
    learn_prices(store, NOW)
    store.execute("update prices set input_usd = 99")
    store.execute(
        "insert into prices (id, model, input_usd, cache_read_usd, cache_write_5m_usd, cache_write_1h_usd,"
        " output_usd, source) values (900, 'claude-dropped-1', 7, 0, 0, 0, 0, 'old')"
    )
    store.execute("update models set priced = 1, source = 'old'")
    resolve_prices(store)
    assert (99.0, 7.0) == (cost(store, number), cost(store, dropped))
    assert [] == learn_prices(store, NOW, refresh=False)
    assert [] == learn_prices(store, NOW + 1, refresh=True)
    assert (5.0, 7.0) == (cost(store, number), cost(store, dropped))
    assert [(1, NOW + 1)] * 2 == store.execute("select priced, asked_ms from models").fetchall()
    assert [] == store.execute("pragma foreign_key_check(api_calls)").fetchall()


def test_calls_are_priced_from_the_store(store: sqlite3.Connection) -> None:
    """A call written later gets the price already known; calls that are not named are left."""
    call(store, "claude-opus-4-5")
    learn_prices(store, NOW)
    with transaction(store):
        first = call(store, "claude-opus-4-5", input_tokens=10**6)
        second = call(store, "claude-opus-4-5", input_tokens=10**6)
        resolve_prices(store, [first])
    assert (5.0, None) == (cost(store, first), cost(store, second))
    resolve_prices(store)
    assert 5.0 == cost(store, second)


def test_prices_can_be_learned_inside_a_transaction(store: sqlite3.Connection) -> None:
    """Within one of the caller's, what is learned stands or falls with it."""
    number = call(store, "claude-opus-4-5", input_tokens=10**6)
    with pytest.raises(KeyboardInterrupt), transaction(store):  # noqa: PT012 - what stands before is the point
        learn_prices(store, NOW)
        assert 5.0 == cost(store, number)
        raise KeyboardInterrupt
    assert cost(store, number) is None
