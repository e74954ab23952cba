"""What the sums of the index must be: each as a query over the rows that it is made of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_CALLS = """
select thread_id, ifnull(time_ms / 900000, -1), ifnull(model, ''), ifnull(price_id, 0), ifnull(speed, ''), count(*),
  sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(cache_write_1h_tokens), sum(output_tokens),
  sum(web_searches), sum(retained), sum(is_placeholder)
from api_calls group by 1, 2, 3, 4, 5
"""
_TOOLS = """
with uses as (
  select r.thread_id, r.branch, r.epoch, ifnull(u.use_ms / 900000, -1) as quarter, u.name, 1 as uses, 0 as results,
         0 as tokens, 0 as behind, 0 as errors
  from tool_uses u join records r on r.id = u.use_record_id where u.owns = 1 and u.name is not null
  union all
  select r.thread_id, r.branch, r.epoch, ifnull(u.result_ms / 900000, -1),
         u.name, 0, 1,
         u.result_tokens, u.result_tokens * r.call_ordinal, u.is_error
  from tool_uses u join records r on r.id = u.result_record_id where u.owns_result = 1
)
select thread_id, branch, epoch, quarter, ifnull(name, ''), sum(uses), sum(results), sum(tokens), sum(behind),
  sum(errors)
from uses group by 1, 2, 3, 4, 5
"""
_SPANS = """
select thread_id, branch, epoch, max(call), max(result)
from (
  select thread_id, branch, epoch, ordinal as call, 0 as result from responses where id > 0
  union all
  select r.thread_id, r.branch, r.epoch, 0, r.call_ordinal from tool_uses u join records r on r.id = u.result_record_id)
group by 1, 2, 3
"""
_POINTS = """
with points as (
  select r.thread_id, r.ordinal / 64 as part, r.id, r.last_ms, c.context_tokens as context,
         ifnull(c.model, '') as model,
         lag(c.context_tokens) over (partition by r.thread_id order by r.id) as before
  from responses r join api_calls c on c.id = r.call_id
  where r.id > 0 and r.is_advisor = 0 and c.context_tokens > 0
)
"""
_CURVES = f"""{_POINTS}
select thread_id, part, count(*), case when count(*) = count(last_ms) then min(last_ms) end, max(last_ms), max(context),
  group_concat(context)
from (select * from points order by thread_id, id) group by 1, 2
"""
_MODELS = f"""{_POINTS}
select thread_id, part, model, count(*), max(context), min(id), max(id), max(before - context)
from points group by 1, 2, 3
"""
_WINDOWS = """
with parts as (
  select r.thread_id, r.branch, r.epoch, r.message, b.category, b.tokens, b.id
  from records r join blocks b on b.record_id = r.id
  where r.message is not null and r.subtype is not 'prompt_snapshot'
    and not (b.kind = 'tool_result'
      and (select u.result_record_id from tool_uses u where u.id = b.tool_use_id) is not r.id)
),
ranked as (
  select *, row_number() over (partition by thread_id, branch, epoch, message order by tokens desc, id) as place
  from parts
),
places as (select distinct thread_id, message, branch, epoch from parts)
select thread_id, branch, epoch, category, sum(tokens), sum(place = 1) from ranked group by 1, 2, 3, 4
union all
select thread_id, branch, epoch, '', 0, count(*) from places p
where (select count(*) from places o where o.thread_id = p.thread_id and o.message = p.message) > 1
group by 1, 2, 3
"""
SUMS = {
    "stored_call_sums": _CALLS,
    "stored_tool_sums": _TOOLS,
    "spans": _SPANS,
    "stored_curves": _CURVES,
    "stored_curve_models": _MODELS,
    "stored_window_sums": _WINDOWS,
}
"""By the table that holds it."""
_WORDS = {"stored_call_sums": 2, "stored_tool_sums": 4, "stored_curve_models": 2, "stored_window_sums": 3}


def assert_summed(db: Path) -> None:
    """Each sum of the store is what the query without it says."""
    with closing(sqlite3.connect(db)) as store:
        words = {0: "", **dict(store.execute("select id, word from words"))}
        for table, query in SUMS.items():
            rows = [list(row) for row in store.execute(f"select * from {table}")]
            for row in rows:
                if table in _WORDS:
                    row[_WORDS[table]] = words[row[_WORDS[table]]]
            wanted = store.execute(query).fetchall()
            assert sorted(wanted, key=str) == sorted(map(tuple, rows), key=str), table
