"""What the store knows of a transcript before its offset, asked for when reading goes on from there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cached_property

from crusts_index.index.privacy import veiled
from crusts_index.transcript.past import Place, Uuid
from crusts_index.transcript.rows import COLUMNS, RECORD_BITS, THREAD_BITS, Row, thread_id

_RESPONSES = ", ".join(COLUMNS["responses"])
_TOOL_USES = ", ".join(COLUMNS["tool_uses"])
# In the order of the uses: a row whose result came first has the id of that.
_TOUCHES = """
select u.id, u.thread_id, u.path, u.name = 'Read', u.read_offset, u.read_limit from tool_uses u
where u.id between ? and ? and u.path is not null and u.name in ('Read', 'Edit', 'Write', 'MultiEdit', 'NotebookEdit')
order by u.use_record_id, case when u.id >= u.use_record_id then u.id else (
  select b.id from blocks b where b.record_id = u.use_record_id and b.tool_use_id = u.id and b.kind = 'tool_use') end
"""
_FIRST_PLACE = "select thread_id, branch, epoch from records where transcript_id = ? and uuid = ? order by id limit 1"
_LAST_PLACE = _FIRST_PLACE.replace("order by id", "order by id desc")
_NUMBER = (1 << THREAD_BITS) - 1


Connect = Callable[[], sqlite3.Connection]
"""Gives the connection through which this process reads the store: one for all transcripts, opened for the first that
has a past. To open one takes longer than what a transcript asks of it."""


class StoredPast:
    """The `Past` of a transcript, from the store, read only as it is asked for."""

    def __init__(self, connection: sqlite3.Connection, transcript_id: int) -> None:
        self._connection = connection
        self._id = transcript_id
        self._range = (transcript_id << RECORD_BITS, (transcript_id + 1) << RECORD_BITS)

    def state(self) -> str:
        """The state that the fold left."""
        row = self._one("select state from fold_states where transcript_id = ?", self._id)
        return str(row[0]) if row else "[]"

    def place(self, uuid: Uuid) -> Place | None:
        return self._place(_LAST_PLACE if isinstance(uuid, str) else _FIRST_PLACE, self._id, uuid)

    def place_at(self, record_id: int) -> Place | None:
        return self._place("select thread_id, branch, epoch from records where id = ?", record_id)

    def has_opener(self, parent: Uuid | None, thread: int) -> bool:
        row = self._one(
            "select 1 from records where transcript_id = ? and parent_uuid is ? and opens = 1 and thread_id = ?"
            " limit 1",
            self._id,
            parent,
            thread_id(self._id, thread),
        )
        return row is not None

    def responses(self, request_id: str | None, message_id: str | None) -> list[Row]:
        which = "message_id = ?" if message_id else "message_id is null and request_id = ?"
        return self._connection.execute(
            f"select {_RESPONSES} from responses where {which} and id between ? and ? order by id",
            (message_id or request_id, *self._range),
        ).fetchall()

    def tool_uses(self, tool_use_id: str) -> list[Row]:
        return self._connection.execute(
            f"select {_TOOL_USES} from tool_uses where tool_use_id = ? and transcript_id = ? order by id",
            (tool_use_id, self._id),
        ).fetchall()

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
        return Place(row[0] & _NUMBER, row[1], row[2]) if row else None

    def _one(self, sql: str, *values: object) -> Row | None:
        return self._connection.execute(sql, values).fetchone()  # type: ignore[no-any-return]
