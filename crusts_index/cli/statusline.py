"""`crusts statusline`: draw the line for Claude Code, and put it into its settings."""

from __future__ import annotations

import os
import shlex
from typing import Annotated, Any

import typer

from crusts_index.claude.commands import crusts_arguments, split_command
from crusts_index.claude.program import program_command
from crusts_index.claude.roots import user_settings
from crusts_index.claude.settings import read_settings
from crusts_index.claude.status_line import (
    remove_status_line,
    set_status_line,
    status_line_command,
    status_line_state,
    wrapped_command,
)
from crusts_index.cli import installed, options
from crusts_index.errors import WrongUsage
from crusts_index.quick import statusline as quick
from crusts_index.quick import target
from crusts_index.render import console
from crusts_index.store.settings import Settings

FIELDS_HELP = "\n\n".join(f"{{{name}}}: {what}." for name, what in quick.FIELDS.items())

Template = Annotated[
    str | None, typer.Option("--format", metavar="TEMPLATE", help="The line, with {fields}; see `statusline --help`.")
]
Other = Annotated[
    str | None, typer.Option("--wrap", metavar="COMMAND", help="Another status line to print before ours.")
]
Keep = Annotated[bool, typer.Option("--wrap", help="Keep the status line that is there, and add ours to it.")]

statusline = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help=(
        "The window in Claude Code's status line: reads the payload on stdin, prints one line.\n\n"
        f"The usual format is {quick.DEFAULT_FORMAT!r}: what stands in square brackets is left out where a field "
        f"in it is not known. Fields:\n\n{FIELDS_HELP}"
    ),
)


@statusline.callback(invoke_without_command=True)
def draw(context: typer.Context, format: Template = None, wrap: Other = None) -> None:
    """Print the line."""
    if context.invoked_subcommand is None:
        template = format or quick.DEFAULT_FORMAT
        quick.show(options.settings(context), target.read_stdin(), template, wrap)


@statusline.command()
def install(context: typer.Context, format: Template = None, wrap: Keep = False) -> None:
    """Put the status line into Claude Code's settings; another's is never overwritten."""
    settings = options.settings(context)
    unknown = quick.unknown_fields(format or "")
    if unknown:
        raise WrongUsage(f"--format: no field {unknown[0]!r}; there are {', '.join(quick.FIELDS)}")
    words = ["statusline", *(["--format", format] if format else [])]
    command = program_command(*words)
    done = installed.edit_user_settings(settings, lambda found: _set(found, command, wrap=wrap))
    installed.note_status_line(settings, is_installed=True, command=command)
    console.put("The status line is installed." if done.changed else "The status line is installed already.")
    installed.say_edit(done, watch="crusts statusline status")


@statusline.command()
def uninstall(context: typer.Context) -> None:
    """Take the status line out of Claude Code's settings; one that it wrapped comes back."""
    settings = options.settings(context)
    done = installed.edit_user_settings(settings, remove_status_line)
    installed.note_status_line(settings, is_installed=False, command=None)
    console.put("The status line is removed." if done.changed else "Ours is not in the settings; nothing to remove.")
    installed.say_edit(done)


@statusline.command()
def status(context: typer.Context) -> None:
    """Whether it is installed, and whether Claude Code's settings still have it."""
    settings = options.settings(context)
    found = state(settings)
    if settings.json:
        installed.document(found)
        return
    console.put(found["message"])
    if found["command"]:
        console.put(f"Command: {found['command']}")
    if found["wraps"]:
        console.put(f"It prints this one too: {found['wraps']}")


def state(settings: Settings) -> dict[str, Any]:
    """What the settings and our own notes say of the status line."""
    found = read_settings(user_settings(os.environ))
    whose, noted = status_line_state(found), installed.noted_status_line(settings)
    is_ours = whose in ("ours", "wrapped")
    command = status_line_command(found)
    if is_ours and found.get("disableAllHooks") is True:
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
