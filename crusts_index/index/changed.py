"""What a transaction changed of that which sums are made of, until they are settled (`sums`).

It is kept in temporary tables, which go back with a transaction that is thrown away. Note what is to change before it
changes: a sum is known by how a call, a tool use or a message stood when it was summed up.
"""

from __future__ import annotations

from collections.abc import Iterable

from crusts_index.index.extent import same_id
from crusts_index.index.window_sums import add_answers
from crusts_index.store.driver import sqlite3

_TABLES = (
    "changed_responses (id integer primary key)",
    "changed_quarters (thread_id integer, quarter integer, primary key (thread_id, quarter)) without rowid",
    "loose_uses (id integer primary key)",
    "loose_answers (id integer primary key)",
    "emptied (transcript_id integer primary key)",
    "whole_windows (transcript_id integer primary key)",
)
_PASSING = (
    "taken (id integer primary key)",
    "coming_answers (id integer primary key, thread_id integer, message integer, message_id text, request_id text)",
    "not_one (id integer)",
)

_QUARTERS = """
insert or ignore into temp.changed_quarters
select o.thread_id, ifnull(c.time_ms / 900000, -1)
from ({responses}) t
  cross join stored_responses r on r.id = t.id
  cross join stored_calls c on c.id = ifnull(r.shared_call_id, r.id)
  cross join stored_responses o on o.id = ifnull(c.response_id, c.id)
"""
_OF_TAKEN = _QUARTERS.format(responses="select id from temp.taken")

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
  select u.id + u.result_ahead, ifnull((u.result_ms + ifnull(u.use_ms, 0)) / 900000, -1), ifnull(u.name, 0), 0, 1,
         (u.result_chars + 3) / 4 + 1500 * u.result_images, u.flags & 1
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

_TAKE_IDS = "insert or ignore into temp.taken select value from json_each(?)"
_TAKE_USES = """
insert or ignore into temp.taken
select u.id from json_each(?) t cross join stored_tool_uses u on u.id = t.value
where u.id not in (select id from temp.loose_uses)
"""
_TAKE_KEYS = f"""
insert or ignore into temp.taken
select o.id from ({{keys}}) k
  cross join stored_tool_uses o on {same_id("o.use_key", "k.use_key")}
where o.id not in (select id from temp.loose_uses)
"""

# A message of an answer may have several responses: those with its message id or, without any, with its request id.
_OF_MESSAGE = f"""
insert or ignore into temp.taken
select o.id from ({{answers}}) k
  cross join stored_responses o on {same_id("o.message_id", "k.message_id")}
    and o.thread_id = k.thread_id and o.message = k.message
where o.id not in (select id from temp.{{but}})
union all
select o.id from ({{answers}}) k
  cross join stored_responses o on {same_id("o.request_id", "k.request_id")}
    and o.thread_id = k.thread_id and o.message = k.message
where k.message_id is null and o.message_id is null and o.id not in (select id from temp.{{but}})
union all
select o.id from ({{answers}}) k cross join stored_responses o on o.id = k.id
where o.id not in (select id from temp.{{but}})
"""
_ANSWERS = "select r.* from {ids} t cross join stored_responses r on r.id = t.id and r.id > 0 and r.message is not null"


def note_responses(store: sqlite3.Connection, responses: Iterable[int]) -> None:
    """The calls of these responses change, or are no more."""
    note_turned(store, responses)
    store.execute("insert or ignore into temp.changed_responses select id from temp.taken")


def note_turned(store: sqlite3.Connection, responses: Iterable[int]) -> None:
    """What is said of the calls of these responses changes, but nothing that curves and spans are made of."""
    make(store)
    _refill(store, _TAKE_IDS, responses)
    store.execute(_OF_TAKEN)


def note_changed_calls(store: sqlite3.Connection) -> None:
    """Which sums the calls of the changed responses belong to as they are now, where their threads have any."""
    make(store)
    store.execute(
        _QUARTERS.format(responses="select id from temp.changed_responses")
        + "where exists (select 1 from stored_call_sums s where s.thread_id = o.thread_id)"
    )


def note_uses(store: sqlite3.Connection, uses: list[int]) -> None:
    """The rows of these tool uses change or are about to come."""
    make(store)
    _refill(store, _TAKE_USES, uses)
    _take_out_uses(store)
    store.execute(_TAKE_IDS.replace("temp.taken", "temp.loose_uses"), (_json(uses),))


def note_shared_uses(store: sqlite3.Connection, keys: str, values: Iterable[object] = ()) -> None:
    """Tool uses of these keys, a query for column `use_key`, are about to be owned by others."""
    make(store)
    store.execute("delete from temp.taken")
    store.execute(_TAKE_KEYS.format(keys=keys), tuple(values))
    _take_out_uses(store)


def note_answers(store: sqlite3.Connection, responses: Iterable[int]) -> None:
    """Blocks of these responses are about to change."""
    make(store)
    ids = _json(responses)
    if ids == "[]":
        return
    store.execute("delete from temp.coming_answers")
    store.execute(
        "insert into temp.coming_answers select r.id, r.thread_id, r.message, r.message_id, r.request_id"
        f" from ({_ANSWERS.format(ids='(select value as id from json_each(?))')}) r",
        (ids,),
    )
    _take_out_answers(store)


def note_coming_answers(
    store: sqlite3.Connection, rows: Iterable[tuple[int, int, int, str | None, str | None]]
) -> None:
    """Responses of messages that the store knows are about to come."""
    make(store)
    store.execute("delete from temp.coming_answers")
    store.executemany("insert or replace into temp.coming_answers values (?, ?, ?, ?, ?)", rows)
    _take_out_answers(store)
    store.execute("insert or ignore into temp.loose_answers select id from temp.coming_answers")


def note_windows(store: sqlite3.Connection, transcripts: Iterable[int]) -> None:
    """Blocks of these transcripts come or change, many of them: their windows are summed up again as a whole."""
    make(store)
    store.executemany("insert or ignore into temp.whole_windows values (?)", [(one,) for one in transcripts])


def note_cleared(store: sqlite3.Connection, low: int, high: int) -> None:
    """Tool uses in this range of ids are gone, with the sums of their threads: what comes under their ids is new."""
    make(store)
    store.execute("delete from temp.loose_uses where id between ? and ?", (low, high))


def note_all(store: sqlite3.Connection, low: int, high: int) -> None:
    """Responses, tool uses and messages of transcripts, by the range of their ids, are in no sum."""
    make(store)
    for table, rows in (("changed_responses", "stored_responses"), ("loose_uses", "stored_tool_uses")):
        store.execute(
            f"insert or ignore into temp.{table} select id from {rows} where id between ? and ?",
            (low, high),
        )
    store.execute(
        "insert or ignore into temp.whole_windows select id from transcripts where id between ? >> 40 and ? >> 40",
        (low, high),
    )


def forget_notes(store: sqlite3.Connection) -> None:
    """All is settled."""
    make(store)
    for table in _TABLES:
        store.execute(f"delete from temp.{table.partition(' ')[0]}")


def gather_answers(store: sqlite3.Connection) -> None:
    """Fill the temporary table `taken` with all responses of the messages that were taken out."""
    store.execute("delete from temp.taken")
    if has_noted(store, "loose_answers"):
        answers = _ANSWERS.format(ids="temp.loose_answers")
        store.execute(_OF_MESSAGE.format(answers=answers, but="not_one"))


def has_noted(store: sqlite3.Connection, table: str) -> bool:
    """Whether anything stands in one of the temporary tables; to ask takes less than to prepare what is to be done."""
    return store.execute(f"select 1 from temp.{table} limit 1").fetchone() is not None


def make(store: sqlite3.Connection) -> None:
    """Lay the temporary tables."""
    for table in (*_TABLES, *_PASSING):
        store.execute(f"create temp table if not exists {table}")


def _take_out_uses(store: sqlite3.Connection) -> None:
    """Take tool uses out of the sums that are in them; all are put back when the sums are settled."""
    if has_noted(store, "taken"):
        store.execute(ADD_USES.format(sign=-1, table="taken"))
        store.execute("insert into temp.loose_uses select id from temp.taken")
        store.execute("insert or ignore into temp.emptied select id >> 40 from temp.taken")


def _take_out_answers(store: sqlite3.Connection) -> None:
    """Likewise the messages of answers."""
    store.execute("delete from temp.taken")
    store.execute(_OF_MESSAGE.format(answers="select * from temp.coming_answers", but="loose_answers"))
    if has_noted(store, "taken"):
        add_answers(store, -1)
        store.execute("insert into temp.loose_answers select id from temp.taken")
        store.execute("insert or ignore into temp.emptied select id >> 40 from temp.taken")


def _refill(store: sqlite3.Connection, query: str, ids: Iterable[int]) -> None:
    store.execute("delete from temp.taken")
    store.execute(query, (_json(ids),))


def _json(ids: Iterable[int]) -> str:
    return f"[{','.join(map(str, ids))}]"
