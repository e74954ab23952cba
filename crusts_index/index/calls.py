"""Brings API calls up to date: which responses are one call (D1), and who owns it (D2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from crusts_index.index.changed import note_answers, note_responses
from crusts_index.index.estimates import spread_outputs
from crusts_index.index.extent import same_id
from crusts_index.index.plain_calls import Fresh, add_plain
from crusts_index.index.rebuilds import keep_rebuild, note_rebuilds
from crusts_index.store.driver import sqlite3
from crusts_index.store.prices import resolve_prices
from crusts_index.transcript.rows import RECORD_BITS
from crusts_index.tuples import NamedTuple

# Two responses are the same call if they share a request id, or a message id within one record-level session; two
# that both lack a request id only if their input sides are equal. `cross join` fixes the order: SQLite would walk all
# responses of the store. Ids are looked up by their ends, as they are indexed.
_NEIGHBOURS = f"""
select t.id, o.id, o.shared_call_id
from temp.touched t
cross join stored_responses r on r.id = t.id
cross join stored_responses o on {same_id("o.request_id", "r.request_id")}
where o.id <> r.id and r.flags & 8 and o.flags & 8
union all
select t.id, o.id, o.shared_call_id
from temp.touched t
cross join stored_responses r on r.id = t.id
cross join stored_responses o on {same_id("o.message_id", "r.message_id")}
where o.id <> r.id and r.flags & 8 and o.flags & 8 and o.record_session is r.record_session
  and (r.request_id is not null or o.request_id is not null
       or (o.input_tokens = r.input_tokens and o.cache_read_tokens = r.cache_read_tokens
           and o.cache_write_tokens = r.cache_write_tokens))
"""

_WRITE_LONE = """
insert or replace into stored_calls (id, time_ms, retained)
select r.id, r.last_ms, r.id < 0
from temp.touched t cross join stored_responses r on r.id = t.id
where r.flags & 8 and t.id not in (select id from temp.related)
"""

# Those that shared a call before.
_CALL_OF_ITS_OWN = """
update stored_responses set shared_call_id = null
where shared_call_id is not null and id in (select id from temp.touched)
  and id not in (select id from temp.related)
"""

_WRITE_SHARED = """
insert or replace into stored_calls (id, response_id, usage_id, time_ms, retained)
select :call, nullif(:owner, :call), nullif(:usage, :owner), last_ms, :retained from stored_responses where id = :usage
"""

_MEMBERS = """
select r.id, r.is_copied, r.is_nested, th.kind <> 'main', r.record_session is not s.session_id, r.first_ms,
       tr.path, r.transcript_id, r.last_record_id, r.is_advisor
from responses r
join threads th on th.id = r.thread_id
join transcripts tr on tr.id = r.transcript_id
left join sessions s on s.id = tr.session_id
where r.id = ?
"""

_RETAINS = "select 1 from stored_responses where id < 0 and thread_id >= ? << 20 and thread_id < (? + 1) << 20 limit 1"
_RETURNED = """
select r.id, r.call_id from responses r
where r.id < 0 and r.transcript_id = ? and exists (
  select 1 from stored_responses o
  where (o.shared_call_id = r.call_id or o.id = r.call_id) and o.thread_id >> 20 = r.transcript_id and o.id > 0)
"""

# The responses of a call: those that share it, and the one whose id it has.
_OF_CALL = """
select id from stored_responses where shared_call_id = ?1
union all
select id from stored_responses where id = ?1 and shared_call_id is null and flags & 8
"""

_LATEST = 1 << 62


class _Member(NamedTuple):
    id: int
    is_copied: int
    is_nested: int
    is_elsewhere: int
    is_foreign: int
    first_ms: int | None
    path: str
    transcript_id: int
    last_record_id: int
    is_advisor: int

    @property
    def rank(self) -> tuple[Any, ...]:
        first = _LATEST if self.first_ms is None else self.first_ms
        return (self.is_copied, self.is_nested, self.is_elsewhere, self.is_foreign, first, self.path, self.id)


def settle_calls(
    store: sqlite3.Connection, touched: Iterable[int], continued: Collection[int], fresh: Fresh | None = None
) -> None:
    """Make the calls of the touched responses again; `continued` have lines from an earlier stretch.

    `fresh` are responses in hand (`plain_calls`); the sums of the others are noted to be settled.
    """
    ids = set(touched)
    if not ids and not continued:
        return
    _fill(store, "touched", ids)
    note_rebuilds(store, "touched")
    edges = store.execute(_NEIGHBOURS).fetchall()
    related = {edge[0] for edge in edges}
    _fill(store, "related", related)
    components = _components(store, edges)
    spread_again = set(continued)
    odd = spread_again.union(*components)
    note_responses(store, odd.union(ids - add_plain(store, fresh or {}, odd)))
    store.execute(_WRITE_LONE)
    store.execute(_CALL_OF_ITS_OWN)
    for members in components:
        spread_again |= _write_shared(store, members)
    note_answers(store, spread_again)
    spread_outputs(store, spread_again)
    if store.execute("select 1 from prices limit 1").fetchone():
        rows = store.execute(
            "select distinct ifnull(r.shared_call_id, r.id) from temp.touched t"
            " cross join stored_responses r on r.id = t.id where r.flags & 8"
        )
        resolve_prices(store, [row[0] for row in rows])


def _components(store: sqlite3.Connection, edges: list[tuple[int, int, int | None]]) -> list[set[int]]:
    """Connected sets of response ids. A call written before is connected already, so all its responses join."""
    leader: dict[int, int] = {}

    def find(one: int) -> int:
        while leader.setdefault(one, one) != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        return one

    calls: dict[int, int] = {}
    for one, other, call in edges:
        leader[find(one)] = find(other)
        if call is not None:
            calls[call] = other
    for call, one in calls.items():
        for (member,) in store.execute(_OF_CALL, (call,)).fetchall():
            leader[find(member)] = find(one)
    groups: dict[int, set[int]] = {}
    for one in list(leader):
        groups.setdefault(find(one), set()).add(one)
    return list(groups.values())


def _write_shared(store: sqlite3.Connection, ids: set[int]) -> set[int]:
    """Write one call of several responses; gives back those whose blocks are to be spread again."""
    members = [_Member(*store.execute(_MEMBERS, (one,)).fetchone()) for one in ids]
    owner = min(members, key=lambda member: member.rank)
    rivals = [
        member
        for member in members
        if (member.transcript_id, member.is_nested) == (owner.transcript_id, owner.is_nested)
    ]
    usage = max(rivals, key=lambda member: (member.last_record_id, member.id))
    call = min(ids)
    marks = ",".join("?" * len(ids))
    old = store.execute(
        f"select distinct ifnull(shared_call_id, id) from stored_responses where id in ({marks})", tuple(ids)
    ).fetchall()
    store.executemany("delete from stored_calls where id = ?", old)
    store.execute(
        _WRITE_SHARED,
        {"call": call, "owner": owner.id, "usage": usage.id, "retained": int(all(one < 0 for one in ids))},
    )
    store.executemany("update stored_responses set shared_call_id = ? where id = ?", [(call, one) for one in ids])
    return {member.id for member in members if not member.is_nested and not member.is_advisor and member.id > 0}


def release_calls(store: sqlite3.Connection, low: int, high: int, *, retain: bool) -> set[int]:
    """Take the responses of a range of ids out; what they shared calls with is to be settled.

    With `retain` billed responses stay, under ids below 0, until the new bytes show them again (D4).
    """
    mine = store.execute(
        "select id, flags & 8, ifnull(shared_call_id, id) from stored_responses where id between ? and ? order by id",
        (low, high),
    ).fetchall()
    calls = {call for _, has_usage, call in mine if has_usage}
    sharing = {row[0] for call in calls for row in store.execute(_OF_CALL, (call,))}
    note_responses(store, sharing)
    store.executemany("delete from stored_calls where id = ?", [(call,) for call in calls])
    _release(store, sharing)
    touched = sharing - {response for response, _, _ in mine}
    if retain:
        (lowest,) = store.execute("select min(id) from stored_responses").fetchone()
        following = min(lowest or 0, 0) - 1
        for response, has_usage, _ in mine:
            if has_usage:
                store.execute(
                    "update stored_responses set id = ?1, last_ahead = id + last_ahead - ?1 where id = ?2",
                    (following, response),
                )
                keep_rebuild(store, response, following)
                touched.add(following)
                following -= 1
    for table, column in (("stored_responses", "id"), ("stored_rebuilds", "response_id")):
        store.execute(f"delete from {table} where {column} between ? and ?", (low, high))
    return touched


def _release(store: sqlite3.Connection, responses: Iterable[int]) -> None:
    """Make responses be of no shared call until they are settled again."""
    store.executemany(
        "update stored_responses set shared_call_id = null where id = ?", [(response,) for response in responses]
    )


def drop_returned(store: sqlite3.Connection, transcripts: Iterable[int]) -> set[int]:
    """Retained responses of transcripts in which their call stands again go; gives back what is to be settled."""
    returned: dict[int, int] = {}
    for transcript in transcripts:
        if store.execute(_RETAINS, (transcript, transcript)).fetchone():
            returned.update(store.execute(_RETURNED, (transcript,)))
            returned.update(_returned_without_ids(store, transcript))
    if not returned:
        return set()
    calls = set(returned.values())
    touched = {row[0] for call in calls for row in store.execute(_OF_CALL, (call,))}
    note_responses(store, touched)
    store.executemany("delete from stored_calls where id = ?", [(call,) for call in calls])
    touched -= returned.keys()
    for table, column in (("stored_responses", "id"), ("stored_rebuilds", "response_id")):
        store.executemany(f"delete from {table} where {column} = ?", [(response,) for response in returned])
    _release(store, touched)
    return touched


def _returned_without_ids(store: sqlite3.Connection, transcript_id: int) -> list[tuple[int, int]]:
    """Likewise those that bear no id and so join nothing: each is matched with one that says the same at that time."""
    same = "thread_id, record_session, first_ms, last_ms, model, input_tokens, cache_read_tokens, cache_write_tokens"
    sql = (
        f"select id, call_id, {same}, output_tokens from responses"
        " where {} and request_id is null and message_id is null and has_usage order by id desc"
    )
    lost = store.execute(sql.format("id < 0 and transcript_id = ?"), (transcript_id,)).fetchall()
    if not lost:
        return []
    bounds = (transcript_id << RECORD_BITS, ((transcript_id + 1) << RECORD_BITS) - 1)
    there = Counter(row[2:] for row in store.execute(sql.format("id between ? and ?"), bounds))
    returned = []
    for one, call, *said in lost:
        if there[tuple(said)] > 0:
            there[tuple(said)] -= 1
            returned.append((one, call))
    return returned


def _fill(store: sqlite3.Connection, table: str, ids: Iterable[int]) -> None:
    store.execute(f"create temp table if not exists {table} (id integer primary key)")
    store.execute(f"delete from temp.{table}")
    store.executemany(f"insert into temp.{table} values (?)", [(one,) for one in ids])
