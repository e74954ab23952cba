"""Brings the owners of tool uses and of their results up to date (D2)."""

from __future__ import annotations

from collections.abc import Iterable

from crusts_index.index.changed import note_shared_uses
from crusts_index.index.extent import same_id
from crusts_index.jsontext import dumps
from crusts_index.store.driver import sqlite3

# Of the occurrences of one tool use id, the first by the rank of D2 owns the use, and the first that has one owns the
# result. `cross join` fixes the order: SQLite would walk all tool uses of the store. Ids are those of stored_tool_uses.
_OWN = f"""
with ranked as (
  select u.id,
         row_number() over (partition by t.use_key, u.name is null order by
           u.is_copied, u.is_nested, th.kind <> 'main', ifnull(u.use_session, s.session_id) is not s.session_id,
           u.use_ms is null, u.use_ms, tr.path, u.id) = 1 and u.name is not null as owns,
         row_number() over (partition by t.use_key, u.result_record_id is null order by
           u.is_result_copied, u.is_nested, th.kind <> 'main',
           ifnull(u.result_session, s.session_id) is not s.session_id,
           u.result_ms is null, u.result_ms, tr.path, u.id) = 1 and u.result_record_id is not null as owns_result
  from temp.shared_uses t
  cross join stored_tool_uses i
    on {same_id("i.use_key", "t.use_key")}
  cross join tool_uses u on u.id = i.id
  cross join threads th on th.id = u.thread_id
  cross join transcripts tr on tr.id = u.transcript_id
  left join sessions s on s.id = tr.session_id
)
update stored_tool_uses set flags = flags & ~384 | (select 128 * (not owns) + 256 * (not owns_result) from ranked
  where ranked.id = stored_tool_uses.id)
where id in (select id from ranked)
"""

_SHARED = f"""
insert or ignore into temp.shared_uses
select u.use_key from json_each(?) t cross join stored_tool_uses u on u.id = t.value
where exists (select 1 from stored_tool_uses o
  where {same_id("o.use_key", "u.use_key")} and o.id <> u.id)
union all
select l.value from json_each(?) l where (select count(*) from stored_tool_uses o
  where {same_id("o.use_key", "l.value")}) > 1
"""

_ALONE_AGAIN = f"""
update stored_tool_uses set flags = flags & ~384
where flags & 384 and id in (
  select u.id from json_each(?) l
  cross join stored_tool_uses u on {same_id("u.use_key", "l.value")})
"""

_SHARED_BY = f"""
select distinct u.use_key from stored_tool_uses u
join stored_tool_uses o on {same_id("o.use_key", "u.use_key")}
where u.id between ? and ? and o.id <> u.id
"""
_CHANGING = "select use_key from temp.shared_uses union select value from json_each(?)"


def shared_uses(store: sqlite3.Connection, low: int, high: int) -> list[str]:
    """Tool use ids, as stored, of a transcript (by the range of its ids) that other transcripts bear too.

    Asked before its rows go: it is noted that others change with them.
    """
    keys = [row[0] for row in store.execute(_SHARED_BY, (low, high))]
    if keys:
        note_shared_uses(store, "select value as use_key from json_each(?)", (dumps(keys),))
    return keys


def settle_owners(store: sqlite3.Connection, lost: Iterable[str], touched: Iterable[int] = ()) -> None:
    """Decide again who owns what, where several rows bear one tool use id.

    `lost` are the tool use ids, as stored, of which an occurrence was taken out, `touched` the rows that came or
    changed.
    """
    keys, rows = list(lost), list(touched)
    if not keys and not rows:
        return
    lost_ids = dumps(keys)
    store.execute("create temp table if not exists shared_uses (use_key text primary key) without rowid")
    store.execute("delete from temp.shared_uses")
    store.execute(_SHARED, (dumps(rows), lost_ids))
    note_shared_uses(store, _CHANGING, (lost_ids,))
    store.execute(_ALONE_AGAIN, (lost_ids,))
    if store.execute("select 1 from temp.shared_uses limit 1").fetchone():
        store.execute(_OWN)
