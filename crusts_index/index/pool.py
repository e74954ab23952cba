"""Reads transcripts in worker processes; rows come back one stretch at a time, so memory stays bounded."""

from __future__ import annotations

import gc
import marshal
import multiprocessing
import os
import signal
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import Any

from crusts_index.index.find import reason
from crusts_index.index.read import Outcome, Stretch, Task, read, read_here

_LOOK_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""

_TASKS_AHEAD = 2
"""Transcripts a worker is given at a time: it never waits for the next one while this process writes."""

_STRETCHES_AHEAD = 3
"""Stretches of each worker that wait here while this process writes."""

_DEAD = b""


def read_in_workers(tasks: list[Task], store: str, keep_text: bool, workers: int) -> Iterator[Outcome]:
    """Read the transcripts in worker processes; stretches of one transcript come in order.

    A worker that ends costs the transcript it was reading; what is left without any worker is read here.
    """
    waiting = deque(tasks)
    answers: Queue[tuple[_Worker, bytes]] = Queue(workers * _STRETCHES_AHEAD)
    team = [_Worker(store, keep_text) for _ in range(min(workers, len(tasks)))]
    try:
        for worker in team:
            worker.listen(answers)
            worker.give(waiting)
        working = len(team)
        while working:
            worker, message = answers.get()
            if message == _DEAD:
                working -= 1
                if worker.tasks:
                    job, _ = worker.tasks.popleft()
                    yield job, "the worker that read it ended"
                    yield job, None
                    waiting.extend(worker.tasks)
                continue
            job, _ = worker.tasks[0]
            answer = marshal.loads(message)
            if isinstance(answer, tuple):
                yield job, Stretch(*answer)
                continue
            if isinstance(answer, dict):
                raise _store_error(**answer)
            worker.tasks.popleft()
            if answer:
                yield job, str(answer)
            yield job, None
            worker.give(waiting)
    finally:
        _end(team, answers)
    yield from read_here(list(waiting), store, keep_text)


class _Worker:
    """A process that reads, with what it was given and not yet done."""

    def __init__(self, store: str, keep_text: bool) -> None:
        context = multiprocessing.get_context()
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, store, keep_text, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()
        self.tasks: deque[Task] = deque()
        self.listener: Thread | None = None

    def listen(self, answers: Queue[tuple[_Worker, bytes]]) -> None:
        """Take its answers off the pipe as they come, so that it reads on while this process writes."""
        self.listener = Thread(target=self._listen, args=(answers,), daemon=True)
        self.listener.start()

    def _listen(self, answers: Queue[tuple[_Worker, bytes]]) -> None:
        with suppress(EOFError, OSError):
            while True:
                answers.put((self, self._pipe.recv_bytes()))
        answers.put((self, _DEAD))

    def give(self, waiting: deque[Task]) -> None:
        """Hand it what comes next; without anything left to do it ends."""
        with suppress(OSError):
            while waiting and len(self.tasks) < _TASKS_AHEAD:
                self.tasks.append(waiting.popleft())
                self._pipe.send(self.tasks[-1])
            if not self.tasks:
                self._pipe.send(None)


def _end(team: list[_Worker], answers: Queue[tuple[_Worker, bytes]]) -> None:
    for worker in team:
        worker.process.terminate()
    for worker in team:
        worker.process.join()
        while worker.listener is not None and worker.listener.is_alive():
            with suppress(Empty):
                answers.get(timeout=0.01)  # a listener may stand before a full queue


def _work(pipe: Any, store: str, keep_text: bool, parent: int) -> None:
    """A worker: tasks in, stretches out, and behind each transcript's last one a reason, mostly empty."""
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us between stretches
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # as in `without_collector`
    with suppress(EOFError, BrokenPipeError):
        while (task := pipe.recv()) is not None:
            pipe.send_bytes(marshal.dumps(_read(pipe, task, store, keep_text)))


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone: killed, it leaves no word, and a pipe that siblings hold stays open."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def _read(pipe: Any, task: Task, store: str, keep_text: bool) -> str | dict[str, Any]:
    """Read one transcript; gives back why it could not be read, or what is wrong with the store."""
    try:
        for stretch in read(*task, store, keep_text):
            pipe.send_bytes(marshal.dumps(tuple(stretch)))
    except BrokenPipeError:
        raise
    except OSError as error:
        return reason(error)
    except sqlite3.Error as error:
        return {"message": str(error), "code": getattr(error, "sqlite_errorcode", 0)}
    return ""


def _store_error(message: str, code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = code
    return error
