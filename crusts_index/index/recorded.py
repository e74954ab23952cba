"""Records as their transcripts have them, read back by offset while the transcripts are there (D16)."""

from __future__ import annotations

from functools import partial

from crusts_index.jsontext import loads_shallow
from crusts_index.regular import open_regular
from crusts_index.rows.window import SessionPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from crusts_index.rows import Fetch

_OFFSET = (1 << 40) - 1
_MOST = 64 << 20
"""Bytes of a line; a longer one is left alone."""


def reader_of(fetch: Fetch, session_id: str) -> Callable[[Iterable[int]], dict[int, dict[str, Any]]]:
    """What gives records of a session's own view by their ids, as far as its transcripts can be read."""
    return partial(records_of, {part.id: part.path for part in fetch(SessionPart, session=session_id)})


def records_of(paths: Mapping[int, str], wanted: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The records with these ids, of transcripts by their ids; those that cannot be read are left out."""
    by_transcript: dict[int, list[int]] = {}
    for record_id in wanted:
        by_transcript.setdefault(record_id >> 40, []).append(record_id)
    records: dict[int, dict[str, Any]] = {}
    for transcript, ids in by_transcript.items():
        path = paths.get(transcript)
        if path is None:
            continue
        try:
            with open_regular(path) as file:
                for record_id in sorted(ids):
                    file.seek(record_id & _OFFSET)
                    record = _decoded(file.readline(_MOST))
                    if record is not None:
                        records[record_id] = record
        except OSError:
            continue
    return records


def _decoded(line: bytes) -> dict[str, Any] | None:
    text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
    try:
        record = loads_shallow(text)
    except ValueError:
        record = _first(text)
    return record if isinstance(record, dict) else None


def _first(text: str) -> object:
    """The first of the records glued together on a line."""
    import json

    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
