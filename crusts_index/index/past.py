"""What the store knows of a transcript before its offset, asked for when reading goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from crusts_index.index.extent import bounds, same_id
from crusts_index.index.veil import veiled
from crusts_index.store.driver import sqlite3
from crusts_index.tools import EDITS, READS
from crusts_index.transcript.past import Place, Uuid
from crusts_index.transcript.responses import Response
from crusts_index.transcript.rows import (
    MESSAGE_PREFIX,
    REQUEST_PREFIX,
    TOOL_USE_PREFIX,
    Row,
    cut_prefix,
)
from crusts_index.transcript.tools import ToolUse

_RESPONSES = f"""
select {", ".join(Response.__struct_fields__)} from responses where id in (
  select id from stored_responses where {{}} and id between ?2 and ?3) order by id
"""
_OF_MESSAGE = _RESPONSES.format(same_id("message_id", "?1"))
_OF_REQUEST = _RESPONSES.format(f"message_id is null and {same_id('request_id', '?1')}")
_TOOL_USES = f"""
select {", ".join(ToolUse.__struct_fields__)} from tool_uses where id in (
  select id from stored_tool_uses
  where {same_id("use_key", "?1")} and id between ?2 and ?3) order by id
"""
# In the order of the uses: a row whose result came first has the id of that.
_READS, _TOUCHING = (", ".join(f"'{tool}'" for tool in sorted(tools)) for tools in (READS, READS | EDITS))
_TOUCHES = f"""
select u.id, u.thread_id, u.path, u.name in ({_READS}), u.read_offset, u.read_limit from tool_uses u
where u.id between ? and ? and u.path is not null and u.name in ({_TOUCHING})
order by u.use_record_id, case when u.id >= u.use_record_id then u.id else (
  select b.id from stored_records r join blocks b on b.id >= r.id and b.id < r.id + r.length
  where r.id = u.use_record_id and b.tool_use_id = u.id and b.kind = 'tool_use') end
"""
_FIRST_PLACE = """
select thread, branch, epoch from stored_records
where substr(uuid, 1, 4) = substr(?1, 1, 4) and uuid = ?1 and id between ?2 and ?3 order by id limit 1
"""
_LAST_PLACE = _FIRST_PLACE.replace("order by id", "order by id desc")
_OPENER = """
select 1 from stored_records
where flags & 1 and substr(parent_uuid, 1, 4) is substr(?1, 1, 4) and parent_uuid is ?1 and thread = ?2
  and id between ?3 and ?4 limit 1
"""


Connect = Callable[[], sqlite3.Connection]
"""Gives the connection through which this process reads the store: one for all transcripts, opened for the first that
has a past. To open one takes longer than what a transcript asks of it."""


class StoredPast:
    """The `Past` of a transcript, from the store, read only as it is asked for."""

    def __init__(self, connection: sqlite3.Connection, transcript_id: int) -> None:
        self._connection = connection
        self._id = transcript_id
        self._range = bounds(transcript_id)

    def state(self) -> str:
        """The state that the fold left."""
        row = self._one("select state from fold_states where transcript_id = ?", self._id)
        return str(row[0]) if row else "[]"

    def place(self, uuid: Uuid) -> Place | None:
        return self._place(_LAST_PLACE if isinstance(uuid, str) else _FIRST_PLACE, uuid, *self._range)

    def place_at(self, record_id: int) -> Place | None:
        return self._place("select thread, branch, epoch from stored_records where id = ?", record_id)

    def has_opener(self, parent: Uuid | None, thread: int) -> bool:
        return self._one(_OPENER, parent, thread, *self._range) is not None

    def responses(self, request_id: str | None, message_id: str | None) -> list[Row]:
        if message_id:
            named = cut_prefix(message_id, MESSAGE_PREFIX)
            return self._connection.execute(_OF_MESSAGE, (named, *self._range)).fetchall()
        return self._connection.execute(_OF_REQUEST, (cut_prefix(request_id, REQUEST_PREFIX), *self._range)).fetchall()

    def tool_uses(self, tool_use_id: str) -> list[Row]:
        named = cut_prefix(tool_use_id, TOOL_USE_PREFIX)
        return self._connection.execute(_TOOL_USES, (named, *self._range)).fetchall()

    def prior_read(self, thread: int, path: str, offset: object, limit: object) -> int | None:
        return self._touches.get((thread, veiled(path), veiled(offset), veiled(limit)))

    def prior_edit(self, thread: int, path: str) -> int | None:
        return self._touches.get((thread, veiled(path)))

    @cached_property
    def _touches(self) -> dict[tuple[object, ...], int]:
        """Of each Read and each edited path the latest one. Asked for once: an index on paths would cost more.

        By what stands for a path where no text is kept, since it may have been so for some of the time.
        """
        found: dict[tuple[object, ...], int] = {}
        for use, thread, path, is_read, offset, limit in self._connection.execute(_TOUCHES, self._range):
            path = veiled(path)
            found[(thread, path, veiled(offset), veiled(limit)) if is_read else (thread, path)] = use
        return found

    def _place(self, sql: str, *values: object) -> Place | None:
        row = self._one(sql, *values)
        return Place(*row) if row else None

    def _one(self, sql: str, *values: object) -> Row | None:
        return self._connection.execute(sql, values).fetchone()  # type: ignore[no-any-return]
