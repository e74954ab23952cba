"""Claude Code's settings.json: read it, and change it without losing anything of the user's."""

import json
import os
import re
from collections.abc import Callable
from typing import Any

from crusts_index.claude.files import (
    BOM,
    Contents,
    FileChanged,
    back_up,
    check_writable,
    decoded,
    read_contents,
    write_atomically,
)
from crusts_index.errors import CrustsError
from crusts_index.jsontext import TOO_DEEP, is_deep
from crusts_index.tuples import NamedTuple

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"?+|(//|/\*)')

_INDENT = re.compile(r"\n([ \t]++)\S")
_SPACED = re.compile(r'":\s')

Settings = dict[str, Any]


class Edit(NamedTuple):
    """What `edit_settings` did: the file it wrote to (links resolved), and its copy of the old one."""

    path: str
    changed: bool
    created: bool
    backup: str | None


class _Style(NamedTuple):
    bom: bool
    indent: str | None
    newline: str
    last_newline: bool
    spaced: bool


def read_settings(path: str) -> Settings:
    """The settings in the file at `path`; empty if there is no file or nothing in it.

    Raises CrustsError, saying why, if the file cannot be understood.
    """
    contents = read_contents(path)
    return _parse(path, contents.data) if contents else {}


def edit_settings(path: str, change: Callable[[Settings], Settings], backups: str) -> Edit:
    """Replace the settings in the file at `path` by `change` of them, and keep a copy in `backups`.

    Key order, indentation, line ends, BOM, file mode and links stay as they are. If nothing changes, nothing
    is written. `change` is called again if someone else writes to the file meanwhile. Raises CrustsError.
    """
    for _ in range(2):
        try:
            return _edit_once(path, change, backups)
        except FileChanged:
            continue
    raise CrustsError(f"{path}: something else keeps writing to it; close Claude Code and run this again")


def _edit_once(path: str, change: Callable[[Settings], Settings], backups: str) -> Edit:
    real = os.path.realpath(path)
    contents = read_contents(real)
    settings = _parse(path, contents.data) if contents else {}
    changed = change(_parse(path, contents.data) if contents else {})  # read again: it may change what it is given
    if json.dumps(changed) == json.dumps(settings):  # not ==, to which 1 and true are the same
        return Edit(real, changed=False, created=False, backup=None)
    text = _render(path, changed, _style_of(contents))
    check_writable(path)
    if contents is None:
        if os.path.lexists(real):
            raise FileChanged(path)
        write_atomically(real, text, backups=backups)
        return Edit(real, changed=True, created=True, backup=None)
    backup = back_up(real, backups)
    write_atomically(real, text, expected=contents, backups=backups)
    return Edit(real, changed=True, created=False, backup=backup)


def _parse(path: str, data: bytes) -> Settings:
    text = decoded(path, data)
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise CrustsError(f"{path}: {TOO_DEEP}, so it is left alone") from error
    except ValueError as error:
        if _has_comments(text):
            reason = "has comments, which rewriting would lose"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        else:
            reason = f"not valid JSON ({error})"
        raise CrustsError(f"{path}: {reason}, so it is left alone; mend it and run this again") from error
    if is_deep(settings):
        raise CrustsError(f"{path}: {TOO_DEEP}, so it is left alone")
    if not isinstance(settings, dict):
        raise CrustsError(f"{path}: holds no JSON object, so it is left alone; mend it and run this again")
    return settings


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _has_comments(text: str) -> bool:
    return any(match[1] for match in _COMMENT.finditer(text))


def _style_of(contents: Contents | None) -> _Style:
    if contents is None:
        return _Style(bom=False, indent="  ", newline="\n", last_newline=True, spaced=True)
    text = contents.data.decode("utf-8")
    bom = text.startswith(BOM)
    body = text.removeprefix(BOM).strip()
    indented = _INDENT.search(body)
    indent = indented[1] if indented else "  "
    one_line = "\n" not in body and body not in ("", "{}")
    return _Style(
        bom=bom,
        indent=None if one_line else indent,
        newline="\r\n" if "\r\n" in text else "\n",
        last_newline=not body or text.endswith("\n"),
        spaced=not one_line or _SPACED.search(body) is not None,
    )


def _render(path: str, settings: Settings, style: _Style) -> bytes:
    separators = (", " if style.indent is None else ",", ": ") if style.spaced else (",", ":")
    try:
        text = json.dumps(settings, indent=style.indent, separators=separators, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair can only be written as an escape
        text = json.dumps(settings, indent=style.indent, separators=separators, allow_nan=False)
    except ValueError as error:
        raise CrustsError(f"{path}: holds a number that would not survive rewriting, so it is left alone") from error
    text = text.replace("\n", style.newline) + (style.newline if style.last_newline else "")
    return ((BOM if style.bom else "") + text).encode("utf-8")
