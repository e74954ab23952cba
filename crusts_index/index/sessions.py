"""Brings sessions up to date: which session a transcript is of, its project and the folder that its worktree belongs
to, and which transcripts it shows (D3, D22)."""

from __future__ import annotations

from collections.abc import Iterable

from crusts_index.folders import entered_repo, last_part, project_path, worktree_repo
from crusts_index.index.find import Seen
from crusts_index.jsontext import loads_shallow
from crusts_index.store.driver import sqlite3
from crusts_index.transcript.places import uuid_key
from crusts_index.transcript.spelling import camel
from crusts_index.tuples import NamedTuple

# The first cwd that a session names, main transcripts before subagents'.
_PROJECT = """
select coalesce(first_cwd, folder), first_cwd from transcripts where session_id = ?
order by first_cwd is null, kind <> 'main', first_ms is null, first_ms, path limit 1
"""

# What its main transcripts say of the worktrees that it entered, the last one first.
_ENTERED = """
select m.value from transcripts t join meta_records m on m.transcript_id = t.id and m.key = 'worktree-state'
where t.session_id = ? and t.kind = 'main' order by t.first_ms desc, t.path desc
"""

_MAIN = """
select id, gone, first_ms, last_message_ms, path from transcripts where session_id = ? and kind = 'main' order by path
"""

_SHARES = """
select 1 from stored_records a
where a.id >= :one << 40 and a.id < (:one + 1) << 40 and a.thread = 0 and a.uuid is not null and a.flags & 32 = 0
  and exists (
    select 1 from stored_records b
    where substr(b.uuid, 1, 4) = substr(a.uuid, 1, 4) and b.uuid = a.uuid
      and b.id >= :other << 40 and b.id < (:other + 1) << 40 and b.thread = 0)
limit 1
"""

_MISSES = """
select 1 from stored_records a
where a.id >= :one << 40 and a.id < (:one + 1) << 40 and a.uuid is not null and not exists (
  select 1 from stored_records b
  where substr(b.uuid, 1, 4) = substr(a.uuid, 1, 4) and b.uuid = a.uuid
    and b.id >= :other << 40 and b.id < (:other + 1) << 40)
limit 1
"""


class _Main(NamedTuple):
    id: int
    gone: int
    first_ms: int | None
    last_message_ms: int | None
    path: str


def settle_sessions(store: sqlite3.Connection, transcripts: Iterable[int]) -> list[int]:
    """Give each touched transcript its session; gives back those whose session changed from another one."""
    touched: set[int] = set()
    changed: list[int] = []
    changed_sessions: set[int] = set()
    for transcript in transcripts:
        row = store.execute(
            "select kind, stem, parent_session, record_session, session_id from transcripts where id = ?",
            (transcript,),
        ).fetchone()
        kind, stem, parent, record_session, before = row
        session = _session_row(store, _session_of(kind, stem, parent, record_session))
        if session != before:
            store.execute("update transcripts set session_id = ? where id = ?", (session, transcript))
            if before is not None:
                changed.append(transcript)
                changed_sessions.add(before)
                touched.add(before)
        touched.add(session)
    left = {_settle_project(store, session) for session in touched}
    for session in touched:
        settle_view(store, session)
    _drop_unused(store, changed_sessions, left)
    return changed


def _drop_unused(store: sqlite3.Connection, sessions: set[int], projects: set[int | None]) -> None:
    """Sessions and projects that turned out to be others go, unless something else names them."""
    for session in sessions:
        row = store.execute(
            "delete from sessions where id = ?1 and not exists (select 1 from transcripts where session_id = ?1)"
            " and not exists (select 1 from context_reports where session_id = ?1) returning project_id",
            (session,),
        ).fetchone()
        projects |= set(row or ())
    for project in projects - {None}:
        store.execute(
            "delete from projects where id = ?1 and not exists (select 1 from sessions where project_id = ?1)",
            (project,),
        )


def placed_session(seen: Seen) -> str | None:
    """The session that a transcript's place tells; None where only its records can (D3)."""
    if seen.kind != "main":
        return seen.parent_session
    return seen.stem if _is_uuid(seen.stem) else None


def _is_uuid(stem: str) -> bool:
    return isinstance(uuid_key(stem), bytes)


def _session_of(kind: str, stem: str, parent: str | None, record_session: str | None) -> str:
    if kind == "main":
        return stem if _is_uuid(stem) else record_session or stem
    return parent or record_session or stem


def _session_row(store: sqlite3.Connection, name: str) -> int:
    row = store.execute("select id from sessions where session_id = ?", (name,)).fetchone()
    if row is None:
        row = store.execute("insert into sessions (session_id) values (?) returning id", (name,)).fetchone()
    return int(row[0])


def _settle_project(store: sqlite3.Connection, session: int) -> int | None:
    """Give a session its project; gives back the one it had before, if that was another."""
    row = store.execute(_PROJECT, (session,)).fetchone()
    if row is None:
        return None
    _settle_repo(store, session, row[1])
    path = project_path(row[0])
    project = store.execute("select id from projects where path = ?", (path,)).fetchone()
    if project is None:
        named = (path, last_part(path))
        project = store.execute("insert into projects (path, name) values (?, ?) returning id", named).fetchone()
        if path != row[0]:
            _merge_spellings(store, path, project[0])
    (before,) = store.execute("select project_id from sessions where id = ?", (session,)).fetchone()
    if before == project[0]:
        return None
    store.execute("update sessions set project_id = ? where id = ?", (project[0], session))
    return before  # type: ignore[no-any-return]


def _settle_repo(store: sqlite3.Connection, session: int, first_cwd: str | None) -> None:
    """Give a session the folder that its worktree belongs to: by where it began, else by the one that it entered."""
    repo = worktree_repo(first_cwd) if first_cwd else None
    if repo is None:
        entered = store.execute(_ENTERED, (session,)).fetchall()
        repo = next(filter(None, map(told_repo, (value for (value,) in entered))), None)
    store.execute("update sessions set repo = ?1 where id = ?2 and repo is not ?1", (repo, session))


def told_repo(value: str | None) -> str | None:
    """The folder that the worktree of a `worktree-state` record belongs to; None where it does not say (D22)."""
    try:
        said = loads_shallow(value or "null")
    except ValueError:
        return None
    worktree = camel(said).get("worktreeSession") if isinstance(said, dict) else None
    if not isinstance(worktree, dict):
        return None
    worktree = camel(worktree)
    return entered_repo(worktree.get("worktreePath"), worktree.get("originalCwd"))


def _merge_spellings(store: sqlite3.Connection, path: str, project: int) -> None:
    """Give a project the sessions of others that are its folder in another spelling, from before there was one."""
    for other, spelled in store.execute("select id, path from projects where path <> ?", (path,)).fetchall():
        if project_path(spelled) == path:
            store.execute("update sessions set project_id = ? where project_id = ?", (project, other))
            store.execute("delete from projects where id = ?", (other,))


def settle_view(store: sqlite3.Connection, session: int) -> None:
    """Of main transcripts that share uuids, the one with the latest message is shown; the others only add (D3)."""
    mains = [_Main(*row) for row in store.execute(_MAIN, (session,))]
    if len(mains) == 1:
        store.execute(
            "update transcripts set in_view = 1, superseded = 0 where id = ? and (in_view = 0 or superseded = 1)",
            (mains[0].id,),
        )
        return
    for group in _groups(store, mains):
        shown = max(group, key=lambda main: (main.last_message_ms or 0, -main.gone, [-ord(c) for c in main.path]))
        for main in group:
            superseded = main.gone and any(not _misses(store, main, other) for other in group if other is not main)
            store.execute(
                "update transcripts set in_view = ?, superseded = ? where id = ?",
                (int(main is shown), int(bool(superseded) and main is not shown), main.id),
            )


def _groups(store: sqlite3.Connection, mains: list[_Main]) -> list[list[_Main]]:
    groups: list[list[_Main]] = []
    for main in mains:
        sharing = [group for group in groups if any(_shares(store, main, other) for other in group)]
        merged = [main, *(other for group in sharing for other in group)]
        groups = [group for group in groups if group not in sharing] + [merged]
    return groups


def _shares(store: sqlite3.Connection, one: _Main, other: _Main) -> bool:
    return store.execute(_SHARES, {"one": one.id, "other": other.id}).fetchone() is not None


def _misses(store: sqlite3.Connection, one: _Main, other: _Main) -> bool:
    return store.execute(_MISSES, {"one": one.id, "other": other.id}).fetchone() is not None
