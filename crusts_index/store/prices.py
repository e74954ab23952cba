"""List prices: learned from the genai-prices package's own data, kept in the store, joined to calls (D15).

The package is slow to import, so it is only where a call has a model that is no usual one (`known_prices`) and that was
not asked about before.
"""

from contextlib import nullcontext

from crusts_index.jsontext import dumps
from crusts_index.store.call_sums import sum_all_again, sum_models_again
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crusts_index.store.price_list import Row

# A call's price is that of its speed or tier, then of the latest period begun by its UTC day, then of the highest
# tier that its context tokens exceed; a tier holds for all tokens of the call. A call without a time has the
# latest period.
_RESOLVE = """
update stored_calls set price_id = (
  select price.id from api_calls as call cross join prices as price
  where call.id = stored_calls.id
    and price.model = call.model
    and (price.speed is null or instr(' ' || call.speed || ' ', ' ' || price.speed || ' '))
    and (price.from_day is null or price.from_day <= ifnull(date(call.time_ms / 1000, 'unixepoch'), '9999'))
    and (price.above_tokens = 0 or price.above_tokens < call.context_tokens)
  order by price.speed desc, price.from_day desc, price.above_tokens desc
  limit 1
)
"""
_OF_MODELS = "where {} in (select id from {} where model in (select value from json_each(:models)))"
_RESOLVE_CALLS = _RESOLVE + "where id in (select value from json_each(:ids))"  # noqa: S608 - constants
_RESOLVE_MODELS = _RESOLVE + _OF_MODELS.format("id", "api_calls")

_UNPRICED = """
select distinct model from api_calls
where price_id is null and model not like '<%' and model not in (select model from models where priced = 1)
order by model
"""
# Whether transcripts have a response of a model without prices: what they share calls with bears the same.
_IS_NEW = """
select exists (select 1 from json_each(?) t
  cross join responses r on r.id between t.value << 40 and ((t.value + 1) << 40) - 1
  where r.model not like '<%' and r.model not in (select model from models where priced = 1))
"""
_USED = """
select model from models union select distinct model from api_calls where model not like '<%' order by model
"""
_ASKED = "select model, source from models"
_NOTE_MODEL = "insert or replace into models (model, priced, source, asked_ms) values (?, ?, ?, ?)"
_NOTE_UNKNOWN = (  # what was priced once stays so, also when a later list leaves it out
    "insert into models (model, priced, source, asked_ms) values (?, 0, ?, ?)"
    " on conflict (model) do update set source = excluded.source, asked_ms = excluded.asked_ms"
)
_FREE = "update stored_calls set price_id = null " + _OF_MODELS.format("price_id", "prices")  # noqa: S608 - constants
_FORGET = "delete from prices where model in (select value from json_each(:models))"
_NOTE_PRICE = """
insert into prices (
  model, speed, from_day, above_tokens, input_usd, cache_read_usd, cache_write_5m_usd, cache_write_1h_usd,
  output_usd, web_search_usd, source
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def learn_prices(
    connection: sqlite3.Connection,
    now_ms: int,
    *,
    only: "Iterable[int] | None" = None,
    refresh: bool = False,
    refresh_online: bool = False,
    on_asking: "Callable[[list[str]], object] | None" = None,
) -> list[str]:
    """Learn the prices of models of calls that have none yet, and price their calls.

    `only` names the transcripts that were read since all calls had theirs, so that no other is looked at. Returns the
    models of which none is known, in name order, where one of them is of those. What is no usual model is asked of the
    price list, once; `on_asking` is told of it before. `refresh` asks about all models again; `refresh_online` fetches
    the newest list first, and is the only thing here that uses the network. Raises CrustsError if it cannot.
    """
    refresh = refresh or refresh_online
    if only is not None and not refresh and not connection.execute(_IS_NEW, (dumps(list(only)),)).fetchone()[0]:
        return []
    wanted = [row[0] for row in connection.execute(_USED if refresh else _UNPRICED)]
    if not wanted:
        return []
    from crusts_index.store import known_prices, price_list

    known = known_prices.load()
    source = price_list.source() if known is None else known.source
    found: dict[str, Sequence[Row]] = {}
    asked: set[str] = set()
    if not refresh:
        found = {model: rows for model in wanted if known is not None and (rows := known.rows(model))}
        asked = {model for model, by in connection.execute(_ASKED) if by.startswith(source)}
    left = [model for model in wanted if model not in found and model not in asked]
    if left:
        if on_asking is not None:
            on_asking(left)
        providers = price_list.fetched() if refresh_online else price_list.bundled()
        found |= {model: list(price_list.rows_of(model, source, providers)) for model in left}
    if found:
        with nullcontext() if connection.in_transaction else transaction(connection):
            _note(connection, found, source, now_ms)
    if refresh:
        return [row[0] for row in connection.execute(_UNPRICED)]
    return [model for model in wanted if not found.get(model)]


def resolve_prices(connection: sqlite3.Connection, call_ids: "Iterable[int] | None" = None) -> None:
    """Set the price of these calls, or of all, from the prices the store has; null where it has none.

    The sums of these calls are the caller's to settle; those of all are made again.
    """
    if call_ids is None:
        connection.execute(_RESOLVE)
        sum_all_again(connection)
    else:
        connection.execute(_RESOLVE_CALLS, {"ids": dumps(list(call_ids))})


def _note(connection: sqlite3.Connection, found: "Mapping[str, Sequence[Row]]", source: str, now_ms: int) -> None:
    priced = {"models": dumps([model for model, rows in found.items() if rows])}
    connection.execute(_FREE, priced)
    connection.execute(_FORGET, priced)
    for model, rows in found.items():
        if rows:
            connection.executemany(_NOTE_PRICE, [(model, *row) for row in rows])
            connection.execute(_NOTE_MODEL, (model, 1, source, now_ms))
        else:
            connection.execute(_NOTE_UNKNOWN, (model, source, now_ms))
    # All models in one pass over the calls.
    connection.execute(_RESOLVE_MODELS, priced)
    sum_models_again(connection, priced["models"])
