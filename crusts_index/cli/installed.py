"""What we put into Claude Code's settings, noted on our side, so that it is told when something took it out."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from typing import Any

from crusts_index.claude.files import read_contents, write_atomically
from crusts_index.claude.roots import user_settings
from crusts_index.claude.settings import Edit, edit_settings
from crusts_index.errors import CrustsError
from crusts_index.folders import make_private
from crusts_index.jsontext import loads_shallow
from crusts_index.render import console
from crusts_index.store.config import write_config
from crusts_index.store.files import STATUS_LINE
from crusts_index.store.settings import Settings, backup_folder


def backups(settings: Settings) -> str:
    """The same folder, made if need be.

    Raises CrustsError if nothing can be written there: then nothing must be changed either.
    """
    folder = backup_folder(settings)
    try:
        make_private(folder)
        for place in (settings.home, folder):
            if not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise CrustsError(
            f"{folder}: cannot be written ({error.strerror}); set CRUSTS_HOME to another folder"
        ) from error
    return folder


def edit_user_settings(settings: Settings, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Edit:
    """Change the user's settings of Claude Code, with a copy kept. Raises CrustsError."""
    return edit_settings(user_settings(os.environ), change, backups(settings))


def say_edit(done: Edit, watch: str | None = None) -> None:
    """Say which file was changed and where it is kept as it was; and by which command to see that it stays so."""
    if done.backup:
        console.note(f"changed {done.path}; the file as it was is {done.backup}")
    if done.changed and watch is not None:
        console.note(f"a Claude Code that is running may write its settings back: `{watch}` tells")


def note_hooks(settings: Settings, events: list[str]) -> None:
    """Note the events whose hooks are installed."""
    on = bool(events)
    write_config(
        settings.home,
        {"hooksEnabled": on, "hookEvents": list(events) if on else None, "installedAt": now() if on else None},
    )


def noted_hooks(settings: Settings) -> list[str]:
    """The events whose hooks are installed, as far as we know."""
    events = settings.config.get("hookEvents")
    if settings.config.get("hooksEnabled") is not True or not isinstance(events, list):
        return []
    return [event for event in events if isinstance(event, str)]


def note_status_line(settings: Settings, *, is_installed: bool, command: str | None) -> None:
    """Note whether the status line is installed, in statusline.json."""
    said: dict[str, Any] = {"installed": is_installed}
    if is_installed:
        said |= {"installedAt": now(), "command": command}
    write_atomically(_note(settings), json.dumps(said, indent=2) + "\n")
    os.chmod(_note(settings), 0o600)


def noted_status_line(settings: Settings) -> bool:
    """Whether the status line is installed, as far as we know."""
    try:
        contents = read_contents(_note(settings))
        said = loads_shallow(contents.data.decode()) if contents else {}
    except (CrustsError, ValueError):
        return False
    return isinstance(said, dict) and said.get("installed") is True


def now() -> str:
    """This moment, as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _note(settings: Settings) -> str:
    return os.path.join(settings.home, STATUS_LINE)
