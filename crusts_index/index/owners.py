"""Brings the owners of tool uses and of their results up to date (D2)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

# Of the occurrences of one tool use id, the first by the rank of D2 owns the use, and the first that has one owns the
# result. `cross join` fixes the order: SQLite would walk all tool uses of the store.
_OWN = """
with ranked as (
  select u.id,
         row_number() over (partition by u.tool_use_id, u.name is null order by
           u.is_copied, u.is_nested, th.kind <> 'main', ifnull(u.use_session, s.session_id) is not s.session_id,
           u.use_ms is null, u.use_ms, tr.path, u.id) as use_rank,
         row_number() over (partition by u.tool_use_id, u.result_record_id is null order by
           u.is_result_copied, u.is_nested, th.kind <> 'main',
           ifnull(u.result_session, s.session_id) is not s.session_id,
           u.result_ms is null, u.result_ms, tr.path, u.id) as result_rank
  from temp.shared_uses t
  cross join tool_uses u on u.tool_use_id = t.tool_use_id
  cross join threads th on th.id = u.thread_id
  cross join transcripts tr on tr.id = u.transcript_id
  left join sessions s on s.id = tr.session_id
)
update tool_uses
set owns = (select use_rank = 1 from ranked where ranked.id = tool_uses.id) and name is not null,
    owns_result = (select result_rank = 1 from ranked where ranked.id = tool_uses.id) and result_record_id is not null
where id in (select id from ranked)
"""

_SHARED = """
insert or ignore into temp.shared_uses
select u.tool_use_id from json_each(?) t cross join tool_uses u on u.id = t.value
where exists (select 1 from tool_uses o where o.tool_use_id = u.tool_use_id and o.id <> u.id)
union all
select l.value from json_each(?) l where (select count(*) from tool_uses where tool_use_id = l.value) > 1
"""

_ALONE_AGAIN = """
update tool_uses set owns = 1, owns_result = 1
where (owns = 0 or owns_result = 0) and tool_use_id in (select value from json_each(?))
"""


def shared_uses(store: sqlite3.Connection, low: int, high: int) -> list[str]:
    """Tool use ids of a transcript (by the range of its ids) that other transcripts bear too."""
    return [
        row[0]
        for row in store.execute(
            "select distinct u.tool_use_id from tool_uses u join tool_uses o on o.tool_use_id = u.tool_use_id"
            " where u.id between ? and ? and o.id <> u.id",
            (low, high),
        )
    ]


def settle_owners(store: sqlite3.Connection, lost: Iterable[str], touched: Iterable[int] = ()) -> None:
    """Decide again who owns what, where several rows bear one tool use id.

    `lost` are the tool use ids of which an occurrence was taken out, `touched` the rows that came or changed.
    """
    lost_ids = json.dumps(list(lost))
    store.execute("create temp table if not exists shared_uses (tool_use_id text primary key) without rowid")
    store.execute("delete from temp.shared_uses")
    store.execute(_ALONE_AGAIN, (lost_ids,))
    store.execute(_SHARED, (json.dumps(list(touched)), lost_ids))
    if store.execute("select 1 from temp.shared_uses limit 1").fetchone():
        store.execute(_OWN)
