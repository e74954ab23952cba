"""Checks of `crusts doctor` on our side: the store, whether it is whole and up to date, and what it lacks."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import cache

from crusts_index.cli.check import FAIL, PASS, WARN, Verdict
from crusts_index.cli.checks_claude import kept_days
from crusts_index.errors import CrustsError
from crusts_index.index import leftovers
from crusts_index.index.pending import Look, look
from crusts_index.index.refresh import roots_of
from crusts_index.render import text
from crusts_index.rows.reports import NonstandardMode, StoreCounts, UnpricedModel
from crusts_index.store import private, query, search, upgrade
from crusts_index.store.locks import is_held, rebuild_lock
from crusts_index.store.open import HEAD, open_store, read_only
from crusts_index.store.settings import Settings, search_path

SOON_DAYS = 7
"""A transcript that Claude Code deletes within so many days, and that is not read, is told."""
_DAY = 86_400.0


class StoreChecks:
    """The checks over one store."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store: sqlite3.Connection | None = None
        self._counts: StoreCounts | None = None
        self._look = cache(self._look_now)

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()

    def checks(self) -> Iterator[tuple[str, Callable[[], Verdict]]]:
        """The checks with their names, in order; without a store only those that need none."""
        yield "Store", self._is_there
        yield "Permissions", self._permissions
        yield "Leftovers", self._leftovers
        if os.path.exists(self._settings.db):
            yield "Schema revision", self._revision
            yield "Integrity", self._integrity
        if self._has_roots():  # else another check has said so
            yield "Session discovery", self._discovery
            yield "Index fresh", self._freshness
            yield "Transcripts about to be deleted", self._deletion
        if self._opened() is not None:
            yield "Damaged places", self._problems
            yield "Prices", self._prices
            yield "Outputs", self._outputs
            yield "Search file", self._search
            yield "Calibration data", self._calibration
            yield "Trend history", self._history

    def _has_roots(self) -> bool:
        try:
            return bool(roots_of(self._settings))
        except CrustsError:
            return False

    def _opened(self) -> sqlite3.Connection | None:
        """The store, if it is there and of this revision; what is wrong with it else, other checks say."""
        if self._store is None:
            try:
                self._store = open_store(self._settings.db)
            except CrustsError:
                return None
        return self._store

    def _counted(self) -> StoreCounts:
        """What there is in the store; nothing without one."""
        if self._counts is None:
            store = self._opened()
            nothing = StoreCounts(0, 0, 0, 0, None, 0, 0, 0, None)
            self._counts = query.rows(store, StoreCounts)[0] if store is not None else nothing
        return self._counts

    def _look_now(self) -> Look:
        return look(self._opened(), [root.projects_dir for root in roots_of(self._settings)])

    def _is_there(self) -> Verdict:
        path = self._settings.db
        if not os.path.exists(path):
            return WARN, f"there is none at {path} yet: run `crusts index`"
        return PASS, f"{path} ({text.size(os.path.getsize(path))})"

    def _permissions(self) -> Verdict:
        loose = [path for path in private.found(self._settings) if private.open_to_others(path)]
        if loose:
            return WARN, f"others can read {', '.join(loose)}: the next `crusts index` takes that away"
        return PASS, "only you can read what is kept"

    def _leftovers(self) -> Verdict:
        left = leftovers.find(self._settings)
        if left:
            return WARN, f"a run that was killed left {', '.join(left)}: the next `crusts index` clears that away"
        if is_held(rebuild_lock(self._settings.db)):
            return PASS, "a rebuild is at work just now"
        return PASS, "no run that was killed left anything"

    def _revision(self) -> Verdict:
        found = upgrade.revision(self._settings.db)
        if found != HEAD:
            return WARN, f"revision {found or 'none'}, this crusts has {HEAD}: run `crusts index`"
        return PASS, f"revision {HEAD}"

    def _integrity(self) -> Verdict:
        store = read_only(self._settings.db, 10.0)
        try:
            found = [row[0] for row in store.execute("pragma quick_check(3)")]
        finally:
            store.close()
        if found == ["ok"]:
            return PASS, "every page is whole"
        return FAIL, f"damaged: {'; '.join(found)}: `crusts index --rebuild` reads what is on disk into a new store"

    def _discovery(self) -> Verdict:
        found = self._look()
        if found.unreadable:
            path, reason = found.unreadable[0]
            return WARN, f"{len(found.unreadable):,} files or folders cannot be read: {path} ({reason})"
        if not found.files:
            return WARN, "no transcripts under the roots"
        sessions = self._counted().sessions
        return (
            PASS,
            f"{text.plural(found.files, 'transcript')} on disk, {text.plural(sessions, 'session')} in the store",
        )

    def _freshness(self) -> Verdict:
        found = self._look()
        if found.pending:
            size = text.size(sum(one.unread_bytes for one in found.pending))
            return WARN, f"{len(found.pending):,} transcripts are not read to their end ({size}): run `crusts index`"
        if found.older:
            return WARN, f"{found.older:,} transcripts were read by an older crusts: run `crusts index`"
        last = self._counted().last_run_ms
        age = f"; last new records {text.age(max(0, int(time.time() * 1000) - last))} ago" if last else ""
        return PASS, f"everything on disk is read{age}".replace("now ago", "just now")

    def _deletion(self) -> Verdict:
        days = kept_days()
        latest = (time.time() - (days - SOON_DAYS) * _DAY) * 1e9
        due = [one for one in self._look().pending if one.mtime_ns < latest]
        rule = f"Claude Code deletes transcripts after {days:g} days"
        if due:
            return WARN, f"{len(due):,} are deleted within {SOON_DAYS} days and not read: run `crusts index` ({rule})"
        return PASS, f"none that is not read ({rule})"

    def _problems(self) -> Verdict:
        found, files = self._counted().problems, self._counted().problem_transcripts
        if found:
            said = f"{found:,} damaged or odd places in {files:,} transcripts; all else of them is read"
            return WARN, f"{said}. `crusts index --verbose` lists them"
        return PASS, "none in any transcript"

    def _prices(self) -> Verdict:
        store = self._opened()
        assert store is not None
        rows = query.rows(store, UnpricedModel)
        if rows:
            calls = sum(row.calls for row in rows)
            named = ", ".join(row.model for row in rows[:5])
            return (
                WARN,
                f"{calls:,} calls have no list price ({named}): run `crusts index`, or `index --prices --fetch`",
            )
        modes = query.rows(store, NonstandardMode)
        if modes:
            named = ", ".join(row.mode for row in modes[:5])
            calls = sum(row.calls for row in modes)
            return WARN, f"{calls:,} calls are costed as standard calls, which they are not ({named})"
        return PASS, "every call has its list price"

    def _outputs(self) -> Verdict:
        found = self._counted()
        if found.placeholder_calls:
            many = f"{found.placeholder_calls:,} of {found.calls:,} calls logged a placeholder as their output"
            return PASS, f"{many}: output and cost are at least what is shown"
        return PASS, "every call logged its output whole"

    def _search(self) -> Verdict:
        path = search_path(self._settings.db)
        if not search.is_wanted(self._settings):
            return PASS, 'turned off ("search": false in config.json)'
        if not os.path.exists(path):
            return PASS, "none yet: the first `crusts search` makes it"
        store = self._opened()
        assert store is not None
        texts, behind = search.behind(store, path)
        late = f", {behind:,} transcripts are still to be taken" if behind else ""
        return PASS, f"{texts:,} texts ({text.size(os.path.getsize(path))}){late}"

    def _calibration(self) -> Verdict:
        found = self._counted().reports
        if not found:
            return WARN, "none: run /context in Claude Code once, or paste it into `crusts calibrate`"
        return PASS, f"{text.plural(found, '/context report')}, the last of {self._counted().last_report}"

    def _history(self) -> Verdict:
        found, gone = self._counted().sessions, self._counted().gone_transcripts
        if not found:
            return WARN, "no session in the store yet: run `crusts index`"
        kept = f", {gone:,} transcripts of them no longer on disk" if gone else ""
        return PASS, f"{text.plural(found, 'session')}{kept}"
