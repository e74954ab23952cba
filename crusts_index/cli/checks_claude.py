"""Checks of `crusts doctor` on Claude Code's side: its folders, its settings, and what of ours stands in them."""

import os
from collections.abc import Callable, Iterator
from typing import Any

from crusts_index import __version__
from crusts_index.claude import slash_command
from crusts_index.claude.roots import config_dir, user_settings
from crusts_index.claude.settings import read_settings
from crusts_index.cli import hooks, statusline
from crusts_index.cli.check import FAIL, PASS, WARN, Verdict
from crusts_index.index.refresh import roots_of
from crusts_index.store.config import Unread, config_path
from crusts_index.store.settings import Settings, backup_folder

KEPT_DAYS = 30
"""Days for which Claude Code keeps transcripts unless its settings say otherwise."""


def checks(settings: Settings) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """The checks with their names, in order."""
    yield "crusts version", lambda: (PASS, f"crusts {__version__}")
    yield "crusts settings", lambda: _config(settings)
    yield "Claude Code install", _install
    yield "Claude Code settings", _settings
    yield "Roots", lambda: _roots(settings)
    yield "Hook integration", lambda: _hooks(settings)
    yield "Auto-inject", lambda: _auto_inject(settings)
    yield "Status line integration", lambda: _status_line(settings)
    yield "Slash command", _slash_command
    yield "Backup folder", lambda: _backups(settings)


def kept_days() -> float:
    """Days after which Claude Code deletes a transcript that is not written to."""
    found = read_settings(user_settings(os.environ)).get("cleanupPeriodDays")
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e9:
        return float(found)
    return KEPT_DAYS


def _install() -> Verdict:
    folder = config_dir(os.environ)
    if os.path.isdir(folder):
        return PASS, folder
    return FAIL, f"{folder} is not there: start Claude Code once, or set CLAUDE_CONFIG_DIR"


def _config(settings: Settings) -> Verdict:
    path = config_path(settings.home)
    if isinstance(settings.config, Unread):
        return FAIL, f"{path} cannot be used, so the defaults hold and no text is kept: mend it, or move it away"
    return PASS, path if os.path.exists(path) else f"{path} is not there: the defaults hold"


def _settings() -> Verdict:
    path = user_settings(os.environ)
    if not os.path.exists(path):
        return WARN, f"{path} is not there; hooks and status line make it"
    found = read_settings(path)
    if found.get("disableAllHooks") is True:
        return WARN, f"{path}: disableAllHooks turns hooks and status line off"
    return PASS, path


def _roots(settings: Settings) -> Verdict:
    found = roots_of(settings)
    if not found:
        return FAIL, "no Claude Code folder found: name one with --path or CLAUDE_CONFIG_DIR"
    empty = [root.projects_dir for root in found if not os.path.isdir(root.projects_dir)]
    if empty:
        return WARN, f"{empty[0]} is not there: no session so far?"
    return PASS, ", ".join(root.projects_dir for root in found)


def _hooks(settings: Settings) -> Verdict:
    if not os.path.exists(user_settings(os.environ)):
        return WARN, "no settings to look into; `crusts hooks enable` keeps the store up to date"
    found: dict[str, Any] = hooks.state(settings)
    detail = " ".join(found["messages"])
    if found["dropped"] or (found["disabledByUser"] and found["enabled"]):
        return WARN, detail
    hint = "" if found["enabled"] else " `crusts hooks enable` keeps the store up to date."
    return PASS, detail + hint


def _auto_inject(settings: Settings) -> Verdict:
    found: dict[str, Any] = hooks.inject_state(settings, read_settings(user_settings(os.environ)))
    return (WARN if found["enabled"] != found["installed"] else PASS), found["message"]


def _status_line(settings: Settings) -> Verdict:
    if not os.path.exists(user_settings(os.environ)):
        return WARN, "no settings to look into; `crusts statusline install` shows the window at a glance"
    found: dict[str, Any] = statusline.state(settings)
    is_odd = found["dropped"] or found["missing"] or found["state"] == "other"
    return (WARN if is_odd else PASS), found["message"]


def _slash_command() -> Verdict:
    found = slash_command.state(config_dir(os.environ))
    if found == "none":
        return PASS, "not installed: `crusts install-command` writes /crusts"
    if found == "ours":
        return PASS, "/crusts is installed"
    return PASS, "/crusts is there, with a text of the user's" if found == "changed" else "/crusts is another's"


def _backups(settings: Settings) -> Verdict:
    place = folder = backup_folder(settings)
    while not os.path.exists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        return FAIL, f"{place} is not a folder, so copies cannot be kept in {folder}"
    if not os.access(place, os.W_OK):
        return FAIL, f"{place} cannot be written to, so copies cannot be kept in {folder}"
    return PASS, folder if place == folder else f"{folder} (made when needed)"
