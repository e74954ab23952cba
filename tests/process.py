"""Runs the command for a test: inside this process, which is put back as it was, or as a process of its own.

Inside is twenty times as quick, and a warning is an error there. What only a process of its own can show (how it ends,
is killed or waits for another) is marked `process`; `--processes` runs every test so.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import IO, Any, NamedTuple

import crusts_index
from crusts_index import __main__ as entry
from crusts_index.quick import target

_OF_THE_INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that begin so are read when Python starts, so a run that differs in one is a process of its own."""

_ASKS_ONCE = ("pyperclip",)
"""Modules that look at the environment when first used, so each run imports them anew."""

_STREAMS = (("stdin", "r", "surrogateescape"), ("stdout", "w", "surrogateescape"), ("stderr", "w", "backslashreplace"))
"""As Python opens them in the C.UTF-8 locale."""


_Cached = type(cache(len))


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: bytes
    err: bytes


class _Always:
    apart = False


@contextmanager
def always_apart() -> Iterator[None]:
    """Inside, each run is a process of its own."""
    before, _Always.apart = _Always.apart, True
    try:
        yield
    finally:
        _Always.apart = before


def run(args: tuple[str, ...], data: bytes, cwd: Path, env: Mapping[str, str]) -> Ended:
    """Run `crusts ARGS` with `data` on stdin."""
    is_own = {name: value for name, value in env.items() if name.startswith(_OF_THE_INTERPRETER)} != {"LANG": "C.UTF-8"}
    # A thread runs it beside something else, and only one at a time can have this process's streams.
    is_beside = threading.current_thread() is not threading.main_thread()
    if _Always.apart or is_own or is_beside or sys.getfilesystemencoding() != "utf-8":
        return run_apart(args, data, cwd, env)
    return run_inside(args, data, cwd, env)


def run_apart(args: tuple[str, ...], data: bytes, cwd: Path, env: Mapping[str, str]) -> Ended:
    """Run it as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "crusts_index", *args],
        input=data,
        capture_output=True,
        cwd=cwd,
        env=env,
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def run_inside(args: tuple[str, ...], data: bytes, cwd: Path, env: Mapping[str, str]) -> Ended:
    """Run it in this process, on streams of its own."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in _STREAMS]
        files[0].write(data)
        files[0].seek(0)
        with _process(cwd, env), _streams(files):
            sys.argv = [str(entry.__file__), *args]
            code = _code()
        said = []
        for file in files[1:]:
            file.seek(0)
            said.append(file.read())
    return Ended(code, *said)


def _code() -> int:
    """The exit code of the entry point, and what the interpreter prints for an exception."""
    try:
        return entry.main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
    except Exception:
        traceback.print_exc()
    return 1


@contextmanager
def _process(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    """Folder, environment and all else that the program may change of its process; put back behind it."""
    before: dict[str, Any] = {"env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv}
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    collects, mask = gc.isenabled(), os.umask(0)
    os.umask(mask)
    _forget()
    _set_environment(env)
    leave, entry._leave = entry._leave, lambda code: None
    own, target.own_process = target.own_process, lambda: None
    kept = _kept_by_modules()
    try:
        os.chdir(cwd)
        yield
    finally:
        entry._leave, target.own_process = leave, own
        _put_back(kept)
        _forget()
        _set_environment(before["env"])
        os.chdir(before["cwd"])
        sys.argv = before["argv"]
        os.umask(mask)
        (gc.enable if collects else gc.disable)()
        signal.set_wakeup_fd(-1)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def _set_environment(env: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()


def _forget() -> None:
    """What was found out under another environment."""
    for name in _ASKS_ONCE:
        sys.modules.pop(name, None)
    for one in _keepers()[1]:
        one.cache_clear()


@cache
def _modules() -> list[ModuleType]:
    """Every module of the program, so that none is first imported, and keeps something, within a run."""
    names = [info.name for info in walk_packages(crusts_index.__path__, "crusts_index.")]
    return [import_module(name) for name in names if not name.endswith("__main__")] + [entry]


@cache
def _keepers() -> tuple[list[Any], list[Any]]:
    """What in modules keeps something for the length of a run: collections, and the caches of functions."""
    values = [value for module in _modules() for name, value in vars(module).items() if not name.startswith("__")]
    collections = {id(value): value for value in values if type(value) in (list, dict, set)}
    return list(collections.values()), [value for value in values if isinstance(value, _Cached)]


def _kept_by_modules() -> list[tuple[Any, Any]]:
    """Each collection with a copy of what is in it now."""
    return [(value, value.copy()) for value in _keepers()[0]]


def _put_back(kept: list[tuple[Any, Any]]) -> None:
    for value, before in kept:
        if value != before:
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(before)


@contextmanager
def _streams(files: list[IO[bytes]]) -> Iterator[None]:
    """The three streams, down to their descriptors: what the program starts inherits them."""
    names = [prefix + name + suffix for name, _, _ in _STREAMS for prefix, suffix in (("", ""), ("__", "__"))]
    before = {name: getattr(sys, name) for name in names}
    for stream in before.values():
        with suppress(AttributeError, OSError, ValueError):  # one may be closed or of a kind that cannot
            stream.flush()
    kept = [os.dup(fd) for fd in range(len(files))]
    ours = []
    try:
        for fd, (file, (name, mode, errors)) in enumerate(zip(files, _STREAMS, strict=True)):
            os.dup2(file.fileno(), fd)
            raw = open(fd, mode + "b", closefd=False)  # noqa: SIM115 - detached below
            ours.append(TextIOWrapper(raw, "utf-8", errors, line_buffering=name == "stderr"))
            setattr(sys, name, ours[-1])
            setattr(sys, f"__{name}__", ours[-1])
        yield
    finally:
        for stream in ours:
            with suppress(OSError, ValueError):
                stream.flush()
            with suppress(OSError, ValueError):
                stream.detach()
        for fd, copy in enumerate(kept):
            os.dup2(copy, fd)
            os.close(copy)
        for name, stream in before.items():
            setattr(sys, name, stream)
