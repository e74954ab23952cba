"""Fits the factor of each model's tokenizer from the user's own pairs of calls, whose growth is exact (D9)."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

from crusts_index.index.estimates import estimate_all, estimate_threads, load_weights
from crusts_index.index.sums import settle_sums
from crusts_index.store import query
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import explained, transaction
from crusts_index.transcript.weights import FACTOR, SHIPPED, Weights, factor_of
from crusts_index.transcript.words import word_id
from crusts_index.tuples import NamedTuple

LEAST_PAIRS = 100
"""Pairs of a model from which on they tell more than what is shipped."""
PRIOR_PAIRS = 50
"""How many pairs what is shipped weighs as much as."""
MOST_PAIRS = 500
"""Of a model's pairs the latest, so that the work is bounded."""
LEAST_MOVE = 0.01
"""Below this a factor stays, and with it all estimates."""
MORE_CALLS = 1.1
"""How many times the calls of the last fit there must be before the next one."""

_FITTED = "fitted"


class Pair(NamedTuple):
    """Two calls that follow each other: the growth of the context, exact, and what stands between them, by the weights:
    tokens that the model's factor multiplies, and tokens that it does not."""

    growth: int
    text: float
    fixed: float


def fit_weights(store: sqlite3.Connection, *, is_fitting: bool) -> None:
    """Lay the weights that are shipped, fit the factors if there is enough new to fit them to, and make the estimates
    of what moved again. Not `is_fitting`: what is shipped holds."""
    with explained(store), transaction(store):
        before = load_weights(store)
        _lay(store)
        if is_fitting:
            _fit_new(store, before)
        else:
            store.execute("delete from weights where name = ?", (FACTOR,))
        weights = load_weights(store)
        if weights == before:
            return
        if weights.values != before.values:
            estimate_all(store)
        else:
            models = {model for model, _ in weights.factors.items() ^ before.factors.items()}
            estimate_threads(store, weights, _threads(store, models))
        settle_sums(store)


def fitted_factor(shipped: float, pairs: list[Pair]) -> float:
    """The factor that half of the tokens lie below, drawn to the shipped one by the number of pairs."""
    half, below = sum(pair.text for pair in pairs) / 2, 0.0
    middle = shipped
    for factor, tokens in sorted(((pair.growth - pair.fixed) / pair.text, pair.text) for pair in pairs):
        middle, below = factor, below + tokens
        if below >= half:
            break
    return shipped + (middle - shipped) * len(pairs) / (len(pairs) + PRIOR_PAIRS)


def _lay(store: sqlite3.Connection) -> None:
    """The shipped weights as rows; one that is shipped otherwise by now takes the new value, if it was as shipped."""
    store.executemany(
        "insert into weights (name, model, value, shipped) values (?1, '', ?2, ?2)"
        " on conflict (name, model) do update"
        " set value = case when value = shipped then ?2 else value end, shipped = ?2 where shipped <> ?2",
        SHIPPED.items(),
    )


def _fit_new(store: sqlite3.Connection, weights: Weights) -> None:
    (calls,) = store.execute("select count(*) from stored_calls").fetchone()
    row = store.execute("select value from store_facts where name = ?", (_FITTED,)).fetchone()
    if calls < max(LEAST_PAIRS, MORE_CALLS * int(row[0] if row else 0)):
        return
    for model, pairs in pairs_of(store, weights, MOST_PAIRS).items():
        if len(pairs) >= LEAST_PAIRS:
            shipped, held = factor_of(model), weights.factor(model)
            factor = round(fitted_factor(shipped, pairs), 4)
            if factor > 0 and abs(factor - held) >= LEAST_MOVE * held:
                store.execute(
                    "insert or replace into weights (name, model, value, shipped, pairs) values (?, ?, ?, ?, ?)",
                    (FACTOR, model, factor, shipped, len(pairs)),
                )
    store.execute("insert or replace into store_facts (name, value) values (?, ?)", (_FITTED, str(calls)))


def pairs_of(
    store: sqlite3.Connection,
    weights: Weights,
    most: int | None = None,
    since: int | None = None,
    project: str | None = None,
) -> dict[str, list[Pair]]:
    """The pairs of each model, of all or the latest, as in `queries/accuracy_pairs.sql`."""
    from crusts_index.rows.reports import PairBlock  # most runs have nothing to fit

    found: dict[str, list[Pair]] = {}
    blocks = query.each(store, PairBlock, most=most, since=since, project=project)
    for _, group in groupby(blocks, attrgetter("pair")):
        text = fixed = 0.0
        for block in group:
            if block.share is not None:
                fixed += block.share
                continue
            size = (block.kind, block.soft, block.marks, block.extra)
            more, other = weights.parts(block.model, *size, tool=block.tool, is_answer=bool(block.is_answer))
            text, fixed = text + more, fixed + other
        if text > 0:
            found.setdefault(block.model, []).append(Pair(block.growth, text, fixed))
    return found


def _threads(store: sqlite3.Connection, models: set[str]) -> list[int]:
    """The threads that any of the models answered in."""
    numbers = ", ".join(str(word_id(model)) for model in models)
    rows = store.execute(f"select distinct thread_id from stored_responses where id > 0 and model in ({numbers})")
    return [row[0] for row in rows]
