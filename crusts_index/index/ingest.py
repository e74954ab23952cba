"""Reads what a plan names and writes it: in this process, or with workers that parse while this one writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from crusts_index.index.estimates import load_weights
from crusts_index.index.metas import read_meta, set_meta
from crusts_index.index.plan import Job, Plan, unread_bytes
from crusts_index.index.read import Manner, Outcome, Stretch, Task, read_here, without_collector
from crusts_index.index.write import Writer
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import transaction

if TYPE_CHECKING:
    from crusts_index.index.summary import Options, Summary

WORTH_BYTES = 16 << 20
"""Pending bytes from which a worker process gains more than it costs."""

LEAST_BYTES = 1 << 20
"""What a run that is short of time reads all the same, if that takes no longer than GRACE_SECONDS more."""

GRACE_SECONDS = 0.5

WORTH_TWO_BYTES = 32 << 20
"""Pending bytes from which a second one does: to read takes twice as long as to write, so it halves what one waits
for; to start it takes as long as to read two megabytes."""

FITTED_BYTES = 72 << 20
"""Of much that is new the latest, read first and fitted to, so that all else is estimated only once (D9): for five
models used by turns that is what a fit asks for."""

WORTH_FITTING_BYTES = 112 << 20
"""Pending bytes from which that is less work than to estimate all of it again."""


@without_collector()
def ingest(store: sqlite3.Connection, path: str, plan: Plan, options: Options, summary: Summary) -> None:
    """Read and write all jobs of the plan, or as many as fit into the seconds that the run may take."""
    jobs, latest = _in_order(plan, options)
    tasks = name_new(store, jobs, keep_text=options.keep_text)
    ids = {job.seen.path: transcript for job, transcript in tasks}
    writer = Writer(store, Manner(options.keep_text, load_weights(store)))
    void: set[str] = set()
    read = 0
    left = len(tasks)
    started = time.monotonic()

    def is_up(more: int) -> bool:
        return _is_time_up(options, started, read + more)

    def read_some(some: list[Task]) -> Iterator[Outcome]:
        return _outcomes(store, some, path, options, writer.manner, plan.pending_bytes, is_up)

    outcomes = _fit_between(store, writer, tasks[:latest], tasks[latest:], read_some)
    try:
        for job, outcome in outcomes:
            if isinstance(outcome, Stretch):
                if job.seen.path in void:
                    continue
                if not writer.write(outcome):
                    void.add(job.seen.path)
                    continue
                read += outcome.bytes_read
                if options.progress is not None:
                    options.progress(read, plan.pending_bytes)
            elif outcome is None:
                left -= 1
                if job.seen.path not in void:
                    summary.touched.append(ids[job.seen.path])
            else:
                summary.unreadable.append((job.seen.path, outcome))
                void.add(job.seen.path)
            if left and is_up(0):
                summary.is_complete = False
                break
        writer.commit()
    except BaseException:
        writer.abandon()
        raise
    finally:
        outcomes.close()
        summary.changed = len(summary.touched)
        summary.records, summary.problems, summary.bytes_read = (
            writer.records,
            writer.problems,
            writer.bytes_read,
        )


def _in_order(plan: Plan, options: Options) -> tuple[list[Job], int]:
    """The jobs as they are to be read, and how many of them are to be fitted to before the rest is."""
    # Rows in the order of time make the densest store; with a deadline what is asked for first comes first.
    latest_first = options.seconds is not None
    jobs = sorted(plan.jobs, key=lambda job: job.seen.mtime_ns, reverse=latest_first)
    if not options.fits or plan.pending_bytes < WORTH_FITTING_BYTES:
        return jobs, 0
    size, first = 0, len(jobs)
    while first and size < FITTED_BYTES:
        first -= 1
        size += unread_bytes(*jobs[first])
    return jobs[first:] + jobs[:first], len(jobs) - first


def _fit_between(
    store: sqlite3.Connection,
    writer: Writer,
    latest: list[Task],
    rest: list[Task],
    read_some: Callable[[list[Task]], Iterator[Outcome]],
) -> Generator[Outcome, None, None]:
    """Read the latest, if any are to be fitted to, and the rest by the weights that hold then."""
    if latest:
        from crusts_index.index.fit import fit_weights  # most runs read little

        yield from read_some(latest)
        writer.commit()
        fit_weights(store, is_fitting=True)
        writer.manner = writer.manner._replace(weights=load_weights(store))
    yield from read_some(rest)


def _is_time_up(options: Options, started: float, read: int) -> bool:
    """Whether a run must end. The first few bytes are always taken: on a busy machine a little is news too."""
    if options.seconds is None:
        return False
    over = time.monotonic() - started - options.seconds
    return over > (0 if read >= LEAST_BYTES else GRACE_SECONDS)


def _outcomes(
    store: sqlite3.Connection,
    tasks: list[Task],
    path: str,
    options: Options,
    manner: Manner,
    pending: int,
    is_up: Callable[[int], bool],
) -> Iterator[Outcome]:
    workers = _workers(options.jobs, pending)
    if workers and options.seconds is None:
        from crusts_index.index.pool import read_in_workers

        return read_in_workers(tasks, path, manner, workers)
    return read_here(tasks, lambda: store, manner, is_up if options.seconds is not None else None)


def _workers(jobs: int | None, pending: int) -> int:
    """Worker processes that pay: none for little, and one only if it can read while this process writes."""
    if jobs is not None and jobs > 1:
        return jobs
    if jobs == 0 or pending < WORTH_BYTES:
        return 0
    cores = os.cpu_count() or 1
    return 1 if jobs == 1 or cores == 1 or pending < WORTH_TWO_BYTES else 2


def name_new(store: sqlite3.Connection, jobs: list[Job], *, keep_text: bool) -> list[Task]:
    """Give every new transcript its id, so that workers can make rows, and put them in order."""
    tasks: list[Task] = []
    new = [job.seen for job in jobs if job.known is None]
    metas = {seen.path: read_meta(seen.meta_path) for seen in new if seen.meta_path is not None}
    with transaction(store):
        for job in jobs:
            if job.known is not None:
                tasks.append((job, job.known.id))
                continue
            seen = job.seen
            store.execute(
                "insert or ignore into transcripts (root, path, folder, kind, stem, parent_session)"
                " values (?, ?, ?, ?, ?, ?)",
                (seen.root, seen.path, seen.folder, seen.kind, seen.stem, seen.parent_session),
            )
            (transcript,) = store.execute("select id from transcripts where path = ?", (seen.path,)).fetchone()
            if seen.path in metas:
                set_meta(store, transcript, metas[seen.path], seen.meta_mtime_ns, keep_text=keep_text)
            tasks.append((job, transcript))
    return tasks
