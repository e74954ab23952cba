"""Adds lines to a project's own files, and rules to its settings; backed up first, whole or not at all."""

import os
from collections.abc import Callable, Sequence

from crusts_index.claude.files import (
    FileChanged,
    back_up,
    check_writable,
    decoded,
    read_contents,
    write_atomically,
)
from crusts_index.claude.settings import Edit, Settings, edit_settings, read_settings
from crusts_index.errors import CrustsError


def read_text(path: str) -> str | None:
    """The text of the file at `path`; None if there is none. Raises CrustsError if it cannot be understood."""
    contents = read_contents(path)
    return None if contents is None else decoded(path, contents.data)


def append_text(path: str, addition: Callable[[str], str], backups: str) -> Edit:
    """Add `addition` of the text of the file at `path` to its end, after a blank line; make the file if need be.

    Nothing is written if the addition is empty. A copy of the old file is kept in `backups`. Links, file mode, BOM and
    line ends stay as they are. Raises CrustsError.
    """
    for _ in range(2):
        try:
            return _append_once(path, addition, backups)
        except FileChanged:
            continue
    raise CrustsError(f"{path}: something else keeps writing to it; run this again")


def denied_reads(path: str) -> list[str]:
    """The `permissions.deny` rules of the settings file at `path`. Raises CrustsError if it cannot be understood."""
    return _rules(path, read_settings(path))[1]


def deny_reads(path: str, rules: Sequence[str], backups: str) -> Edit:
    """Add rules to `permissions.deny` of the settings file at `path`, those that are there left out.

    Raises CrustsError if the file cannot be understood or written.
    """

    def change(settings: Settings) -> Settings:
        permissions, denied = _rules(path, settings)
        missing = [rule for rule in rules if rule not in denied]
        if not missing:
            return settings
        return {**settings, "permissions": {**permissions, "deny": [*permissions.get("deny", []), *missing]}}

    return edit_settings(path, change, backups)


def _append_once(path: str, addition: Callable[[str], str], backups: str) -> Edit:
    real = os.path.realpath(path)
    contents = read_contents(real)
    text = "" if contents is None else decoded(path, contents.data)
    added = addition(text).strip("\n")
    if not added:
        return Edit(real, changed=False, created=False, backup=None)
    check_writable(path)
    if contents is None:
        write_atomically(real, added + "\n", backups=backups)
        return Edit(real, changed=True, created=True, backup=None)
    newline = "\r\n" if b"\r\n" in contents.data else "\n"
    kept = contents.data
    if kept.strip() and not kept.endswith(b"\n"):
        kept += newline.encode()
    gap = newline if kept.strip() else ""
    backup = back_up(real, backups)
    whole = kept + (gap + added.replace("\n", newline) + newline).encode("utf-8")
    write_atomically(real, whole, expected=contents, backups=backups)
    return Edit(real, changed=True, created=False, backup=backup)


def _rules(path: str, settings: Settings) -> tuple[Settings, list[str]]:
    permissions = settings.get("permissions", {})
    denied = permissions.get("deny", []) if isinstance(permissions, dict) else None
    if not isinstance(permissions, dict) or not isinstance(denied, list):
        raise CrustsError(f"{path}: its permissions are not what Claude Code expects, so they are left alone")
    return permissions, [rule for rule in denied if isinstance(rule, str)]
