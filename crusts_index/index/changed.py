"""What a transaction changed of that which sums are made of, until they are settled (`sums`).

It is kept in temporary tables, which go back with a transaction that is thrown away.

Note what is to change before it changes: a sum is known by how a call or a tool use stood when it was summed up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

_TABLES = (
    "changed_responses (id integer primary key)",
    "changed_quarters (thread_id integer, quarter integer, primary key (thread_id, quarter)) without rowid",
    "loose_uses (id integer primary key)",
    "coming_uses (id integer primary key, use_key text)",
    "taken_uses (id integer primary key)",
    "emptied (transcript_id integer primary key)",
)

NOTED = ("changed_responses", "changed_quarters", "loose_uses", "emptied")
"""Temporary tables that are empty again once all is settled."""

_QUARTERS = """
insert or ignore into temp.changed_quarters
select o.thread_id, ifnull(c.time_ms / 900000, -1)
from temp.changed_responses t
  cross join stored_responses r on r.id = t.id
  cross join stored_calls c on c.id = ifnull(r.shared_call_id, r.id)
  cross join stored_responses o on o.id = ifnull(c.response_id, c.id)
"""

ADD_USES = """
insert into stored_tool_sums
select
  (p.id >> 40) << 20 | p.thread, p.branch, p.epoch, n.quarter, n.name,
  {sign} * sum(n.uses), {sign} * sum(n.results), {sign} * sum(n.tokens), {sign} * sum(n.tokens * p.call_ordinal),
  {sign} * sum(n.errors)
from (
  select u.id - u.use_back as record_id, ifnull(u.use_ms / 900000, -1) as quarter, u.name, 1 as uses, 0 as results,
         0 as tokens, 0 as errors
  from temp.{table} t cross join stored_tool_uses u on u.id = t.id
  where u.name is not null and u.flags & 128 = 0
  union all
  select u.id + u.result_ahead, ifnull((u.result_ms + ifnull(u.use_ms, 0)) / 900000, -1),
         coalesce(u.name, (select o.name from stored_tool_uses o
           where substr(o.use_key, -6) = substr(u.use_key, -6) and o.use_key = u.use_key and o.flags & 128 = 0), 0),
         0, 1, (u.result_chars + 3) / 4 + 1500 * u.result_images, u.flags & 1
  from temp.{table} t cross join stored_tool_uses u on u.id = t.id
  where u.result_ahead is not null and u.flags & 256 = 0
) n
  cross join stored_records p on p.id = n.record_id
where true
group by 1, 2, 3, 4, 5
on conflict do update set
  uses = uses + excluded.uses, results = results + excluded.results,
  result_tokens = result_tokens + excluded.result_tokens, behind_calls = behind_calls + excluded.behind_calls,
  errors = errors + excluded.errors
"""
"""What tool uses and their results come to in `stored_tool_sums`, to be added or (with a sign) taken out."""

_SAME_KEYS = """
insert or ignore into temp.taken_uses
select o.id from ({keys}) k
  cross join stored_tool_uses o on substr(o.use_key, -6) = substr(k.use_key, -6) and o.use_key = k.use_key
where o.id not in (select id from temp.loose_uses)
"""
_SAME_IDS = """
insert or ignore into temp.taken_uses
select o.id from temp.coming_uses k cross join stored_tool_uses o on o.id = k.id
where k.use_key is null and o.id not in (select id from temp.loose_uses)
"""


def note_responses(store: sqlite3.Connection, responses: Iterable[int] = (), table: str | None = None) -> None:
    """These responses, and those of a temporary table, change calls, or their calls change."""
    _make(store)
    store.executemany("insert or ignore into temp.changed_responses values (?)", [(one,) for one in responses])
    if table is not None:
        store.execute(f"insert or ignore into temp.changed_responses select id from temp.{table}")
    store.execute(_QUARTERS)


def note_coming_uses(store: sqlite3.Connection, uses: Iterable[tuple[int, str | None]]) -> None:
    """Rows of tool uses, by id and key, are about to be written."""
    _make(store)
    store.execute("delete from temp.coming_uses")
    store.executemany("insert or ignore into temp.coming_uses values (?, ?)", uses)
    _take_out(store, _SAME_KEYS.format(keys="select distinct use_key from temp.coming_uses where use_key is not null"))
    _take_out(store, _SAME_IDS)
    store.execute("insert or ignore into temp.loose_uses select id from temp.coming_uses")


def note_shared_uses(store: sqlite3.Connection, keys: str, values: Iterable[object] = ()) -> None:
    """Tool uses of these keys, a query for column `use_key`, are about to be owned or named by others."""
    _make(store)
    _take_out(store, _SAME_KEYS.format(keys=keys), values)


def note_all(store: sqlite3.Connection, low: int, high: int) -> None:
    """Responses and tool uses of a range of ids are in no sum."""
    _make(store)
    store.execute(
        "insert or ignore into temp.changed_responses select id from stored_responses where id between ? and ?",
        (low, high),
    )
    store.execute(
        "insert or ignore into temp.loose_uses select id from stored_tool_uses where id between ? and ?", (low, high)
    )


def _take_out(store: sqlite3.Connection, query: str, values: Iterable[object] = ()) -> None:
    """Take tool uses out of the sums, unless they are out already; all are put back when the sums are settled."""
    store.execute("delete from temp.taken_uses")
    if store.execute(query, tuple(values)).rowcount:
        store.execute(ADD_USES.format(sign=-1, table="taken_uses"))
        store.execute("insert into temp.loose_uses select id from temp.taken_uses")
        store.execute("insert or ignore into temp.emptied select id >> 40 from temp.taken_uses")


def _make(store: sqlite3.Connection) -> None:
    for table in _TABLES:
        store.execute(f"create temp table if not exists {table}")
