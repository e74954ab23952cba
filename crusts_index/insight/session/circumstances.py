"""What stands beside a session's messages: loads, attachments, `/context` reports, surroundings, threads."""

from __future__ import annotations

from crusts_index.insight.session.facts import Attachment, ContextReport, Surrounding
from crusts_index.insight.session.parts import names_in
from crusts_index.jsontext import loads
from crusts_index.rows.session import SessionAttachment, SessionLoad, SessionThread
from crusts_index.rows.window import SessionReport, SessionSurrounding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Session
    from crusts_index.insight.session.parts import Part
    from crusts_index.rows import Fetch
    from crusts_index.rows.reports import Calibration
    from crusts_index.rows.trend import TrendReport
    from crusts_index.rows.window import SessionBlock

    Identity = tuple[str, str, str | None, str | None]


def loads_of(fetch: Fetch, parts: Sequence[Part]) -> list[SessionLoad]:
    """The deferred tools that were loaded, in log order."""
    return [
        row._replace(message=part.message(row.message))
        for part in parts
        for row in part.kept(fetch(SessionLoad, transcript=part.transcript))
    ]


def attachments_of(fetch: Fetch, parts: Sequence[Part]) -> list[Attachment]:
    """The attachments, in log order."""
    return [
        Attachment(
            record_id=row.record_id,
            message=part.message(row.message),
            type=row.type,
            name=row.name,
            event=row.event,
            added=names_in(row.added),
            removed=names_in(row.removed),
        )
        for part in parts
        for row in part.kept(fetch(SessionAttachment, transcript=part.transcript))
    ]


def reports_of(fetch: Fetch, session_id: str, blocks: Sequence[tuple[Part, list[SessionBlock]]]) -> list[ContextReport]:
    """What `/context` said within the cut, or the user pasted."""
    reports = fetch(SessionReport, session=session_id)
    if not reports:
        return []
    kept = {block.record_id for _, rows in blocks for block in rows}
    return [report_of(row) for row in reports if row.id < 0 or row.id in kept]


def report_of(row: SessionReport | TrendReport | Calibration) -> ContextReport:
    """What `/context` said, with its rows apart."""
    return ContextReport(
        id=row.id,
        time_ms=row.time_ms,
        model=row.model,
        version=row.version,
        used_tokens=row.used_tokens,
        window_tokens=row.window_tokens,
        rows=tuple((str(label), int(tokens), bool(deferred)) for label, tokens, deferred in loads(row.rows)),
    )


def surroundings_of(fetch: Fetch, session: Session, first_call_ms: int | None) -> tuple[list[Surrounding], bool]:
    """What is known to have surrounded the session, and whether that is all there was (D11)."""
    if first_call_ms is None:
        return [], False
    rows = fetch(
        SessionSurrounding,
        project=session.project,
        first_call_ms=first_call_ms,
        last_ms=session.last_ms if session.last_ms is not None else first_call_ms,
    )
    seen: set[Identity] = set()
    held: dict[Identity, Surrounding] = {}
    for row in rows:
        which = row.kind, row.path, row.name, row.project_path
        seen.add(which)
        if row.holds:  # of several, the one last changed
            detail = loads(row.detail) if row.detail else {}
            held[which] = Surrounding(row.kind, row.path, row.name, row.project_path, row.tokens or 0, detail)
    return list(held.values()), bool(held) and len(held) == len(seen)


def threads_of(fetch: Fetch, session_id: str, parts: Sequence[Part]) -> list[SessionThread]:
    """All threads of the session's transcripts, those of the last part up to the cut."""
    last = parts[-1] if parts else None
    return fetch(
        SessionThread,
        session=session_id,
        transcript=last.transcript if last else None,
        cut=last.cut if last else None,
    )
