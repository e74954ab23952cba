"""What stands beside a session's messages: loads, attachments, `/context` reports, surroundings, threads."""

from __future__ import annotations

from crusts_index.insight.session.facts import Attachment, ContextReport, Surrounding
from crusts_index.insight.session.parts import names_in
from crusts_index.jsontext import loads
from crusts_index.rows.session import SessionAttachment, SessionLoad, SessionThread
from crusts_index.rows.window import SessionReport, SessionSurrounding
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


class Around(NamedTuple):
    """What is known to have surrounded a session, and whether that is all there was (D11). `settings` are the settings
    files that held; of one that was first seen later, as it was then: that is nearer to what held than nothing.
    """

    files: list[Surrounding]
    is_complete: bool
    settings: list[Surrounding]


def surroundings_of(fetch: Fetch, session: Session, first_call_ms: int | None) -> Around:
    """What surrounded the session, as far as it is known."""
    if first_call_ms is None:
        return Around([], is_complete=False, settings=[])
    return around_rows(
        fetch(
            SessionSurrounding,
            project=session.project,
            first_call_ms=first_call_ms,
            last_ms=session.last_ms if session.last_ms is not None else first_call_ms,
        )
    )


def around_rows(rows: Iterable[SessionSurrounding]) -> Around:
    """The same of rows that say whether each file held."""
    return around_of(
        (
            (row.kind, row.path, row.name, row.project_path),
            Surrounding(
                row.kind,
                row.path,
                row.name,
                row.project_path,
                row.tokens or 0,
                loads(row.detail) if row.detail else {},
            ),
            row.holds == 1,
        )
        for row in rows
    )


def around_of(files: Iterable[tuple[Identity, Surrounding, bool]]) -> Around:
    """What surrounded a session, of files in the order in which they were changed: each with whether it held then.

    Settings are in no context, so that they changed since makes nothing of it unknown.
    """
    held: dict[Identity, Surrounding] = {}
    later: dict[Identity, Surrounding] = {}
    for which, file, holds in files:
        if holds:  # of several, the one last changed
            held[which] = file
        else:
            later.setdefault(which, file)
    inside = [which for which in held if which[0] != "settings"]
    is_complete = bool(inside) and all(which in held for which in later if which[0] != "settings")
    settings = [file for which, file in {**later, **held}.items() if which[0] == "settings"]
    return Around(list(held.values()), is_complete, settings)


def threads_of(fetch: Fetch, session_id: str, parts: Sequence[Part]) -> list[SessionThread]:
    """All threads of the session's transcripts, those of the last part up to the cut."""
    last = parts[-1] if parts else None
    return fetch(
        SessionThread,
        session=session_id,
        transcript=last.transcript if last else None,
        cut=last.cut if last else None,
    )
