"""`crusts tui`: an interactive shell with every command; in a pipe, one command a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crusts_index import plain
from crusts_index.cli import options
from crusts_index.cli.shell import Shell
from crusts_index.cli.suggest import suggestions
from crusts_index.errors import CrustsError
from crusts_index.folders import make_private
from crusts_index.index.refresh import keeps_text
from crusts_index.render import console
from crusts_index.store.files import HISTORY
from crusts_index.store.settings import Flags, Settings, load_settings

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import History


def tui(flags: Flags, session: options.Session = None, last: options.Last = None) -> int:
    """A shell: every command by its name, about the selected session; Tab completes, Up goes back in the history.

    The session named, or the one last active, is selected to begin with; `select` chooses another. `copy 1` puts a
    block of `fix` on the clipboard, `help` lists everything. Ctrl-C clears the line, Ctrl-D or `quit` leaves. In a
    pipe each line is a command; an error does not end it, and the exit code is that of the last one that failed.
    """
    settings = load_settings(flags)
    is_talk = all(console.is_terminal(stream) for stream in (sys.stdin, sys.stdout))
    return (_talk if is_talk else _obey)(settings, flags, session, last)


def _begin(shell: Shell, session: str | None, last: int | None) -> None:
    """Select a session; only one that was asked for must be there."""
    try:
        shell.choose(session, last)
    except CrustsError as error:
        if session is not None or last is not None:
            raise
        console.note(str(error))


def _obey(settings: Settings, flags: Flags, session: str | None, last: int | None) -> int:
    """Run the lines of stdin; the exit code of the last one that failed."""
    shell = Shell(settings, flags)
    _begin(shell, session, last)
    code = 0
    for line in sys.stdin:
        code = shell.run(line) or code
        if shell.is_over:
            break
    return code


def _talk(settings: Settings, flags: Flags, session: str | None, last: int | None) -> int:
    """Run what a person types, until they leave."""
    prompt = _prompt(settings)
    shell = Shell(settings, flags, ask=lambda question: _answer(question))
    _begin(shell, session, last)
    prompt.completer = _completer(shell)
    console.remark("`help` lists the commands, Tab completes, Ctrl-D leaves.")
    while not shell.is_over:
        sys.stdout.flush()
        try:
            line = prompt.prompt(shell.prompt)
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
        try:
            shell.run(line)
        except KeyboardInterrupt:
            console.note("interrupted")
    return 0


def _answer(question: str) -> str:
    """A line typed in answer; empty where the person would rather not."""
    from prompt_toolkit import prompt

    try:
        return prompt(question)
    except (EOFError, KeyboardInterrupt):
        return ""


def _prompt(settings: Settings) -> PromptSession[str]:
    from prompt_toolkit import PromptSession

    return PromptSession(
        history=_history(settings),
        complete_while_typing=False,
        complete_in_thread=True,
        enable_history_search=True,
        color_depth=_depth(settings),
        output=_output(),
    )


def _output() -> Any:
    """The terminal as prompt_toolkit writes to it, cleaned of what it lets through in words and names of files."""
    from prompt_toolkit.output.vt100 import Vt100_Output

    class Cleaned(Vt100_Output):
        """Writes words cleaned, its own line ends and escape sequences as they are."""

        def write(self, data: str) -> None:
            super().write(data if not data.strip("\r\n") else plain.line(data))

    return Cleaned.from_pty(sys.stdout, term=os.environ.get("TERM"))


def _depth(settings: Settings) -> Any:
    from prompt_toolkit.output import ColorDepth

    return ColorDepth.DEPTH_1_BIT if settings.no_color else None


def _history(settings: Settings) -> History:
    """What was typed before, in a file of our own that nobody else reads; in memory where none may be kept (D16)."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class Kept(FileHistory):
        """Goes on without the file where it cannot be written."""

        def store_string(self, string: str) -> None:
            with suppress(OSError):
                super().store_string(string)

    if keeps_text(settings):
        path = os.path.join(settings.home, HISTORY)
        with suppress(OSError):
            make_private(settings.home)
            os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
            os.chmod(path, 0o600)
            return Kept(path)
    return InMemoryHistory()


def _completer(shell: Shell) -> Any:
    import shlex

    from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
    from prompt_toolkit.document import Document

    class Words(Completer):
        """Commands, options, their values, sessions and paths."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            typed = document.text_before_cursor
            try:
                words = shlex.split(typed)
            except ValueError:  # inside a quotation
                return
            current = words.pop() if words and not typed[-1:].isspace() else ""
            for one in suggestions(shell.words(), words, current, shell.ids):
                if one.kind == "word":
                    yield Completion(one.word, -len(current), display_meta=one.about)
                else:
                    paths = PathCompleter(only_directories=one.kind == "folder", expanduser=True)
                    yield from paths.get_completions(Document(one.word), complete_event)

    return Words()
