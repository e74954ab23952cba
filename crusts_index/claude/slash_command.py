"""The `/crusts` slash command: the file that makes Claude Code offer it, and how it is put there and taken away."""

import os

from crusts_index.claude.files import back_up, check_writable, read_contents, write_atomically
from crusts_index.errors import CrustsError
from crusts_index.tuples import NamedTuple

NAME = "crusts.md"
_MARK = "<!-- written by `crusts install-command` -->"
TEXT = f"""\
---
description: What fills the context window of this session, and what to do about it
allowed-tools: Bash(crusts analyze:*), Bash(crusts waste:*), Bash(crusts fix:*)
---
{_MARK}
Run `crusts analyze --json` with the Bash tool, and answer from what it prints alone. Do not read any file for this.

If the command is not found, say that crusts is not on the PATH of this shell (`crusts doctor`, run by its full path,
says more) and stop.

If `actions` is empty, answer with one line: how full the window is, in per cent and tokens, and how many calls are
left before compaction. Then stop.

Else answer in this order, each point only if there is something to say:

1. How full the window is, its largest category, and the calls left before compaction. More than 30 calls: no hurry.
   10 to 30: soon. Fewer than 10: now, before the next large step.
2. What is wasted, most tokens first, at most five items: files that were read more than once by name, oversized
   results, what has not been used since. Give the tokens of each, and call estimates estimates.
3. What to do: the entries of `actions` in their order, at most three. Of each give `do` as it stands, in a code
   block of its own, so that it can be copied; what it frees (`frees_tokens`, with `frees_from`), what that saves in
   USD a call and a day, and `why`. Do not do any of it yourself.

Do not add advice of your own that the numbers do not support.
"""


class Change(NamedTuple):
    """What was done: the file, whether it was changed, and the copy of what stood there before."""

    path: str
    changed: bool
    backup: str | None


def install(config_dir: str, backups: str) -> Change:
    """Write the command into `<config_dir>/commands`; a file that differs is copied to `backups` first.

    Raises CrustsError if it cannot be written.
    """
    path = os.path.join(config_dir, "commands", NAME)
    present = read_contents(path)
    if present is not None and present.data == TEXT.encode():
        return Change(path, changed=False, backup=None)
    check_writable(path)
    backup = back_up(path, backups)
    write_atomically(path, TEXT, expected=present, backups=backups)
    return Change(path, changed=True, backup=backup)


def uninstall(config_dir: str, backups: str) -> Change:
    """Remove the command, if it is ours; a copy is kept, as the user may have changed it. Raises CrustsError."""
    path = os.path.join(config_dir, "commands", NAME)
    present = read_contents(path)
    if present is None:
        return Change(path, changed=False, backup=None)
    if _MARK.encode() not in present.data:
        raise CrustsError(f"{path} was not written by crusts, so it is left alone")
    check_writable(path)
    backup = None if present.data == TEXT.encode() else back_up(path, backups)
    try:
        os.unlink(path)
    except OSError as error:
        raise CrustsError(f"{path}: cannot be removed ({error.strerror})") from error
    return Change(path, changed=True, backup=backup)


def state(config_dir: str) -> str:
    """`none`, `ours`, `changed` (ours, but another text) or `other`. Raises CrustsError if it cannot be read."""
    present = read_contents(os.path.join(config_dir, "commands", NAME))
    if present is None:
        return "none"
    if present.data == TEXT.encode():
        return "ours"
    return "changed" if _MARK.encode() in present.data else "other"
