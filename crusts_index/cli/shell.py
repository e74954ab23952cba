"""The shell behind `crusts tui`: takes lines, keeps the selected session, and runs every command by its name."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crusts_index.cli import commands, show
from crusts_index.cli.completion import session_ids
from crusts_index.cli.judged import judge
from crusts_index.cli.session import opened
from crusts_index.cli.suggest import place_of
from crusts_index.cli.words import read_words
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.folders import last_part
from crusts_index.plain import line, lines
from crusts_index.render import clipboard, console, text
from crusts_index.render.completion import Command
from crusts_index.rows.reports import ListedSession
from crusts_index.store import when
from crusts_index.store.settings import Flags, Settings

PICKED_FROM = 15
"""Sessions that the picker lists."""
OWN = {
    "select": "Choose the session that commands are about: `select`, `select 3`, `select 5e55`.",
    "copy": "Put a block of `fix` on the clipboard: `copy 1`.",
    "help": "This, or `help COMMAND`.",
    "quit": "Leave; also exit, q, Ctrl-D.",
}
_SAME = {"ls": "list", "use": "select", "?": "help", "exit": "quit", "q": "quit"}
_OTHER_SESSIONS = frozenset(("--last", "--project", "--since", "--hook", "--help", "-h"))
"""With one of these the command is about other sessions, or none."""
_NEVER_FILLED = ("forget",)
"""Commands that must not meet a session that nobody named on the line."""


class Shell:
    """One shell. `ask` puts a question to a person and returns the answer; None where nobody is there."""

    def __init__(self, settings: Settings, flags: Flags, ask: Callable[[str], str] | None = None) -> None:
        self._settings, self._ask = settings, ask
        self._common = _words_of(flags)
        self.session: str | None = None
        self.is_over = False
        self._words: dict[str, Command] = {}

    @property
    def prompt(self) -> str:
        """What stands before the line to type."""
        return f"crusts:{line(self.session)[:8]}> " if self.session else "crusts> "

    def run(self, line: str) -> int:
        """Run one line; the exit code that the command would have. Only a closed output is raised."""
        try:
            words = [] if line.lstrip().startswith("#") else shlex.split(line)
        except ValueError as error:
            console.note(f"{error}: close the quotation, or put \\ before the mark".lower())
            return WrongUsage.exit_code
        if words[:1] == ["crusts"]:
            words = words[1:]
        if not words:
            return 0
        name, rest = _SAME.get(words[0], words[0]), words[1:]
        try:
            with _kept_environment(is_alone=self._ask is None):
                code = self._dispatch(name, rest)
        except CrustsError as error:
            console.note(str(error))
            code = error.exit_code
        except BrokenPipeError:
            raise
        except OSError as error:
            console.note(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            code = 1
        except Exception as error:  # a mistake of ours in one command must not take the shell away
            if self._settings.verbose:
                raise
            console.note(f"{name}: {type(error).__name__}: {error}; `crusts {name}` shows more")
            code = 1
        sys.stdout.flush()
        return code

    def choose(self, session: str | None, last: int | None = None) -> None:
        """Select the session that a start of an id or a place names, else the one last active."""
        with opened(self._settings) as store:
            self.session = store.choose(session, last)

    def ids(self) -> list[str]:
        """Session ids to complete, the last active first; none where something is wrong."""
        return session_ids(self._settings)

    def words(self) -> Command:
        """All that can be typed: the program's words and the shell's own."""
        if "" not in self._words:
            root = read_words()
            own = [
                Command(
                    name, about.partition(":")[0], [], [], name == "select", root.commands if name == "help" else []
                )
                for name, about in OWN.items()
            ]
            own[1] = own[1]._replace(values=["1", "2", "3"])
            others = [one for one in root.commands if one.name != "tui"]
            self._words[""] = root._replace(commands=sorted(others + own, key=lambda one: one.name))
        return self._words[""]

    def _dispatch(self, name: str, rest: list[str]) -> int:
        if name == "quit":
            self.is_over = True
        elif name == "help":
            return self._help(rest)
        elif name == "select":
            self._select(rest)
        elif name == "copy":
            self._copy(rest)
        elif name == "tui":
            raise CrustsError("this is the shell already")
        else:
            return commands.run([*self._common, name, *self._filled(name, rest)])
        return 0

    def _filled(self, name: str, rest: list[str]) -> list[str]:
        """The arguments with the selected session where the command takes one and the line names none."""
        if self.session is None or name not in commands.COMMANDS or name in _NEVER_FILLED:
            return rest
        place = place_of(self._words_of(name), [name, *rest])
        if place.options & _OTHER_SESSIONS or ("--all" in place.options and name != "timeline"):
            return rest
        is_half = name == "compare" and len(place.positionals) == 1  # the selected one beside another
        if is_half or (place.command.wants_session and not place.positionals):
            behind = len(place.names) - 1  # subcommands come first
            return [*rest[:behind], self.session, *rest[behind:]] if rest[:behind] == [*place.names[1:]] else rest
        return rest

    def _words_of(self, name: str) -> Command:
        """The words of one command, which alone gets imported for it."""
        if name not in self._words:
            self._words[name] = read_words({name: commands.COMMANDS[name]})
        return self._words[name]

    def _select(self, rest: list[str]) -> None:
        if len(rest) > 1:
            raise WrongUsage("select takes one session: the start of its id, or its number in the list")
        said = rest[0] if rest else ""
        if not said:
            self._list_sessions()
            if self._ask is None:
                return
            said = self._ask("number or id: ").strip()
            if not said:
                return
        if said.isascii() and said.isdigit() and len(said) < 5 and 1 <= int(said) <= PICKED_FROM:
            self.choose(None, int(said))
        else:
            self.choose(said)
        console.note(f"selected {self.session}")

    def _list_sessions(self) -> None:
        with opened(self._settings) as store:
            found = store.fetch(ListedSession, project=self._settings.project, limit=PICKED_FROM)
        rows = [(place, *self._cells(row)) for place, row in enumerate(found, 1)]
        show.print_table(("", "session", "age", "project", "title", "msgs"), rows)
        if self._ask is None:
            console.put("`select N` or `select ID` chooses one.")

    def _cells(self, row: ListedSession) -> tuple[object, ...]:
        active = row.last_active_ms
        return (
            row.session[:8] + ("*" if row.session == self.session else ""),
            text.age(None if active is None else max(0, when.now_ms() - active)),
            last_part(row.project or ""),
            row.title,
            row.messages,
        )

    def _copy(self, rest: list[str]) -> None:
        if len(rest) != 1 or not (rest[0].isascii() and rest[0].isdigit() and 0 < len(rest[0]) < 3 and int(rest[0])):
            raise WrongUsage("copy takes the number of a block of `fix`: 1, 2, 3 …")
        if self.session is None:
            raise CrustsError("no session is selected: `select` lists them")
        with opened(self._settings) as store:
            found = judge(store, self._settings, self.session)
        blocks = [one.do for one in found.actions]
        if int(rest[0]) > len(blocks):
            told = "there is nothing to fix" if not blocks else f"`fix` has {len(blocks)} of them"
            raise CrustsError(f"no block {rest[0]}: {told}")
        block = lines(blocks[int(rest[0]) - 1])
        where = clipboard.copy(block)
        if where is None:
            raise CrustsError("there is no clipboard here: `fix` prints the text")
        taken = "copied" if where == "system" else "asked the terminal to copy"
        begin = text.shorten(" ".join(block.split()), 50)
        console.put(f"{taken} block {rest[0]} ({len(block):,} characters): {begin}")

    def _help(self, rest: list[str]) -> int:
        if rest:
            name = _SAME.get(rest[0], rest[0])
            if name in OWN:
                console.put(OWN[name])
                return 0
            return commands.run([name, *rest[1:], "--help"])
        width = console.table_width()
        lines = [f"  {name:<16} {about}" for name, about in OWN.items()]
        lines += [f"  {name:<16} {about}" for name, (_, about) in commands.COMMANDS.items() if name != "tui"]
        shown = ["Commands; those about one session are about the selected one:", *lines]
        for said in shown:
            console.put(text.shorten(said, width) if width else said)
        return 0


@contextmanager
def _kept_environment(*, is_alone: bool) -> Iterator[None]:
    """What a command puts into the environment (the time zone) ends with it; in a pipe it cannot take our lines."""
    before, stdin = dict(os.environ), sys.stdin
    nothing = open(os.devnull) if is_alone else None  # noqa: SIM115 - closed below
    if nothing is not None:
        sys.stdin = nothing
    try:
        yield
    finally:
        sys.stdin = stdin
        if nothing is not None:
            nothing.close()
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)
            time.tzset()


def _words_of(flags: Flags) -> list[str]:
    """The common options of the shell as they would be typed, for each of its commands."""
    words = [word for path in flags.path for word in ("--path", path)]
    for name in ("db", "project", "timezone"):
        value = getattr(flags, name)
        words += [f"--{name}", value] if value is not None else []
    for name in ("json", "verbose", "no_index", "no_color"):
        words += [f"--{name.replace('_', '-')}"] if getattr(flags, name) else []
    return words
