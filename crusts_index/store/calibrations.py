"""Keeps what the user pasted of `/context`."""

from __future__ import annotations

from crusts_index.store.driver import sqlite3
from crusts_index.store.open import transaction
from crusts_index.store.promises import note_text

_KEEP = """
insert into context_reports (id, session_id, time_ms, model, version, used_tokens, window_tokens, rows)
select min(0, ifnull((select min(id) from context_reports), 0)) - 1,
       (select id from sessions where session_id = :session), :time_ms, :model,
       (select max(last_version) from transcripts
        where session_id = (select id from sessions where session_id = :session)),
       :used, :window, :rows
"""


def keep_pasted(
    store: sqlite3.Connection,
    *,
    session: str | None,
    time_ms: int,
    used: int | None,
    window: int | None,
    said: dict[str, str | None],
    keep_text: bool,
) -> None:
    """Keep one pasted `/context` output, of a session where that is told, under an id below 0.

    `said` are its model and its rows, as JSON.
    """
    with transaction(store):
        if keep_text:
            note_text(store)
        store.execute(
            _KEEP,
            {
                "session": session,
                "time_ms": time_ms,
                "used": used,
                "window": window,
                **said,
            },
        )
