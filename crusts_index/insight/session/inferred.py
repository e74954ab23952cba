"""Compactions of transcripts without any marker: by a summary, or by a drop of the context (D10)."""

from __future__ import annotations

from itertools import pairwise

from crusts_index.insight.session.facts import Compaction
from crusts_index.windows import DROP_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Call, Removal
    from crusts_index.insight.session.parts import Part
    from crusts_index.insight.session.path import Path
    from crusts_index.rows.window import SessionBlock


def infer_compactions(
    rows: list[tuple[Part, list[SessionBlock]]], calls: list[Call], removals: list[Removal], path: Path
) -> list[Compaction]:
    """The compactions that the live path shows without a boundary, in log order.

    A drop of more than 30,000 tokens between two calls counts unless something says what was taken out.
    """
    if len(rows) != 1:
        return []  # parts of a session begin with a context of their own
    part, blocks = rows[0]
    on_path = [row for row in blocks if path.holds(part.branch(row.branch), row.record_id, row.response_id)]
    live = [call for call in calls if call.on_path]
    found: list[Compaction] = []
    summaries = [row for row in on_path if row.is_summary]
    for place, row in enumerate(summaries):
        if place and summaries[place - 1].record_id == row.record_id:
            continue
        before = next((call for call in reversed(live) if call.id < row.record_id), None)
        found.append(_make(part, row, before, "summary", row))
    for before, after in pairwise(live):
        between = range(before.id, after.id)
        if before.context_tokens - after.context_tokens <= DROP_TOKENS:
            continue
        if any(one.id in between for one in found) or any(one.record_id in between for one in removals):
            continue
        start = next((row for row in reversed(on_path) if row.record_id in between and row.is_prompt), None)
        start = start or next((row for row in on_path if row.record_id >= after.id), None)
        if start is not None:
            found.append(_make(part, start, before, "heuristic", None))
    found.sort(key=lambda one: one.id)
    return [one._replace(epoch=place) for place, one in enumerate(found, 1)]


def _make(
    part: Part, row: SessionBlock, before: Call | None, detection: str, summary: SessionBlock | None
) -> Compaction:
    return Compaction(
        id=row.record_id,
        message=part.base + row.message,
        time_ms=row.time_ms,
        trigger=None,
        pre_tokens=before.context_tokens if before else None,
        post_tokens=None,
        dropped_tokens=None,
        duration_ms=None,
        focus=None,
        preserved=(),
        discovered_tools=(),
        epoch=0,
        branch=part.branch(row.branch),
        summary_record_id=summary.record_id if summary else None,
        summary_message=part.base + summary.message if summary else None,
        is_owner=True,
        on_path=True,
        detection=detection,
    )
