"""Sums up billed API calls by the thread that owns them, quarter of an hour, model and price: `stored_call_sums`.

Here and not with the other sums of the index, since a price that becomes known moves calls from one sum to another.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

SUM_CALLS = """
insert into stored_call_sums
select
  o.thread_id, ifnull(c.time_ms / 900000, -1), ifnull(u.model, 0), ifnull(c.price_id, 0),
  case when coalesce(u.speed, u.geo, u.service_tier) is null then ''
    else ifnull((select a.speed from api_calls a where a.id = c.id), '') end,
  count(*), sum(u.input_tokens), sum(u.cache_read_tokens), sum(u.cache_write_tokens), sum(u.cache_write_1h_tokens),
  sum(u.output_tokens), sum(u.web_searches), sum(c.retained), sum(u.flags >> 5 & 1)
from ({calls}) k
  cross join stored_calls c on c.id = k.id
  cross join stored_responses o on o.id = ifnull(c.response_id, c.id)
  cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
group by 1, 2, 3, 4, 5
"""
"""To be filled with a query that gives the ids of calls, all or none of each sum; the sums are not there."""

_OF_MODELS = """
select c.id from stored_calls c
  cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
where u.model in (select id from words where word in (select value from json_each(:models)))
"""
_CLEAR_MODELS = """
delete from stored_call_sums
where model in (select id from words where word in (select value from json_each(:models)))
"""


def sum_models_again(store: "sqlite3.Connection", models: str) -> None:
    """Make the sums of the calls of these models, a JSON array, again: they have another price."""
    store.execute(_CLEAR_MODELS, {"models": models})
    store.execute(SUM_CALLS.format(calls=_OF_MODELS), {"models": models})


def sum_all_again(store: "sqlite3.Connection") -> None:
    """Make the sums of all calls again."""
    store.execute("delete from stored_call_sums")
    store.execute(SUM_CALLS.format(calls="select id from stored_calls"))
