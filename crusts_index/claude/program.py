"""The command that runs this very crusts from a shell of Claude Code's."""

import os
import shlex
import sys

from crusts_index.claude.commands import MODULE, PROGRAM


def program_command(*words: str) -> str:
    """A shell command that runs crusts with `words`.

    The program is named by its full path: Claude Code started from an editor or a desktop has another PATH than
    a terminal. Of several names of it the one on PATH is taken, since an upgrade leaves that in place.
    """
    return shlex.join([*_program(), *words])


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
