"""Which time zones there are: the C library takes one it does not know for UTC, without a word."""

import os

from crusts_index.regular import open_regular

_FOLDERS = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo")
_WITHOUT_FILE = ("UTC", "GMT", "Etc/UTC")

_NAME = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)"
_HOURS = r"[+-]?\d{1,3}(?::\d{2}){0,2}"
_DAY = rf"(?:J?\d{{1,3}}|M\d{{1,2}}\.\d\.\d)(?:/{_HOURS})?"
_RULE = rf"{_NAME}{_HOURS}(?:{_NAME}(?:{_HOURS})?(?:,{_DAY},{_DAY})?)?"


def is_zone(name: str) -> bool:
    """Whether there is a zone of that name, like Europe/Paris."""
    if name in _WITHOUT_FILE:
        return True
    if not name or name.startswith("/") or ".." in name or "\0" in name:
        return False
    folders = (os.environ.get("TZDIR"), *_FOLDERS)
    return any(_is_zone_file(os.path.join(folder, name)) for folder in folders if folder)


def can_be_tz(value: str) -> bool:
    """Whether the C library reads this value of TZ: a zone's name, a zone file, or a rule like CET-1CEST."""
    name = value.removeprefix(":")
    if is_zone(name):
        return True
    if name.startswith("/"):
        return _is_zone_file(name)
    import re

    return name == value and re.fullmatch(_RULE, value, re.ASCII) is not None


def _is_zone_file(path: str) -> bool:
    try:
        with open_regular(path) as file:
            return file.read(4) == b"TZif"
    except (OSError, ValueError):
        return False
