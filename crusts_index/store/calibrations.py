"""Keeps what the user pasted of `/context`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from crusts_index.store.open import transaction

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
    model: str | None,
    used: int | None,
    window: int | None,
    rows: Sequence[tuple[str, int, bool]],
) -> None:
    """Keep one pasted `/context` output, of a session where that is told, under an id below 0."""
    with transaction(store):
        store.execute(
            _KEEP,
            {
                "session": session,
                "time_ms": time_ms,
                "model": model,
                "used": used,
                "window": window,
                "rows": json.dumps([list(row) for row in rows], ensure_ascii=False),
            },
        )
