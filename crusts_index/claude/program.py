"""The command that runs this very crusts from a shell of Claude Code's."""

import os
import shlex
import sys

from crusts_index.claude.commands import BARE, ENTRY, MODULE, PROGRAM

_TRIED_SECONDS = 5.0


def program_command(*words: str) -> str:
    """A shell command that runs crusts with `words`.

    The program is named by its full path: Claude Code started from an editor or a desktop has another PATH than
    a terminal. Of several names of it the one on PATH is taken, since an upgrade leaves that in place.
    """
    return shlex.join([*_program(), *words])


def bare_command(*words: str) -> str:
    """A shell command that runs a quick command of this crusts in a bare interpreter, which takes a fifth less.

    It names our own file and nothing that an installation brings in. Where that does not run, as out of an archive,
    it is `program_command`.
    """
    entry = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ENTRY)
    command = [os.path.abspath(sys.executable), *BARE, entry, *words]
    return shlex.join(command) if sys.executable and _runs(command) else program_command(*words)


def _runs(command: list[str]) -> bool:
    """Whether it answers nothing with something."""
    import subprocess

    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TRIED_SECONDS, cwd=os.sep
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def _program() -> list[str]:
    running = os.path.abspath(sys.argv[0]) if os.path.basename(sys.argv[0]) == PROGRAM else ""
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), PROGRAM)
    own = next((path for path in (running, beside) if path and os.access(path, os.X_OK)), None)
    if own is None:
        return [os.path.abspath(sys.executable), "-m", MODULE]
    import shutil

    on_path = shutil.which(PROGRAM)
    if on_path and os.path.realpath(on_path) == os.path.realpath(own):
        return [os.path.abspath(on_path)]
    return [own]
