"""Keeps the sums that reports over long periods are made of: of calls and of tools by quarters of an hour, the curve of
each thread, what came into its windows. All of it follows from other rows, and is settled in their transaction."""

from __future__ import annotations

from crusts_index.index.changed import (
    ADD_USES,
    forget_notes,
    gather_answers,
    has_noted,
    make,
    note_all,
    note_changed_calls,
)
from crusts_index.index.extent import CURVE_PART, SUMS, bounds
from crusts_index.index.rebuilds import forget_rebuilds, settle_rebuilds
from crusts_index.index.window_sums import settle_windows
from crusts_index.store.call_sums import SUM_CALLS
from crusts_index.store.driver import sqlite3
from crusts_index.transcript.rows import THREAD_BITS

_AT_ONCE = 100
_BEYOND = 1 << 62

# Threads without sums take all their calls; of others the calls of those quarters are looked up by their time.
_FRESH = """
insert into temp.fresh_threads
select thread_id from (
  select distinct case when r.shared_call_id is null then r.thread_id else (
    select o.thread_id from stored_calls c cross join stored_responses o on o.id = ifnull(c.response_id, c.id)
    where c.id = r.shared_call_id) end as thread_id
  from temp.changed_responses t cross join stored_responses r on r.id = t.id) h
where thread_id is not null and not exists (select 1 from stored_call_sums s where s.thread_id = h.thread_id)
"""
_CLEAR_QUARTERS = """
delete from stored_call_sums where (thread_id, quarter) in (select thread_id, quarter from temp.changed_quarters)
"""
_OF_THREAD = """
select c.id from {threads} f
  cross join stored_responses o on o.thread_id = f.thread_id
  cross join stored_calls c on c.id = ifnull(o.shared_call_id, o.id) and ifnull(c.response_id, c.id) = o.id
where o.flags & 8
"""
_CHANGED_CALLS = f"""
{_OF_THREAD.format(threads="temp.fresh_threads")}
union all
select c.id from temp.changed_quarters q
  cross join stored_calls c indexed by calls_by_time
    on c.time_ms >= q.quarter * 900000 and c.time_ms < (q.quarter + 1) * 900000
  cross join stored_responses o on o.id = ifnull(c.response_id, c.id) and o.thread_id = q.thread_id
where q.quarter >= 0 and q.thread_id not in (select thread_id from temp.fresh_threads)
union all
{_OF_THREAD.format(threads="temp.changed_quarters")} and f.quarter = -1 and c.time_ms is null
  and f.thread_id not in (select thread_id from temp.fresh_threads)
"""

_LAST_CALLS = """
insert into spans (thread_id, branch, epoch, last_call)
select r.thread_id, r.branch, r.epoch, max(r.ordinal)
from temp.changed_responses t cross join stored_responses r on r.id = t.id
where r.id > 0
group by 1, 2, 3
on conflict do update set last_call = max(last_call, excluded.last_call)
"""
_LAST_RESULTS = """
insert into spans (thread_id, branch, epoch, last_result)
select (p.id >> 40) << 20 | p.thread, p.branch, p.epoch, max(p.call_ordinal)
from temp.loose_uses t
  cross join stored_tool_uses u on u.id = t.id
  cross join stored_records p on p.id = u.id + u.result_ahead
group by 1, 2, 3
on conflict do update set last_result = max(last_result, excluded.last_result)
"""

_NO_USES = "delete from stored_tool_sums where thread_id between ? and ? and uses = 0 and results = 0"

# Of each thread the first part that changed, and the first response in it: those behind are made again with it.
_CHANGED_CURVES = f"""
insert into temp.changed_curves
select thread_id, part, min(first_id, ifnull((
  select min(m.first_id) from stored_curve_models m where m.thread_id = c.thread_id and m.part >= c.part), first_id))
from (
  select r.thread_id, min(r.ordinal) >> {CURVE_PART} as part, min(r.id) as first_id
  from temp.changed_responses t cross join stored_responses r on r.id = t.id
  where r.id > 0
  group by r.thread_id) c
"""
_CLEAR_CURVES = tuple(
    f"delete from {table} where thread_id = ? and part >= ?" for table in ("stored_curves", "stored_curve_models")
)
_POINTS = f"""
insert into temp.points
select thread_id, part, id, model, context, last_ms, coalesce(
  lag(context) over (partition by thread_id order by id),
  (select a.context_tokens from stored_responses b cross join api_calls a on a.id = ifnull(b.shared_call_id, b.id)
   where b.thread_id = p.thread_id and b.id > 0 and b.id < p.id and b.flags & 12 = 8 and a.context_tokens > 0
   order by b.id desc limit 1)) - context
from (
  select d.thread_id, r.ordinal >> {CURVE_PART} as part, r.id, ifnull(u.model, 0) as model, r.last_ms,
         u.input_tokens + u.cache_read_tokens + u.cache_write_tokens as context
  from temp.changed_curves d
    cross join stored_responses r on r.thread_id = d.thread_id and r.id >= d.first_id
    cross join stored_calls c on c.id = ifnull(r.shared_call_id, r.id)
    cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
  where r.flags & 12 = 8 and u.input_tokens + u.cache_read_tokens + u.cache_write_tokens > 0) p
"""
_CURVES = """
insert into stored_curves
select thread_id, part, count(*), case when count(*) = count(last_ms) then min(last_ms) end, max(last_ms), max(context),
  group_concat(context)
from (select thread_id, part, last_ms, context from temp.points order by thread_id, part, id)
group by thread_id, part
"""
_CURVE_MODELS = """
insert into stored_curve_models
select thread_id, part, model, count(*), max(context), min(id), max(id), max(fall)
from temp.points group by thread_id, part, model
"""
_OWN_TABLES = (
    "fresh_threads (thread_id integer primary key)",
    "changed_curves (thread_id integer primary key, part integer, first_id integer)",
    "points (thread_id integer, part integer, id integer, model integer, context integer, last_ms integer, fall)",
)


def settle_sums(store: sqlite3.Connection) -> None:
    """Bring the sums up to date with what the transaction noted as changed (`changed`)."""
    make(store)
    if has_noted(store, "changed_quarters") or has_noted(store, "changed_responses"):
        note_changed_calls(store)
        for table in _OWN_TABLES:
            store.execute(f"create temp table if not exists {table}")
            store.execute(f"delete from temp.{table.partition(' ')[0]}")
        _settle_calls(store)
        _settle_curves(store)
    settle_rebuilds(store)
    _settle_tools(store)
    gather_answers(store)
    settle_windows(store)
    forget_notes(store)


def settle_all_sums(store: sqlite3.Connection) -> None:
    """Make all sums again."""
    forget_notes(store)
    forget_rebuilds(store)
    for table in SUMS:
        store.execute(f"delete from {table}")
    note_all(store, -_BEYOND, -1)
    transcripts = [row[0] for row in store.execute("select id from transcripts order by id")]
    for place in range(0, len(transcripts), _AT_ONCE):
        some = transcripts[place : place + _AT_ONCE]
        note_all(store, bounds(some[0])[0], bounds(some[-1])[1])
        settle_sums(store)
    settle_sums(store)


def _settle_calls(store: sqlite3.Connection) -> None:
    store.execute(_FRESH)
    store.execute(_CLEAR_QUARTERS)
    store.execute(SUM_CALLS.format(calls=_CHANGED_CALLS))
    store.execute(_LAST_CALLS)


def _settle_tools(store: sqlite3.Connection) -> None:
    if has_noted(store, "loose_uses"):
        store.execute(ADD_USES.format(sign=1, table="loose_uses"))
        store.execute(_LAST_RESULTS)
    emptied = store.execute("select transcript_id from temp.emptied").fetchall()
    store.executemany(_NO_USES, [bounds(one, THREAD_BITS) for (one,) in emptied])


def _settle_curves(store: sqlite3.Connection) -> None:
    store.execute(_CHANGED_CURVES)
    parts = store.execute("select thread_id, part from temp.changed_curves").fetchall()
    for statement in _CLEAR_CURVES:
        store.executemany(statement, parts)
    for statement in (_POINTS, _CURVES, _CURVE_MODELS):
        store.execute(statement)
