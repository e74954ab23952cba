"""Brings the store up to date for a command: makes or upgrades it, finds the roots, indexes, learns prices."""

from __future__ import annotations

import os

from crusts_index.claude.roots import Root, find_roots
from crusts_index.errors import CrustsError
from crusts_index.index import leftovers
from crusts_index.index.run import KEPT_UP, PRICED, index_files, index_roots, last_run, say_of
from crusts_index.index.summary import Options, Summary
from crusts_index.plain import note
from crusts_index.store import config as store_config
from crusts_index.store import private, query
from crusts_index.store.driver import sqlite3
from crusts_index.store.laid import open_ensured
from crusts_index.store.open import TIMEOUT, checkpoint, open_store
from crusts_index.store.promises import Promises
from crusts_index.store.settings import Settings, search_path
from crusts_index.store.when import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crusts_index.rows.reports import Problem

    Behind = Callable[[sqlite3.Connection, Summary], None]

HOOK_SECONDS = 1.0
"""The longest that a hook waits for another program to leave the store."""

REPORT_SECONDS = 2.0
"""The longest that a report waits for the index: else it answers from what is there."""


TURN_SECONDS = 300.0
"""The longest that an index waits for its turn: runs write by turns, each of them short, however many there are."""


def roots_of(settings: Settings) -> list[Root]:
    """The roots of this run. Raises CrustsError for one that was named and is not there (D3)."""
    return find_roots(settings.roots, settings.roots_from, os.environ)


def keeps_text(settings: Settings) -> bool:
    """Whether text may be kept (D16)."""
    return store_config.keeps_text(settings.config)


def may_fit(settings: Settings) -> bool:
    """Whether weights may be fitted to the user's own calls (D9): `fitWeights: false` keeps what is shipped."""
    return settings.config.get("fitWeights", True) is not False


def open_writer(settings: Settings, timeout: float | None = None) -> sqlite3.Connection:
    """The store, made or upgraded first where that is needed, open for writing; `timeout` seconds for each lock.

    What an earlier run promised and did not come to do is done first (D16), and text that may no longer be kept is
    taken out: by a run without a `timeout` of its own, or where it is little.
    """
    is_patient = timeout is None
    if timeout is None:
        timeout = TURN_SECONDS
    if leftovers.has_half_made(settings):
        from crusts_index.store.upgrade import ensure

        ensure(settings.db, timeout=timeout)
        leftovers.clear(settings)
    store = open_ensured(settings.db, timeout=timeout)
    try:
        leftovers.clear(settings)
        private.tighten(settings)
        found = Promises(store)
        if is_patient and found.has_text and store_config.forbids_text(settings.config):
            from crusts_index.index.privacy import scrub

            if scrub(store):
                note("keepText is not true: the text that was kept is taken out of the store and all beside it")
            found = Promises(store)
        if found.owed is not None:
            from crusts_index.index.traces import keep_promises

            keep_promises(store, settings, is_patient=is_patient)
    except BaseException:
        store.close()
        raise
    return store


def index_all(
    settings: Settings, options: Options, timeout: float | None = None, then: Behind | None = None
) -> Summary:
    """Index all roots; `then` is what is to be done behind it, on the same connection."""
    roots = roots_of(settings)
    store = open_writer(settings, timeout)
    try:
        summary = index_roots(store, settings.db, [root.projects_dir for root in roots], options)
        if summary.touched:
            _look_around(store, roots, summary.touched, options)
            _learn(store)
        if then is not None:
            then(store, summary)
        if summary.touched:
            checkpoint(store)
    finally:
        store.close()
    return summary


def index_named(
    settings: Settings,
    files: Sequence[str],
    options: Options,
    timeout: float | None = None,
    roots: list[Root] | None = None,
) -> Summary:
    """Index the sessions of the named transcripts only; `roots` are those of this run, where they are known."""
    store, summary = open_indexed(settings, files, options, timeout, roots)
    store.close()
    return summary


def open_indexed(
    settings: Settings,
    files: Sequence[str],
    options: Options,
    timeout: float | None = None,
    roots: list[Root] | None = None,
) -> tuple[sqlite3.Connection, Summary]:
    """The same for who asks the store next: opening it once more costs as much as a line that is taken in."""
    if roots is None:
        roots = roots_of(settings)
    store = open_writer(settings, timeout)
    try:
        summary = index_files(store, settings.db, files, options, [root.projects_dir for root in roots])
        if summary.touched:
            _look_around(store, roots, summary.touched, options)
            _learn(store)
    except BaseException:
        store.close()
        raise
    return store, summary


def _look_around(store: sqlite3.Connection, roots: list[Root], touched: list[int], options: Options) -> None:
    # Only now: hashing is dear to import, and most runs touch nothing.
    from crusts_index.index.surround import keep_surroundings

    keep_surroundings(store, roots, touched, now_ms(), keep_text=options.keep_text)


def _learn(store: sqlite3.Connection) -> None:
    from crusts_index.index.habits import learn_habits

    learn_habits(store)


def open_refreshed(settings: Settings) -> sqlite3.Connection:
    """The store for a report, read-only, with what is new taken in first unless the user said not to.

    Says on stderr where it could not be brought up to date. Raises CrustsError where there is nothing to answer from.
    """
    trouble = None
    try:
        if settings.refresh:
            summary = index_all(settings, report_options(settings), timeout=REPORT_SECONDS, then=_price)
            if not summary.is_complete:
                left = max(0, summary.pending_bytes - summary.bytes_read) / 1e6
                note(f"the store is behind by about {left:,.1f} MB of transcripts: run `crusts index`")
        elif os.path.exists(settings.db):
            from crusts_index.store.upgrade import ensure

            ensure(settings.db, timeout=REPORT_SECONDS)
    except CrustsError as error:
        if not os.path.exists(settings.db):
            raise
        trouble = error
    # One that cannot be read at all is told only once, and was waited for already.
    store = open_store(settings.db, timeout=REPORT_SECONDS if trouble is not None else TIMEOUT)
    if trouble is not None:
        note(f"could not bring the store up to date ({trouble}); answering from what is there")
    return store


def _price(store: sqlite3.Connection, summary: Summary) -> None:
    """Give calls that a report or a hook read their prices (D15); says so where that takes a while."""
    if not summary.touched and summary.was_priced:
        return
    from crusts_index.store.prices import learn_prices

    def tell(models: list[str]) -> None:
        note(f"looking up the prices of {', '.join(models[:5])}, once")

    latest = last_run(store)
    only = summary.read_since(latest, was_known=summary.was_priced)
    learn_prices(store, now_ms(), only=only, on_asking=tell)
    say_of(store, latest, PRICED)


def is_kept_up(settings: Settings, summary: Summary) -> bool:
    """Whether prices and the search file know of all that is in the store after a run, and no such file is unwanted."""
    if summary.touched or not summary.was_kept_up:
        return False
    return settings.config.get("search") is not False or not os.path.exists(search_path(settings.db))


def keep_up(
    settings: Settings,
    summary: Summary | None,
    store: sqlite3.Connection | None = None,
    *,
    ask_all: bool = False,
    fetch: bool = False,
) -> list[str]:
    """What a plain index does besides: prices of new models (D15), weights (D9), the search file if there is one.

    Gives back the models without a price.
    `summary` is that of the run before it; None = look at everything. `store` is a connection that writes, if one is
    open. Raises CrustsError where the store cannot be had.
    """
    if store is None:
        store = open_store(settings.db, write=True)
        try:
            return keep_up(settings, summary, store, ask_all=ask_all, fetch=fetch)
        finally:
            store.close()
    from crusts_index.index.fit import fit_weights
    from crusts_index.store.prices import learn_prices

    latest = last_run(store)
    only = summary.read_since(latest, was_known=summary.was_kept_up) if summary is not None else None
    unpriced = learn_prices(store, now_ms(), only=only, refresh=ask_all, refresh_online=fetch)
    fit_weights(store, is_fitting=may_fit(settings))
    try:
        if os.path.exists(search_path(settings.db)):
            from crusts_index.store import search

            search.keep_up(settings, only)
        say_of(store, latest, KEPT_UP, PRICED)
    except CrustsError as error:
        note(f"the search file was left as it was: {error}")
    return unpriced


def list_problems(settings: Settings) -> list[Problem]:
    """Damaged and odd places of all transcripts (D5)."""
    from crusts_index.rows.reports import Problem  # most runs list none

    store = open_store(settings.db)
    try:
        return query.rows(store, Problem)
    finally:
        store.close()


def report_options(settings: Settings) -> Options:
    """How a report indexes: within its two seconds."""
    return Options(keep_text=keeps_text(settings), seconds=REPORT_SECONDS, kind="report", jobs=0)
