"""Takes sessions out of the store for good, and remembers not to read them in again (D16)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from crusts_index.index.calls import release_calls, settle_calls
from crusts_index.index.extent import bounds, delete_rows
from crusts_index.index.habits import settle_habits
from crusts_index.index.owners import settle_owners, shared_uses
from crusts_index.index.sums import settle_sums
from crusts_index.index.vocabulary import sweep_words
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import checkpoint, transaction
from crusts_index.store.promises import SESSIONS, promise
from crusts_index.store.when import now_ms

_TRANSCRIPTS = """
select t.id, t.path, t.kind, t.stem, t.parent_session, s.session_id
from sessions s join transcripts t on t.session_id = s.id
where s.session_id in (select value from json_each(?))
"""
_SHARED = """
select count(*) from (
  select r.call_id from responses r
  where r.call_id in (
    select call_id from responses where transcript_id in (select value from json_each(:ids)))
  group by r.call_id
  having sum(r.transcript_id not in (select value from json_each(:ids))) > 0
)
"""
_OWNED = """
select count(*) from api_calls where id in (
  select call_id from responses where transcript_id in (select value from json_each(:ids)))
"""
_RETURNED = "select s.session_id from forgotten f join sessions s on s.session_id = f.session_id"


class Forgotten(NamedTuple):
    """What was taken out. `shared_calls` are API calls that other sessions have too: they stay with those."""

    sessions: list[str]
    transcripts: list[int]
    records: int
    calls: int
    shared_calls: int


def forget(store: sqlite3.Connection, sessions: Sequence[str], before_ms: int | None = None) -> Forgotten:
    """Take all rows of these sessions out, in one transaction; what others share with them is settled again.

    `before_ms` = what payloads told before then goes too, of limits and of sessions that the store does not know. The
    ids are remembered, of sessions that the store does not know too; that nothing beside the store tells of them
    either is promised.
    """
    store.execute("pragma secure_delete = on")  # what is deleted is overwritten
    with transaction(store):
        done = _forget(store, sessions)
        if before_ms is not None:
            store.execute("delete from limit_samples where time_ms < ?", (before_ms,))
            store.execute(
                "delete from payload_facts where time_ms < ? and session_id not in (select session_id from sessions)",
                (before_ms,),
            )
        return done


def forget_returned(store: sqlite3.Connection) -> None:
    """Take out again what was read of a forgotten session: only its records could tell whose it was."""
    if store.execute("select 1 from forgotten limit 1").fetchone() is None:
        return
    returned = [row[0] for row in store.execute(_RETURNED)]
    if returned:
        forget(store, returned)


def compact(store: sqlite3.Connection) -> str | None:
    """Write the store again without free pages or log; says what stood in the way, if anything did."""
    said = None
    store.execute("pragma secure_delete = on")
    store.execute("pragma temp_store = file")  # a store of gigabytes is not to be copied into memory
    try:
        store.execute("vacuum")
    except sqlite3.Error as error:
        said = f"the store could not be made smaller ({error}); what was deleted is overwritten all the same"
    if not checkpoint(store, timeout=5.0):
        return (
            "another program reads the store just now; its log still holds the old pages until the next `crusts index`"
        )
    return said


def _forget(store: sqlite3.Connection, sessions: Sequence[str]) -> Forgotten:
    rows = store.execute(_TRANSCRIPTS, (json.dumps(list(sessions)),)).fetchall()
    transcripts = [row[0] for row in rows]
    ids = {"ids": json.dumps(transcripts)}
    (shared,), (calls,) = (store.execute(sql, ids).fetchone() for sql in (_SHARED, _OWNED))
    responses: set[int] = set()
    uses: set[str] = set()
    records = 0
    for transcript in transcripts:
        records += take_out(store, transcript, responses, uses)
        store.execute("delete from transcripts where id = ?", (transcript,))
    settle_calls(store, responses, responses)
    settle_owners(store, uses)
    settle_sums(store)
    sweep_words(store)
    _drop_sessions(store, sessions)
    settle_habits(store)
    names = {*sessions, *(row[1] for row in rows if not _is_named(*row[2:]))}
    now = now_ms()
    store.executemany("insert or ignore into forgotten values (?, ?)", [(name, now) for name in sorted(names)])
    promise(store, SESSIONS)
    return Forgotten(list(sessions), transcripts, records, calls, shared)


def _is_named(kind: str, stem: str, parent: str | None, session: str) -> bool:
    """Whether the file's place tells its session; else its path is remembered beside the session's id."""
    return parent == session or (kind == "main" and stem == session)


def take_out(store: sqlite3.Connection, transcript: int, responses: set[int], uses: set[str]) -> int:
    """Delete the rows that a transcript has; adds what is to be settled, gives back the number of its records."""
    low, high = bounds(transcript)
    uses.update(shared_uses(store, low, high))
    responses |= release_calls(store, low, high, retain=False)
    retained = store.execute(
        "select id from stored_responses where id < 0 and thread_id >> 20 = ?", (transcript,)
    ).fetchall()
    for (one,) in retained:
        responses |= release_calls(store, one, one, retain=False)
    records = store.execute("select count(*) from stored_records where id between ? and ?", (low, high)).fetchone()
    delete_rows(store, transcript)
    return int(records[0])


def _drop_sessions(store: sqlite3.Connection, sessions: Sequence[str]) -> None:
    """The sessions themselves, what was pasted for them or told of them, and projects that have none left."""
    named = (json.dumps(list(sessions)),)
    mine = "select id from sessions where session_id in (select value from json_each(?))"
    store.execute(f"delete from context_reports where session_id in ({mine})", named)
    store.execute("delete from payload_facts where session_id in (select value from json_each(?))", named)
    projects = store.execute(
        f"select distinct p.id, p.path from sessions s join projects p on p.id = s.project_id where s.id in ({mine})",
        named,
    ).fetchall()
    store.execute("delete from sessions where session_id in (select value from json_each(?))", named)
    # A model that no list knows was theirs alone, if no call is left.
    store.execute(
        "delete from models where priced = 0 and not exists (select 1 from api_calls c where c.model = models.model)"
    )
    for project, path in projects:
        if store.execute("select 1 from sessions where project_id = ?", (project,)).fetchone() is None:
            store.execute("delete from surroundings where project_path = ?", (path,))
            store.execute("delete from projects where id = ?", (project,))
    # What surrounds all projects surrounds none any more.
    if store.execute("select 1 from sessions").fetchone() is None:
        store.execute("delete from surroundings")
