"""`crusts statusline`: draw the line for Claude Code, and put it into its settings."""

from __future__ import annotations

import os
import shlex
from typing import Any

from crusts_index.claude.commands import crusts_arguments, missing_file, split_command
from crusts_index.claude.program import bare_command
from crusts_index.claude.roots import user_settings
from crusts_index.claude.settings import read_settings
from crusts_index.claude.status_line import (
    remove_status_line,
    set_status_line,
    status_line_command,
    status_line_state,
    wrapped_command,
)
from crusts_index.cli import installed, show
from crusts_index.cli.declared import Annotated, Group, Option
from crusts_index.errors import WrongUsage
from crusts_index.quick import statusline as quick
from crusts_index.quick import target
from crusts_index.render import console
from crusts_index.store.settings import Settings

FIELDS_HELP = "\n\n".join(f"{{{name}}}: {what}." for name, what in quick.FIELDS.items())

Template = Annotated[
    str | None, Option("--format", metavar="TEMPLATE", help="The line, with {fields}; see `statusline --help`.")
]
Other = Annotated[str | None, Option("--wrap", metavar="COMMAND", help="Another status line to print before ours.")]
Keep = Annotated[bool, Option("--wrap", help="Keep the status line that is there, and add ours to it.")]


def draw(settings: Settings, format: Template = None, wrap: Other = None) -> None:
    """Print the line."""
    quick.show(settings, target.read_stdin(), format or quick.DEFAULT_FORMAT, wrap)


def install(settings: Settings, format: Template = None, wrap: Keep = False) -> None:
    """Put the status line into Claude Code's settings; another's is never overwritten."""
    unknown = quick.unknown_fields(format or "")
    if unknown:
        raise WrongUsage(f"--format: no field {unknown[0]!r}; there are {', '.join(quick.FIELDS)}")
    words = ["statusline", *(["--format", format] if format else [])]
    command = bare_command(*words)
    done = installed.edit_user_settings(settings, lambda found: _set(found, command, wrap=wrap))
    installed.note_status_line(settings, is_installed=True, command=command)
    console.put("The status line is installed." if done.changed else "The status line is installed already.")
    installed.say_edit(done, watch="crusts statusline status")


def uninstall(settings: Settings) -> None:
    """Take the status line out of Claude Code's settings; one that it wrapped comes back."""
    done = installed.edit_user_settings(settings, remove_status_line)
    installed.note_status_line(settings, is_installed=False, command=None)
    console.put("The status line is removed." if done.changed else "Ours is not in the settings; nothing to remove.")
    installed.say_edit(done)


def status(settings: Settings) -> None:
    """Whether it is installed, and whether Claude Code's settings still have it."""
    found = state(settings)
    more = [f"Command: {found['command']}"] if found["command"] else []
    more += [f"It prints this one too: {found['wraps']}"] if found["wraps"] else []
    show.say(settings, found, found["message"], *more)


def state(settings: Settings) -> dict[str, Any]:
    """What the settings and our own notes say of the status line."""
    found = read_settings(user_settings(os.environ))
    whose, noted = status_line_state(found), installed.noted_status_line(settings)
    is_ours = whose in ("ours", "wrapped")
    command = status_line_command(found)
    missing = missing_file(command) if is_ours and command else None
    if missing:
        message = f"The status line runs {missing}, which is not there any more: run `crusts statusline install` again."
    elif is_ours and found.get("disableAllHooks") is True:
        message = "The status line is installed, but disableAllHooks in the settings turns it off."
    elif is_ours:
        message = "The status line is installed."
    elif noted:
        by = "another's is there now" if whose == "other" else "it is gone from the settings"
        message = f"The status line was installed, but {by}: run `crusts statusline install` again."
    else:
        message = "The status line is not installed" + ("; another's is there." if whose == "other" else ".")
    return {
        "installed": is_ours,
        "state": whose,
        "dropped": noted and not is_ours,
        "command": command,
        "missing": missing,
        "wraps": wrapped_command(command) if is_ours and command else None,
        "settings": user_settings(os.environ),
        "message": message,
    }


def _set(found: dict[str, Any], command: str, *, wrap: bool) -> dict[str, Any]:
    """Ours set, in place of an older one of ours; a format that was chosen before stays if none is given."""
    current = status_line_command(found)
    if current and status_line_state(found) in ("ours", "wrapped") and "--format" not in split_command(command):
        words = crusts_arguments(split_command(current))
        if "--format" in words[:-1]:
            command = f"{command} --format {shlex.quote(words[words.index('--format') + 1])}"
    return set_status_line(found, command, wrap)


statusline = Group(
    "The window in Claude Code's status line: reads the payload on stdin, prints one line.\n\n"
    f"The usual format is {quick.DEFAULT_FORMAT!r}: what stands in square brackets is left out where a field "
    f"in it is not known. Fields:\n\n{FIELDS_HELP}",
    {"install": install, "uninstall": uninstall, "status": status},
    alone=draw,
)
