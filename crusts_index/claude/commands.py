"""Tell whether a shell command in someone's settings runs crusts, whichever way it was installed."""

import os
import shlex

PROGRAM = "crusts"
MODULE = "crusts_index"
BARE = ("-I", "-S")
"""Options of an interpreter that starts bare: without the environment's and the installation's additions."""
ENTRY = "entry.py"
"""The file of the package that such an interpreter runs."""


def split_command(command: str) -> list[str]:
    """The words of a shell command; empty if its quotes do not match."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def is_crusts_command(command: str, *words: str) -> bool:
    """Whether `command` runs crusts with `words` as its first arguments: `crusts index --hook` and the like.

    The program may stand at any path, behind a launcher (`uvx crusts`), or be `python -m crusts_index` or
    `python -I -S …/crusts_index/entry.py`.
    """
    return crusts_arguments(split_command(command))[: len(words)] == [*words] and runs_crusts(command)


def runs_crusts(command: str) -> bool:
    """Whether `command` runs crusts at all."""
    return _program_at(split_command(command)) is not None


def missing_file(command: str) -> str | None:
    """The first file that a command of ours names by its full path to be run, and that is not there any more."""
    words = split_command(command)
    at = _program_at(words)
    named = words[: at + 1] if at is not None else []
    return next((word for word in named if os.path.isabs(word) and not os.path.exists(word)), None)


def crusts_arguments(words: list[str]) -> list[str]:
    """What follows the program in the words of a command that runs crusts; empty for another command."""
    at = _program_at(words)
    return [] if at is None else words[at + 1 :]


def _program_at(words: list[str]) -> int | None:
    # Only the first words can be the program: `echo crusts` is not ours, nor is what another command wraps.
    if not words:
        return None
    if _name(words[0]) == PROGRAM:
        return 0
    if _name(words[0]).startswith("python"):
        if words[1:3] == ["-m", MODULE]:
            return 2
        if words[1:3] == [*BARE] and "".join(words[3:4]).replace("\\", "/").endswith(f"/{MODULE}/{ENTRY}"):
            return 3
    launchers = (["uvx"], ["pipx", "run"], ["uv", "tool", "run"], ["uv", "run"])
    for launcher in launchers:
        length = len(launcher)
        if [_name(words[0]), *words[1:length]] == launcher and words[length : length + 1] == [PROGRAM]:
            return length
    return None


def _name(word: str) -> str:
    return os.path.basename(word.replace("\\", "/")).removesuffix(".exe")
