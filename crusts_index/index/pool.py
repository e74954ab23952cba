"""Reads transcripts in worker processes; rows come back one stretch at a time, so memory stays bounded."""

from __future__ import annotations

import marshal
import multiprocessing
import signal
from collections.abc import Iterator
from dataclasses import fields
from multiprocessing.connection import Connection, wait
from typing import Any

from crusts_index.index.plan import Job
from crusts_index.index.read import Stretch, read

WORTH_BYTES = 100 << 20
"""Pending bytes from which worker processes gain more than they cost."""

Task = tuple[Job, int]
Outcome = tuple[Job, Stretch | str | None]
"""A job with its next stretch; with None behind its last one; or with the reason why it could not be read."""


def read_here(tasks: list[Task], store: str, keep_text: bool) -> Iterator[Outcome]:
    """Read the transcripts in this process, one after the other."""
    for job, transcript_id in tasks:
        try:
            for stretch in read(job, transcript_id, store, keep_text):
                yield job, stretch
        except OSError as error:
            yield job, (error.strerror or str(error)).lower()
        yield job, None


def read_in_workers(tasks: list[Task], store: str, keep_text: bool, workers: int) -> Iterator[Outcome]:
    """Read the transcripts in worker processes; stretches of one transcript come in order."""
    context = multiprocessing.get_context()
    queue = list(reversed(tasks))
    members: dict[Any, tuple[Any, Task]] = {}
    try:
        for _ in range(min(workers, len(tasks))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, store, keep_text), daemon=True)
            process.start()
            theirs.close()
            task = queue.pop()
            ours.send(task)
            members[ours] = (process, task)
        while members:
            for ready in wait(list(members)):
                assert isinstance(ready, Connection)
                process, task = members[ready]
                try:
                    answer = marshal.loads(ready.recv_bytes())
                except EOFError:
                    yield task[0], "the worker that read it ended"
                    yield task[0], None
                    del members[ready]
                    continue
                if isinstance(answer, dict):
                    yield task[0], Stretch(**answer)
                    continue
                if answer:
                    yield task[0], str(answer)
                yield task[0], None
                if queue:
                    following = queue.pop()
                    members[ready] = (process, following)
                    ready.send(following)
                else:
                    ready.send(None)
                    process.join()
                    ready.close()
                    del members[ready]
    finally:
        for connection, (process, _) in members.items():
            process.terminate()
            process.join()
            connection.close()


_FIELDS = tuple(field.name for field in fields(Stretch))


def _work(pipe: Any, store: str, keep_text: bool) -> None:
    """A worker: jobs in, stretches out, an empty answer behind each job's last one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us between stretches
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        while (task := pipe.recv()) is not None:
            job, transcript_id = task
            reason = ""
            try:
                for stretch in read(job, transcript_id, store, keep_text):
                    pipe.send_bytes(marshal.dumps({name: getattr(stretch, name) for name in _FIELDS}))
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
            pipe.send_bytes(marshal.dumps(reason))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
