"""Reads transcripts in worker processes; rows come back one stretch at a time, so memory stays bounded."""

from __future__ import annotations

import gc
import marshal
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Any

from crusts_index.index.find import reason
from crusts_index.index.past import Connect
from crusts_index.index.plan import unread_bytes
from crusts_index.index.read import Manner, Outcome, Stretch, Task, read, read_here
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import TIMEOUT, read_only

AHEAD_BYTES = 24 << 20
"""Transcript bytes that a worker may be ahead: a transaction's worth, so that it reads on while one is written."""

_ROWS_WEIGH = 4
"""Bytes of a transcript that a byte of rows stands for, where lines are so short that there is more of these."""

_LOOK_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""

_HEAD_BYTES = 8
_DEAD = b""


def read_in_workers(tasks: list[Task], store: str, manner: Manner, workers: int) -> Iterator[Outcome]:
    """Read the transcripts in worker processes; stretches of one transcript come in order.

    A worker that ends costs the transcript it was reading; what is left without any worker is read here.
    """
    waiting = _Waiting(tasks, workers)
    answers = Answers()
    team = [_Worker(store, manner) for _ in range(min(workers, len(tasks)))]
    try:
        for worker in team:
            worker.listen(answers)
            worker.give(waiting)
        working = len(team)
        while working:
            worker, message = answers.take()
            if message == _DEAD:
                working -= 1
                if worker.tasks:
                    job, _ = worker.tasks.popleft()
                    yield job, "the worker that read it ended"
                    yield job, None
                    waiting.take_back(worker.tasks)
                continue
            job, _ = worker.tasks[0]
            answer = marshal.loads(memoryview(message)[_HEAD_BYTES:])
            if isinstance(answer, tuple):
                stretch = Stretch(*answer)
                worker.note_read(stretch.bytes_read)
                worker.give(waiting)
                yield job, stretch
                continue
            if isinstance(answer, dict):
                raise _store_error(**answer)
            worker.note_end()
            worker.give(waiting)
            if answer:
                yield job, str(answer)
            yield job, None
    finally:
        _end(team, answers)
    yield from read_here(waiting.rest(), _connects(store), manner)


class Answers:
    """What the workers said and nobody has taken yet: of each as much as it may be ahead, and always one answer."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._waiting: deque[tuple[_Worker, bytes]] = deque()
        self._is_open = True

    def put(self, worker: _Worker, message: bytes) -> None:
        """Add an answer, as soon as there is room for it."""
        weight = _weight(message)
        with self._changed:
            self._changed.wait_for(
                lambda: not worker.ahead or worker.ahead + weight <= AHEAD_BYTES or not self._is_open
            )
            worker.ahead += weight
            self._waiting.append((worker, message))
            self._changed.notify_all()

    def take(self) -> tuple[_Worker, bytes]:
        """The next answer."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            worker, message = self._waiting.popleft()
            worker.ahead -= _weight(message)
            self._changed.notify_all()
            return worker, message

    def close(self) -> None:
        """Nobody takes any more: whoever waits for room goes on."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()


class _Waiting:
    """Transcripts that no worker has yet."""

    def __init__(self, tasks: list[Task], workers: int) -> None:
        self._tasks, self._parts = deque(tasks), 2 * workers - 1
        self._bytes = sum(unread_bytes(*job) for job, _ in tasks)

    def next(self, unread: int) -> list[Task]:
        """What a worker gets that has so many bytes before it: many at a time, and always something where it has none.

        Towards the end it is less, so that no worker is left behind with much.
        """
        given: list[Task] = []
        share = min(AHEAD_BYTES, (unread + self._bytes) // self._parts)
        if unread <= share // 2:
            while self._tasks and unread <= share:
                given.append(self._tasks.popleft())
                more = unread_bytes(*given[-1][0])
                self._bytes -= more
                unread += more
        return given

    def take_back(self, tasks: deque[Task]) -> None:
        """Have again what a worker that ended had not come to."""
        self._tasks.extend(tasks)
        self._bytes += sum(unread_bytes(*job) for job, _ in tasks)

    def rest(self) -> list[Task]:
        """All that is left."""
        return list(self._tasks)


class _Worker:
    """A process that reads, with what it was given and not yet done."""

    def __init__(self, store: str, manner: Manner) -> None:
        context = multiprocessing.get_context()
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, store, manner, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()
        self.tasks: deque[Task] = deque()
        self.ahead = 0
        """What its answers weigh that nobody has taken yet."""
        self._unread: deque[int] = deque()
        self._all_unread = 0
        self.listener: Thread | None = None

    def listen(self, answers: Answers) -> None:
        """Take its answers off the pipe as they come, so that it reads on while this process writes."""
        self.listener = Thread(target=self._listen, args=(answers,), daemon=True)
        self.listener.start()

    def _listen(self, answers: Answers) -> None:
        with suppress(EOFError, OSError):
            while True:
                answers.put(self, self._pipe.recv_bytes())
        answers.put(self, _DEAD)

    def give(self, waiting: _Waiting) -> None:
        """Hand it what comes next; without anything left to do it ends."""
        given = waiting.next(self._all_unread)
        self.tasks += given
        self._unread += [unread_bytes(*job) for job, _ in given]
        self._all_unread = sum(self._unread)
        if given or not self.tasks:
            with suppress(OSError):
                self._pipe.send(given)

    def note_read(self, size: int) -> None:
        """So many bytes of its first transcript came."""
        size = min(size, self._unread[0])
        self._unread[0] -= size
        self._all_unread -= size

    def note_end(self) -> None:
        """All of its first transcript came."""
        self.tasks.popleft()
        self._all_unread -= self._unread.popleft()


def _end(team: list[_Worker], answers: Answers) -> None:
    for worker in team:
        worker.process.terminate()
    answers.close()
    for worker in team:
        worker.process.join()
        if worker.listener is not None:
            worker.listener.join()


def _weight(message: bytes) -> int:
    return int.from_bytes(message[:_HEAD_BYTES], "little")


def _connects(store: str) -> Connect:
    return cache(partial(read_only, os.path.abspath(store), TIMEOUT))


def _work(pipe: Any, store: str, manner: Manner, parent: int) -> None:
    """A worker: tasks in, stretches out, and behind each transcript's last one a reason, mostly empty."""
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us between stretches
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # as in `without_collector`
    tasks: SimpleQueue[Task | None] = SimpleQueue()
    Thread(target=_take_in, args=(pipe, tasks), daemon=True).start()
    connect = _connects(store)
    with suppress(BrokenPipeError):
        while (task := tasks.get()) is not None:
            _send(pipe, 0, _read(pipe, task, connect, manner))


def _take_in(pipe: Any, tasks: SimpleQueue[Task | None]) -> None:
    """Take tasks off the pipe as they come: who gives them must never wait for a worker that waits for him."""
    with suppress(EOFError, OSError):
        while given := pipe.recv():
            for task in given:
                tasks.put(task)
    tasks.put(None)


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone: killed, it leaves no word, and a pipe that siblings hold stays open."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def _read(pipe: Any, task: Task, connect: Connect, manner: Manner) -> str | dict[str, Any]:
    """Read one transcript; gives back why it could not be read, or what is wrong with the store."""
    try:
        for stretch in read(*task, connect, manner):
            _send(pipe, stretch.bytes_read, tuple(stretch))
    except BrokenPipeError:
        raise
    except OSError as error:
        return reason(error)
    except sqlite3.Error as error:
        return {"message": str(error), "code": getattr(error, "sqlite_errorcode", 0)}
    return ""


def _send(pipe: Any, read_bytes: int, answer: Any) -> None:
    """Send an answer, and before it what it weighs."""
    rows = marshal.dumps(answer)
    weight = max(read_bytes, _ROWS_WEIGH * len(rows))
    pipe.send_bytes(weight.to_bytes(_HEAD_BYTES, "little") + rows)


def _store_error(message: str, code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = code
    return error
