"""What each response sent again of the context before it, and what changed in between: `stored_rebuilds` (D21).

It depends on what stands before the response in its thread and on the usage of both, so rows are made for the responses
that changed and those behind them. How long a pause counts, and which change is the reason, is for the views to say.
"""

from __future__ import annotations

from crusts_index.store.driver import sqlite3
from crusts_index.transcript.rows import IS_META, RECORD_BITS
from crusts_index.transcript.words import word_id

LEAST_BREAK = 2_000
"""Tokens sent again from which it is a break, and asked what changed (D21)."""

BRANCH, MODEL, CUT, VERSION, LISTED, INSTRUCTED, AGENT, HOUR = (1 << bit for bit in range(1, 9))
MESSAGES, SENT, EFFORT, CACHE, ASKED_MODEL, LOGGED, TOOLS = (1 << bit for bit in range(9, 16))
SMALLER, OPENED = 1 << 16, 1 << 17
"""Bits of `changes`, as in the schema."""

IS_COPIED_LINE = 1
"""Bit of `flags` in stored_responses."""

_LISTINGS = (
    "deferred_tools_delta mcp_instructions_delta skill_listing agent_listing_delta deferred_tools_record".split()
)
_WORDS = {
    name: word_id(name)
    for name in ("user", "text", "interruption", "Edit", "MultiEdit", "Write", "file", "tool", "command")
}

TABLE = "changed_rebuilds (thread_id integer primary key, first_id integer, from_id integer)"

_NOTE = """
insert into temp.changed_rebuilds
select r.thread_id, min(r.id), null from temp.{table} t cross join stored_responses r on r.id = t.id
where r.id > 0
group by r.thread_id
on conflict do update set first_id = min(first_id, excluded.first_id)
"""

# From the point before the first that changed: those with a usage, which no advisor made and which are not empty.
_BEGIN = """
update temp.changed_rebuilds set from_id = ifnull((
  select b.id from stored_responses b
    cross join stored_calls c on c.id = ifnull(b.shared_call_id, b.id)
    cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
  where b.thread_id = changed_rebuilds.thread_id and b.id > 0 and b.id < changed_rebuilds.first_id
    and b.flags & 12 = 8 and u.input_tokens + u.cache_read_tokens + u.cache_write_tokens > 0
  order by b.id desc limit 1), first_id)
"""
_CLEAR = """
delete from stored_rebuilds where response_id in (
  select r.id from temp.changed_rebuilds d
    cross join stored_responses r on r.thread_id = d.thread_id and r.id >= d.first_id)
"""

_IN_THREAD = f"""k.id > b.id and k.id < p.id and k.id >> {RECORD_BITS} = p.id >> {RECORD_BITS}
  and k.thread = p.thread_id & ((1 << 20) - 1)"""
_RECORD_BETWEEN = """exists (
  select 1 from {table} x cross join stored_records k on k.id = x.record_id
  where x.record_id > b.id and x.record_id < p.id and k.thread = p.thread_id & ((1 << 20) - 1){more})"""

_WAS_CUT = _RECORD_BETWEEN.format(table="removals", more="")
_WAS_LISTED = _RECORD_BETWEEN.format(
    table="attachments", more=f" and x.type in ({', '.join(repr(name) for name in _LISTINGS)})"
)
_WAS_LOADED = _RECORD_BETWEEN.format(table="tool_loads", more="")
# Another process goes on with the session: it says so, the one before said goodbye, or what stands before was copied.
_WAS_OPENED = f"""(b.flags & {IS_COPIED_LINE} > r.flags & {IS_COPIED_LINE}
  or {_RECORD_BETWEEN.format(table="attachments", more=" and x.event = 'SessionStart'")}
  or exists (
    select 1 from stored_records k cross join stored_blocks x on x.id >= k.id and x.id < k.id + k.length
      cross join texts y on y.block_id = x.id
    where {_IN_THREAD} and k.origin = {_WORDS["command"]} and y.text like '<command-name>/exit<%'))"""
# What of CLAUDE.md files was sent, told again and not as before; or one of them was edited.
_PARTS = f"""(
  select group_concat(s.path || ' ' || s.chars || ' ' || s.soft || ' ' || s.marks) from stored_sent_parts s
  where s.record_id = {{of}} and s.kind = {_WORDS["file"]})"""
_WAS_INSTRUCTED = f"""(exists (
  select 1 from attachments x cross join stored_records k on k.id = x.record_id
  where x.record_id > b.id and x.record_id < p.id and k.thread = p.thread_id & ((1 << 20) - 1)
    and x.type = 'instructions' and {_PARTS.format(of="x.record_id")} is not {
    _PARTS.format(
        of='''(
      select max(y.record_id) from attachments y
      where y.record_id < x.record_id and y.record_id >= x.record_id >> 40 << 40 and y.type = 'instructions')'''
    )
}
    and exists (select 1 from attachments y
      where y.record_id < x.record_id and y.record_id >= x.record_id >> 40 << 40 and y.type = 'instructions'))
  or exists (
  select 1 from stored_tool_uses x
  where x.id >= b.id and x.id < p.id and x.thread = p.thread_id & ((1 << 20) - 1) and x.flags & 1 = 0
    and x.name in ({_WORDS["Edit"]}, {_WORDS["MultiEdit"]}, {_WORDS["Write"]})
    and (x.path like '%CLAUDE.md' or x.path like '%CLAUDE.local.md')))"""
_HAS_OTHER_VERSION = """exists (
  select 1 from stored_version_starts x where x.record_id > b.id and x.record_id <= p.id)"""
_WAS_ASKED_AGAIN = f"""(p.thread_id & ((1 << 20) - 1) > 0 or (
    select h.kind from threads h where h.id = p.thread_id) <> 'main') and exists (
  select 1 from stored_records k
  where {_IN_THREAD} and k.type = {_WORDS["user"]} and k.message is not null and k.flags & {IS_META} = 0
    and k.origin is not {_WORDS["interruption"]}
    and exists (
      select 1 from stored_blocks x where x.id >= k.id and x.id < k.id + k.length and x.kind = {_WORDS["text"]}))"""

# The request that a response answers, in its own transcript, and that which it goes on from.
_REQUEST = f"""(
  select max(x.record_id) from stored_requests x
  where x.record_id < {{response}} and x.record_id >= {{response}} >> {RECORD_BITS} << {RECORD_BITS}
    and x.uuid = (select f.request from stored_response_facts f where f.response_id = {{response}}))"""
_MESSAGES_CHANGED = f"""exists (
  select 1 from stored_requests x
  where x.record_id <= q.record_id and x.record_id > ifnull(o.record_id, q.record_id - 1)
    and x.record_id >= q.record_id >> {RECORD_BITS} << {RECORD_BITS} and x.agent is q.agent and x.kept < (
      select y.kept + y.tail from stored_requests y
      where y.record_id < x.record_id and y.record_id >= x.record_id >> {RECORD_BITS} << {RECORD_BITS}
        and y.uuid = x.base
      order by y.record_id desc limit 1))"""

# The tools of a request's shape, each by its name and weight.
_TOOLS_OF = f"""(
  select group_concat(tool) from (
    select s.name || ' ' || s.chars || ' ' || s.soft || ' ' || s.marks as tool from stored_sent_parts s
    where s.kind = {_WORDS["tool"]} and s.record_id = (
      select max(x.record_id) from request_shapes x
      where x.shape_hash = {{request}}.shape_hash and x.record_id < {{request}}.record_id
        and x.record_id >= {{request}}.record_id >> {RECORD_BITS} << {RECORD_BITS})
    order by 1))"""

_MAKE = f"""
insert into stored_rebuilds (response_id, rebuilt_tokens, gap_ms, changes)
with used as (
  select d.first_id, r.thread_id, r.id, r.epoch, r.input_tokens + r.cache_write_tokens as sent,
    r.cache_read_tokens as read
  from temp.changed_rebuilds d
    cross join stored_responses r on r.thread_id = d.thread_id and r.id >= d.from_id
  where r.flags & 12 = 8 and r.shared_call_id is null
  union all
  select d.first_id, r.thread_id, r.id, r.epoch, u.input_tokens + u.cache_write_tokens, u.cache_read_tokens
  from temp.changed_rebuilds d
    cross join stored_responses r on r.thread_id = d.thread_id and r.id >= d.from_id
    cross join stored_calls c on c.id = r.shared_call_id
    cross join stored_responses u on u.id = coalesce(c.usage_id, c.response_id, c.id)
  where r.flags & 12 = 8 and r.shared_call_id is not null
),
points as (
  select first_id, thread_id, id, sent, read, sent + read as context,
    lag(id) over thread as before_id, lag(sent + read) over thread as before,
    epoch > ifnull(lag(epoch) over thread, 0) as is_first
  from used where sent + read > 0
  window thread as (partition by thread_id order by id)
),
again as (
  select *, min(sent, max(0, min(ifnull(before, 0), context) - read)) as rebuilt from points
)
select
  p.id,
  p.rebuilt,
  r.last_ms - r.took_ms - b.last_ms,
  p.is_first | iif(b.id is null, 0,
    (b.branch <> r.branch) * {BRANCH}
    | (b.model is not r.model) * {MODEL}
    | ({_WAS_CUT}) * {CUT}
    | (p.before - p.context >= {LEAST_BREAK}) * {SMALLER}
    | ({_WAS_OPENED}) * {OPENED}
    | ({_HAS_OTHER_VERSION}) * {VERSION}
    | ({_WAS_LISTED} or {_WAS_LOADED}) * {LISTED}
    | ({_WAS_INSTRUCTED}) * {INSTRUCTED}
    | ({_WAS_ASKED_AGAIN}) * {AGENT}
    | (iif(b.cache_write_tokens > 0, b.cache_write_1h_tokens, r.cache_write_1h_tokens) > 0) * {HOUR}
    | iif(q.record_id is null, 0, ({_MESSAGES_CHANGED}) * {MESSAGES})
    | iif(o.record_id is null, 0, {LOGGED}
      | (q.shape_hash is not o.shape_hash) * {SENT}
      | iif(q.shape_hash is o.shape_hash, 0,
          {_TOOLS_OF.format(request="q")} is not {_TOOLS_OF.format(request="o")}) * {TOOLS}
      | (q.effort is not o.effort) * {EFFORT}
      | (q.cache_hash is not o.cache_hash) * {CACHE}
      | (q.model is not o.model) * {ASKED_MODEL}))
from again p
  left join stored_responses b on b.id = p.before_id and p.rebuilt >= {LEAST_BREAK} and not p.is_first
  left join stored_responses r on r.id = iif(b.id is null, null, p.id)
  left join stored_requests q on q.record_id = iif(b.id is null, null, {_REQUEST.format(response="p.id")})
  left join stored_requests o on o.record_id = iif(q.record_id is null, null, {_REQUEST.format(response="b.id")})
where p.id >= p.first_id and (p.rebuilt > 0 or p.is_first)
"""


def note_rebuilds(store: sqlite3.Connection, table: str) -> None:
    """What the responses of a temporary table sent again is to be made again, and what those behind them did."""
    store.execute(f"create temp table if not exists {TABLE}")
    store.execute(_NOTE.format(table=table))


def settle_rebuilds(store: sqlite3.Connection) -> None:
    """Make the rows of what was noted."""
    note_rebuilds(store, "changed_responses")
    if store.execute("select 1 from temp.changed_rebuilds limit 1").fetchone() is None:
        return
    for statement in (_BEGIN, _CLEAR, _MAKE):
        store.execute(statement)
    forget_rebuilds(store)


def forget_rebuilds(store: sqlite3.Connection) -> None:
    """All is settled."""
    store.execute(f"create temp table if not exists {TABLE}")
    store.execute("delete from temp.changed_rebuilds")


def keep_rebuild(store: sqlite3.Connection, old_id: int, new_id: int) -> None:
    """A response goes by another id from now on: what it sent again stays."""
    store.execute("delete from stored_rebuilds where response_id = ?", (new_id,))
    store.execute("update stored_rebuilds set response_id = ? where response_id = ?", (new_id, old_id))
