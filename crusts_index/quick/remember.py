"""Keeps what a payload tells and no transcript says (D20), beside the answer that the payload asks for.

Nobody waits for it: it comes after the answer, only where the store says something else, in one short transaction, and
is given up where the store is not there, is of another revision, is being written to, or cannot take it. The next
payload says the same again.
"""

import os
import sys

from crusts_index.errors import CrustsError
from crusts_index.quick import target
from crusts_index.store.config import keeps_text
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import open_store, transaction
from crusts_index.store.when import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.claude.payloads import Told
    from crusts_index.store.settings import Settings

PATIENCE = 0.05
"""Seconds to wait for another writer."""
LEAST_SECONDS = 0.3
"""What must be left of the time that the process has."""
MOST_LOG = 4 << 20
"""Bytes of SQLite's log, which only an index moves into the store: behind more than this the index comes first."""
SAMPLE_MS = 300_000
"""A limit that moves slowly is told again after so long."""
SAMPLE_STEP = 1.0
"""Per cent points that are told at once."""
_MINUTE_MS = 60_000

_TEXTS = ("repo", "worktree", "branch", "pr")
"""What is not kept where no text may be (D16)."""
_FACTS = ("window_tokens", "cache_ttl", "cache_expires_ms", "worktree_of", *_TEXTS)
_STORED = """
select window_tokens, cache_ttl, cache_expires_ms, worktree_of, repo, worktree, branch, pr
from payload_facts where session_id = ? and model = ?
"""
_FORGOTTEN = "select 1 from forgotten where session_id = ?"
_KEEP = """
insert into payload_facts
  (session_id, model, time_ms, window_tokens, cache_ttl, cache_expires_ms, worktree_of, repo, worktree, branch, pr)
values (:session_id, :model, :time_ms, :window_tokens, :cache_ttl, :cache_expires_ms, :worktree_of, :repo, :worktree,
  :branch, :pr)
on conflict (session_id, model) do update set
  time_ms = excluded.time_ms,
  window_tokens = coalesce(excluded.window_tokens, window_tokens),
  cache_ttl = coalesce(excluded.cache_ttl, cache_ttl),
  cache_expires_ms = coalesce(excluded.cache_expires_ms, cache_expires_ms),
  worktree_of = coalesce(excluded.worktree_of, worktree_of),
  repo = coalesce(excluded.repo, repo),
  worktree = coalesce(excluded.worktree, worktree),
  branch = coalesce(excluded.branch, branch),
  pr = coalesce(excluded.pr, pr)
"""
_SAMPLE = "select time_ms, used_percentage, resets_ms from limit_samples where name = ? order by time_ms desc limit 1"
_KEEP_SAMPLE = "insert or replace into limit_samples (name, time_ms, used_percentage, resets_ms) values (?, ?, ?, ?)"


def remember(settings: "Settings", told: "Told", store: "sqlite3.Connection") -> None:
    """Keep what is new of it; `store` is the connection that the answer was read by, and stays open.

    What was said on stdout is passed on first. Never raises for what may be wrong with a store.
    """
    keep_text, now = keeps_text(settings.config), now_ms()
    try:
        if _news(store, told, now, keep_text=keep_text):
            sys.stdout.flush()
            if target.left(LEAST_SECONDS) >= LEAST_SECONDS and _log_bytes(settings.db) <= MOST_LOG:
                _write(settings.db, told, now, keep_text=keep_text)
    except (CrustsError, sqlite3.Error, OSError):
        return


def _write(db: str, told: "Told", now: int, *, keep_text: bool) -> None:
    # The reader's connection is open still, so that to close this one moves no log into the store.
    store = open_store(db, write=True, timeout=PATIENCE)
    try:
        store.execute("pragma wal_autocheckpoint = 0")
        with transaction(store):
            # Another may have kept the same meanwhile.
            for statement, values in _news(store, told, now, keep_text=keep_text):
                store.execute(statement, values)
                if statement is _KEEP and any(values[name] for name in _TEXTS):
                    from crusts_index.store.promises import note_text

                    note_text(store)
    finally:
        store.close()


def _news(store: "sqlite3.Connection", told: "Told", now: int, *, keep_text: bool) -> "list[tuple[str, Any]]":
    """The statements that keep what the store does not say already."""
    found: list[tuple[str, Any]] = []
    if told.session_id is not None and told.model is not None:
        stored = store.execute(_STORED, (told.session_id, told.model)).fetchone()
        row = _row(told, now, keep_text=keep_text)
        if told.cache_is_expired and row["cache_expires_ms"] is None and not _is_over(stored, now):
            row["cache_expires_ms"] = now
        if _differs(row, stored) and not store.execute(_FORGOTTEN, (told.session_id,)).fetchone():
            found.append((_KEEP, row))
    for name, used, resets_ms in told.limits:
        if _has_moved(store.execute(_SAMPLE, (name,)).fetchone(), used, resets_ms, now):
            found.append((_KEEP_SAMPLE, (name, now, used, resets_ms)))
    return found


def _row(told: "Told", now: int, *, keep_text: bool) -> "dict[str, Any]":
    facts = {name: getattr(told, name) if keep_text or name not in _TEXTS else None for name in _FACTS}
    return {"session_id": told.session_id, "model": told.model, "time_ms": now, **facts}


def _is_over(stored: "tuple[Any, ...] | None", now: int) -> bool:
    """Whether it is stored that its cache expired."""
    expires_ms = stored[_FACTS.index("cache_expires_ms")] if stored else None
    return expires_ms is not None and expires_ms <= now


def _differs(row: "dict[str, Any]", stored: "tuple[Any, ...] | None") -> bool:
    """Whether the row says what is not stored; it says nothing where it has null."""
    if stored is None:
        return True
    for name, before in zip(_FACTS, stored, strict=True):
        value = row[name]
        # Every request moves the end of its cache.
        if name == "cache_expires_ms" and None not in (value, before):
            if abs(value - before) >= _MINUTE_MS:
                return True
        elif value is not None and value != before:
            return True
    return False


def _has_moved(last: "tuple[Any, ...] | None", used: float, resets_ms: int | None, now: int) -> bool:
    """Whether a limit is told anew: at once where it rose by a point, else after a while."""
    if last is None:
        return True
    last_ms, last_used, last_resets_ms = last
    is_due = now - last_ms >= SAMPLE_MS
    if resets_ms is None or last_resets_ms is None:
        return bool(abs(used - last_used) >= SAMPLE_STEP or (is_due and used != last_used))
    if abs(resets_ms - last_resets_ms) >= _MINUTE_MS:
        # A session that rests may tell of a window that is over.
        return bool(resets_ms > last_resets_ms and (is_due or abs(used - last_used) >= SAMPLE_STEP))
    # One window only fills; what is less is older.
    return bool(used - last_used >= SAMPLE_STEP or (is_due and used > last_used))


def _log_bytes(db: str) -> int:
    try:
        return os.path.getsize(f"{db}-wal")
    except OSError:
        return 0
