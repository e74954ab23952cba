"""`crusts readout`: a period in one line of JSON, and its detail in context.json (X-readout)."""

import os
import sys

from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.insight.money import readout as insight
from crusts_index.jsontext import dumps
from crusts_index.plain import Safe, escaped, note
from crusts_index.regular import replace_private
from crusts_index.rows.readout import (
    ReadoutBreaks,
    ReadoutCompaction,
    ReadoutCurve,
    ReadoutReread,
    ReadoutSession,
    ReadoutTool,
    ReadoutTotal,
)
from crusts_index.store import query, when
from crusts_index.store.files import READOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from crusts_index.rows import Row
    from crusts_index.store.settings import Settings

SCHEMA_VERSION = 1
MOST_DAYS = 36_500


def period(days: int | None, since: str | None) -> int:
    """UTC milliseconds at which the period begins. WrongUsage if both are given or one makes no sense."""
    if days is not None and since is not None:
        raise WrongUsage("--days and --since: give one of the two")
    now = when.now_ms()
    if since is None:
        return now - (days or insight.DAYS) * 86_400_000
    try:
        return when.parse_when(since, now)
    except WrongUsage as error:
        raise WrongUsage(f"--since: {error}") from None


def answer(settings: "Settings", since: int, path: str | None, *, full: bool) -> str:
    """What the command prints: the detail with `full`, else the compact line, for which the detail is kept.

    Raises CrustsError where there is no store, or the detail cannot be written to the path that was named.
    """
    from crusts_index.index.refresh import open_refreshed

    store = open_refreshed(settings)
    try:
        told = read(store, since, settings.project)
    finally:
        store.close()
    document = {"schema_version": SCHEMA_VERSION, **told}
    kept: str | None = None
    if path is not None or not full:
        kept = _keep(document, os.path.abspath(path or os.path.join(settings.home, READOUT)), named=bool(path))
    if full:
        return encode(document, indent=sys.stdout.isatty())
    return insight.compact(told, kept, encode)


def read(store: "sqlite3.Connection", since: int, project: str | None) -> "dict[str, Any]":
    """The detail of the period that begins at `since`, UTC milliseconds."""

    def rows(kind: "type[Row]") -> "list[Row]":
        return query.rows(store, kind, since=since, project=project)

    curves: dict[int, list[int]] = {}
    for part in query.rows(store, ReadoutCurve, since=since):
        curves.setdefault(part.session_key, []).extend(map(int, part.contexts.split(",")))
    return insight.detail(
        when.iso(since),
        rows(ReadoutTotal)[0],
        rows(ReadoutSession),
        curves,
        rows(ReadoutCompaction),
        rows(ReadoutReread),
        rows(ReadoutTool),
        rows(ReadoutBreaks),
    )


def encode(value: object, *, indent: bool = False) -> Safe:
    """JSON without a character that could do harm on a terminal."""
    if not indent:
        return escaped(dumps(value))
    import json

    return escaped(json.dumps(value, indent=2, ensure_ascii=False))


def _keep(document: object, path: str, *, named: bool) -> str | None:
    """Write the detail; None if the usual place refuses."""
    try:
        replace_private(path, f"{encode(document)}\n".encode())
    except OSError as error:
        if named:
            raise CrustsError(f"--detail: cannot write {path}: {error.strerror}") from error
        note(f"cannot write {path}: {error.strerror}; name another with --detail")
        return None
    return path
