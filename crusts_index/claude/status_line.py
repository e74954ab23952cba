"""The status line entry in a settings object: set ours, wrap another's, remove only ours."""

import shlex
from typing import Any

from crusts_index.claude.commands import crusts_arguments, is_crusts_command, split_command
from crusts_index.errors import CrustsError

Settings = dict[str, Any]
WRAP = "--wrap"


def status_line_command(settings: Settings) -> str | None:
    """The command that draws the status line; None if there is none."""
    entry = settings.get("statusLine")
    command = entry.get("command") if isinstance(entry, dict) else None
    return command if isinstance(command, str) and command.strip() else None


def status_line_state(settings: Settings) -> str:
    """Whose the status line is: `none`, `ours`, `wrapped` (ours around another's) or `other`."""
    command = status_line_command(settings)
    if command is None:
        return "none" if settings.get("statusLine") is None else "other"
    if not is_crusts_command(command, "statusline"):
        return "other"
    return "ours" if wrapped_command(command) is None else "wrapped"


def set_status_line(settings: Settings, command: str, wrap: bool = False) -> Settings:
    """`settings` whose status line runs `command`, such as `crusts statusline`.

    Another's status line is refused with CrustsError, unless `wrap`: then ours runs it and adds to it. One
    that is wrapped already stays wrapped.
    """
    state = status_line_state(settings)
    if state == "none":
        return {**settings, "statusLine": {"type": "command", "command": command, "padding": 0}}
    current = status_line_command(settings)
    if state == "other":
        if current is None:
            raise CrustsError("the settings have a statusLine that is no command, so it is left alone")
        if not wrap:
            raise CrustsError(f"there is another status line ({current}): keep both with {WRAP}, or remove it first")
        inner: str | None = current
    else:
        inner = wrapped_command(current or "")
    return _with_command(settings, command if inner is None else f"{command} {WRAP} {shlex.quote(inner)}")


def remove_status_line(settings: Settings) -> Settings:
    """`settings` without our status line; the one it wrapped comes back, another's stays."""
    state = status_line_state(settings)
    if state not in ("ours", "wrapped"):
        return settings
    if state == "ours":
        return {key: value for key, value in settings.items() if key != "statusLine"}
    return _with_command(settings, wrapped_command(status_line_command(settings) or ""))


def _with_command(settings: Settings, command: str | None) -> Settings:
    return {**settings, "statusLine": {**settings["statusLine"], "command": command}}


def wrapped_command(command: str) -> str | None:
    """The command that a status line command of ours wraps; None if it wraps none."""
    words = crusts_arguments(split_command(command))
    if WRAP not in words[:-1]:
        return None
    return words[words.index(WRAP) + 1]
