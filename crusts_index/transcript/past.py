"""What an earlier run already knows of a transcript: asked by the fold when it goes on from an offset."""

from __future__ import annotations

from crusts_index.transcript.rows import Row
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

Uuid = bytes | str
"""A uuid as kept: 16 bytes, or the text itself where it is no well-formed uuid."""


class Place(NamedTuple):
    """Where a record stands."""

    thread: int
    branch: int
    epoch: int


class Past(Protocol):
    """Facts of a transcript before the offset at which reading goes on."""

    def place(self, uuid: Uuid) -> Place | None:
        """Where the record of that uuid stands, or None if there is none.

        Of several the first, which alone counts; the last of those that bear one text that is no uuid.
        """

    def place_at(self, record_id: int) -> Place | None:
        """Where the record of that id stands."""

    def has_opener(self, parent: Uuid | None, thread: int) -> bool:
        """Whether a prompt or boundary of that thread already has that parent."""

    def responses(self, request_id: str | None, message_id: str | None) -> list[Row]:
        """Rows (columns of `responses`) that bear the message id; without one, the request id and no message id."""

    def tool_uses(self, tool_use_id: str) -> list[Row]:
        """Rows (columns of `tool_uses`) of that tool use id."""

    def prior_read(self, thread: int, path: str, offset: object, limit: object) -> int | None:
        """Id of the latest Read of exactly that in the thread."""

    def prior_edit(self, thread: int, path: str) -> int | None:
        """Id of the latest edit of the path in the thread."""


class NoPast:
    """The past of a transcript that is read from its beginning."""

    def place(self, uuid: Uuid) -> Place | None:
        return None

    def place_at(self, record_id: int) -> Place | None:
        return None

    def has_opener(self, parent: Uuid | None, thread: int) -> bool:
        return False

    def responses(self, request_id: str | None, message_id: str | None) -> list[Row]:
        return []

    def tool_uses(self, tool_use_id: str) -> list[Row]:
        return []

    def prior_read(self, thread: int, path: str, offset: object, limit: object) -> int | None:
        return None

    def prior_edit(self, thread: int, path: str) -> int | None:
        return None
