"""What keeps a hook target from waiting and from failing: Claude Code runs it, and waits for it.

The time is bounded in one place, here, and in this order:

* `begin` notes when the process must be done, before anything is waited for.
* Standard input is read for as long as `STDIN_SECONDS`, up to `MOST_STDIN`; one that stays open behind a whole
  payload is left open, half a payload is none.
* Who waits for something, a lock or another program, waits no longer than `left`.
* What hangs all the same, in SQLite, in a file system, in a pipe that nobody reads, is ended by a thread that only
  sleeps until then: the process ends with exit code 0, after `last_words` if there are any. A transaction that was open
  is as if it had not been begun, and the next run does what this one could not. Time in which the process was ready
  and the machine gave it none is added to its own: it does not hang, and to lay a store takes a second's work.

A word of the command line that makes no sense is told in one line, and left out.
"""

import os
import sys
from time import monotonic

from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.folders import listed
from crusts_index.plain import note
from crusts_index.store.settings import VALUED, Flags, Settings, load_settings, split_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType

    from crusts_index.claude.roots import Root

LOOK_SECONDS = 1.6
"""The longest that a status line or a hook at a prompt runs: two seconds less the start of the interpreter."""
INDEX_SECONDS = 2.5
"""The longest that an index at a hook runs, less the same."""
STDIN_SECONDS = 0.6
"""The longest that a payload is waited for."""
MOST_STDIN = 4 << 20
"""A payload is a few kilobytes; as many objects as fit into this take 200 MB."""
_QUIET_SECONDS = 0.05
"""Without a word for so long, what has come is looked at: is it a whole payload already?"""
_CHUNK = 1 << 16
_PATIENCE = 2.0
"""How many times its seconds are added, at the most, on a machine that gives it no time."""
_STDOUT, _STDERR = 1, 2


class _Deadline:
    """When this process must be done, and what it then says on stdout. `lock` is held until it is done by itself."""

    ends_process = False
    end: float | None = None
    lock: "LockType | None" = None
    last_words = ""


def own_process() -> None:
    """The process is there for nothing else, and may be ended."""
    _Deadline.ends_process = True


def begin(seconds: float, last_words: str = "") -> None:
    """From now on there are so many seconds; then the process ends, and `last_words` are all that it said."""
    import _thread

    finish()
    _Deadline.end, _Deadline.last_words = monotonic() + seconds, last_words
    if _Deadline.ends_process:
        _Deadline.lock = lock = _thread.allocate_lock()
        lock.acquire()
        _thread.start_new_thread(_watch, (lock, seconds))


def speak() -> None:
    """Something is said on stdout now, so no last words are needed."""
    _Deadline.last_words = ""


def is_silent() -> bool:
    """Whether there are last words still: nothing was said on stdout."""
    return bool(_Deadline.last_words)


def finish() -> None:
    """All is done in time: the process may live on."""
    if _Deadline.lock is not None:
        _Deadline.lock.release()
    _Deadline.end = _Deadline.lock = None
    _Deadline.last_words = ""


def left(most: float) -> float:
    """Seconds that there are to wait for something, `most` at the most."""
    return most if _Deadline.end is None else max(0.0, min(most, _Deadline.end - monotonic()))


def _watch(lock: "LockType", seconds: float) -> None:
    if lock.acquire(timeout=seconds):
        return
    # On a machine that is busy with other things, what was not run yet does not hang.
    given = seconds
    while (more := seconds + min(_kept_waiting(), seconds * _PATIENCE) - given) > _QUIET_SECONDS:
        if lock.acquire(timeout=more):
            return
        given += more
    _put(_STDOUT, _Deadline.last_words)
    _put(_STDERR, f"crusts: not done after {seconds:g} s, and ended: the next run goes on from here\n")
    os._exit(0)


def _kept_waiting() -> float:
    """Seconds in which this process could have run and was not let; 0 where the system does not say."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _put(descriptor: int, text: str) -> None:
    """Write to a stream where that cannot block; the stream's own object may be what hangs."""
    import select

    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        if text and poll.poll(0):
            stream = sys.stdout if descriptor == _STDOUT else sys.stderr
            os.write(descriptor, text.encode(stream.encoding or "ascii", "replace"))
    except (OSError, ValueError):
        pass  # there is nobody to tell


def read_stdin() -> bytes:
    """The payload on stdin; nothing from a terminal, or where there is none."""
    try:
        if sys.stdin is None or sys.stdin.isatty():
            return b""
        return _read(sys.stdin.fileno())
    except (OSError, ValueError):
        return b""


def _read(descriptor: int) -> bytes:
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    data = bytearray()
    looked_at = 0
    end = monotonic() + left(STDIN_SECONDS)
    while len(data) < MOST_STDIN and (seconds := end - monotonic()) > 0:
        if poll.poll(min(seconds, _QUIET_SECONDS) * 1000):
            part = os.read(descriptor, min(_CHUNK, MOST_STDIN - len(data)))
            if not part:
                break
            data += part
        elif len(data) > looked_at:
            looked_at = len(data)
            if _is_whole(data):
                break
    return bytes(data)


def _is_whole(data: bytearray) -> bool:
    from crusts_index.jsontext import loads

    if not data.rstrip().endswith(b"}"):
        return False
    try:
        loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def roots_there(settings: Settings) -> "list[Root]":
    """The roots that are there; of one that was named and is not, it is told."""
    from crusts_index.claude.roots import find_roots

    missing: list[str] = []
    roots = find_roots(settings.roots, settings.roots_from, os.environ, missing)
    complain(missing)
    return roots


def complain(wrong: "list[str]") -> None:
    """Tell what was wrong, in one line; nothing where nothing was."""
    if wrong:
        note("; ".join(wrong) + ": going on without")


# ---------------------------------------------------------------------- the command line


def place_of_name(argv: list[str]) -> int:
    """Where in a command line the command's name stands, behind the options before it; their number if it has none."""
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in VALUED else 1
    return min(at, len(argv))


def is_hook(argv: list[str]) -> bool:
    """Whether `index` is to run as a hook, however badly that is said."""
    return any(word.partition("=")[0] == "--hook" for word in argv)


class CommandLine:
    """What stands behind a target's name; what makes no sense there is kept in `wrong`, and is as if it were not said.

    `given` are the command's own options, of which `valued` take a value, and `words` are what is no option.
    """

    def __init__(
        self, argv: list[str], switches: tuple[str, ...] = (), valued: tuple[str, ...] = (), most_words: int = 0
    ) -> None:
        self.wrong: list[str] = []
        self.given: dict[str, str] = {}
        self.words: list[str] = []
        self.flags, rest = split_flags(self._without_lacking(argv, valued))
        after = iter(rest)
        for word in after:
            name, equals, value = word.partition("=")
            if name in valued:
                self.given[name] = value if equals else next(after, "")
            elif name in switches:
                self.given[name] = ""
            elif word.startswith("-") and word != "-":
                self.wrong.append(f"there is no option {name}")
            else:
                self.words.append(word)
        self.wrong += [f"{word} says nothing here" for word in self.words[most_words:]]

    def settings(self) -> Settings:
        """The settings, as far as there are any; tells what was wrong, in one line."""
        settings = self._settings()
        complain(self.wrong)
        return settings

    def _without_lacking(self, argv: list[str], valued: tuple[str, ...]) -> list[str]:
        """The words without options that lack their value: at the end, or before the next option."""
        kept: list[str] = []
        for word, follows in zip(argv, [*argv[1:], "--"], strict=False):
            if (word in valued or word in VALUED) and follows.startswith("--"):
                self.wrong.append(f"{word} needs a value")
            elif word != "--":
                kept.append(word)
        return kept

    def _settings(self) -> Settings:
        try:
            return load_settings(self.flags)
        except CrustsError as error:
            self.wrong.append(str(error))
            if not isinstance(error, WrongUsage) or self.flags.timezone is None:
                return without_home(self.flags)
            self.flags.timezone = None
            return self._settings()


def without_home(flags: Flags) -> Settings:
    """Settings that know of no store: what the payload and the transcript say still counts."""
    nowhere = os.path.join(os.devnull, "crusts")
    return Settings(
        home=nowhere,
        db=os.path.join(nowhere, "index.db"),
        roots=tuple(flags.path or listed(os.environ.get("CLAUDE_CONFIG_DIR", ""), os.environ)),
        roots_from="--path" if flags.path else "CLAUDE_CONFIG_DIR",
        project=None,
        timezone=None,
        json=flags.json,
        verbose=flags.verbose,
        refresh=False,
        no_color=flags.no_color or bool(os.environ.get("NO_COLOR")),
        config={},
    )
