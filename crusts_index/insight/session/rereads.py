"""Which reads of a file brought nothing new, and which of those have an excuse (D13)."""

from __future__ import annotations

from crusts_index.tools import EDITS, READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import Facts, ToolUse
    from crusts_index.rows.session import SessionOtherRead

COMPACTED = "first read since a compaction dropped the earlier one"
TAKEN_OUT = "the earlier result had been taken out of the context"
CHANGED = "the file was changed outside the agent"
NO_USE = "the earlier result was an error, a stub or cut short"
OTHER_THREAD = "the earlier read was another agent's"


class Reread(NamedTuple):
    """A read of what the read `prior` had already brought; `excuse` says why it is no waste, if it is none."""

    use: ToolUse
    prior: ToolUse | None
    excuse: str | None


def find_rereads(facts: Facts, elsewhere: Iterable[SessionOtherRead] = ()) -> list[Reread]:
    """The re-reads among the reads in the window, in log order: same path, offset and limit, no edit in between.

    A failed edit is none. `elsewhere`: the reads that the session's other threads made; one of those that brought the
    same before is an excuse.
    """
    emptied = {one.tool_use_row for one in facts.removals if one.on_path}
    others: dict[tuple[object, ...], int] = {}
    for read in elsewhere:
        if read.use_ms is not None and read.result_hash is not None:
            key = (read.path, read.read_offset, read.read_limit, read.result_hash)
            others[key] = min(read.use_ms, others.get(key, read.use_ms))
    last: dict[str, dict[tuple[object, ...], ToolUse]] = {}
    found = []
    for use in facts.tool_uses:
        if not use.on_path or not use.path:
            continue
        if use.name in EDITS and not use.is_error:
            last.pop(use.path, None)
        elif use.name in READS and use.result_record_id is not None:
            reads = last.setdefault(use.path, {})
            prior = reads.get((use.read_offset, use.read_limit))
            if use.in_window and prior is not None:
                found.append(Reread(use, prior, _excuse(use, prior, prior.id in emptied)))
            elif use.in_window:
                before = others.get((use.path, use.read_offset, use.read_limit, use.result_hash))
                if before is not None and use.use_ms is not None and before < use.use_ms:
                    found.append(Reread(use, None, OTHER_THREAD))
            reads[use.read_offset, use.read_limit] = use
    return found


def _excuse(use: ToolUse, prior: ToolUse, emptied: bool) -> str | None:
    if not prior.in_window:
        return TAKEN_OUT if emptied else COMPACTED
    if prior.is_error or prior.is_stub or prior.is_cut:
        return NO_USE
    hashes = (use.result_hash, prior.result_hash)
    # A stub says itself that the file is as it was.
    if not use.is_stub and None not in hashes and hashes[0] != hashes[1]:
        return CHANGED
    return None
