"""What stands beside a session's messages: loads, attachments, `/context` reports, surroundings, threads."""

from __future__ import annotations

from crusts_index.insight.facts import Attachment, ContextReport, Surrounding, Thread, ToolLoad
from crusts_index.insight.parts import names_in
from crusts_index.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from crusts_index.insight.facts import Fetch, Session
    from crusts_index.insight.parts import Part


def loads_of(fetch: Fetch, parts: Sequence[Part]) -> list[ToolLoad]:
    """The deferred tools that were loaded, in log order."""
    return [
        ToolLoad(row[0], part.base + row[1] if row[1] is not None else None, row[2])
        for part in parts
        for row in part.kept(fetch("session_loads", transcript=part.transcript))
    ]


def attachments_of(fetch: Fetch, parts: Sequence[Part]) -> list[Attachment]:
    """The attachments, in log order."""
    return [
        Attachment(
            *(row[0], part.base + row[1] if row[1] is not None else None, row[2], row[3], row[4]),
            *(names_in(row[5]), names_in(row[6])),
        )
        for part in parts
        for row in part.kept(fetch("session_attachments", transcript=part.transcript))
    ]


def reports_of(
    fetch: Fetch, session_id: str, rows: Sequence[tuple[Part, list[tuple[Any, ...]]]]
) -> list[ContextReport]:
    """What `/context` said within the cut, or the user pasted; `rows` are the parts' blocks."""
    reports = fetch("session_reports", session=session_id)
    if not reports:
        return []
    kept = {row[1] for _, block_rows in rows for row in block_rows}
    return [
        ContextReport._make((*row[:6], tuple((str(one[0]), int(one[1]), bool(one[2])) for one in loads(row[6]))))
        for row in reports
        if row[0] < 0 or row[0] in kept
    ]


def surroundings_of(fetch: Fetch, session: Session, first_call_ms: int | None) -> tuple[list[Surrounding], bool]:
    """What is known to have surrounded the session, and whether that is all there was (D11)."""
    if first_call_ms is None:
        return [], False
    rows = fetch(
        "session_surroundings",
        project=session.project,
        first_call_ms=first_call_ms,
        last_ms=session.last_ms if session.last_ms is not None else first_call_ms,
    )
    seen: set[tuple[Any, ...]] = set()
    held: dict[tuple[Any, ...], Surrounding] = {}
    for kind, path, name, project, tokens, detail, _, holds in rows:
        seen.add((kind, path, name, project))
        if holds:  # of several, the one last changed
            found = loads(detail) if detail else {}
            held[kind, path, name, project] = Surrounding(kind, path, name, project, tokens or 0, found)
    return list(held.values()), bool(held) and len(held) == len(seen)


def threads_of(fetch: Fetch, session_id: str, parts: Sequence[Part]) -> list[Thread]:
    """All threads of the session's transcripts, those of the last part up to the cut."""
    last = parts[-1] if parts else None
    rows = fetch(
        "session_threads",
        session=session_id,
        transcript=last.transcript if last else None,
        cut=last.cut if last else None,
    )
    return [Thread(*row) for row in rows]
