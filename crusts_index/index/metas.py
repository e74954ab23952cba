"""Takes in what the .meta.json beside a subagent's transcript says of the agent (D3)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from crusts_index.index.plan import Job
from crusts_index.regular import open_regular
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import transaction
from crusts_index.store.promises import note_text
from crusts_index.transcript.spelling import camel

_LARGEST = 1 << 20
_COLUMNS = {
    "agent_type": "agentType",
    "agent_description": "description",
    "parent_tool_use_id": "toolUseId",
    "parent_agent_id": "parentAgentId",
}
_SAY = f"""
update transcripts set meta_mtime_ns = :mtime, {", ".join(f"{name} = coalesce(:{name}, {name})" for name in _COLUMNS)}
where id = :id
"""

Meta = dict[str, str | None]
"""Agent type, description, the tool use and the agent that called it, by column."""


def write_metas(store: sqlite3.Connection, jobs: list[Job], *, keep_text: bool) -> None:
    """Store the sidecars of transcripts that the store knows already."""
    said = [(job.known.id, read_meta(job.seen.meta_path), job.seen.meta_mtime_ns) for job in jobs if job.known]
    with transaction(store):
        for transcript, meta, mtime_ns in said:
            set_meta(store, transcript, meta, mtime_ns, keep_text=keep_text)


def set_meta(
    store: sqlite3.Connection, transcript_id: int, said: Meta, mtime_ns: int | None, *, keep_text: bool
) -> None:
    """Store what one sidecar says."""
    if keep_text:
        note_text(store)
    else:
        from crusts_index.index.privacy import withhold_from  # few keep no text

        said = withhold_from("transcripts", said)
    store.execute(_SAY, {**said, "mtime": mtime_ns, "id": transcript_id})


def read_meta(path: str | None) -> Meta:
    """What a sidecar says; a missing or broken one says nothing. To be read before the store is locked."""
    value = None
    if path is not None:
        import json  # few runs meet a new subagent

        with suppress(OSError, ValueError, RecursionError), open_regular(path) as file:
            value = json.loads(file.read(_LARGEST).decode("utf-8", "replace").lstrip("\ufeff"))
    said = camel(value) if isinstance(value, dict) else {}
    return {column: _text(said, key) for column, key in _COLUMNS.items()}


def _text(said: dict[str, Any], key: str) -> str | None:
    value = said.get(key)
    return value.encode("utf-8", "replace").decode().replace("\0", "")[:2048] if isinstance(value, str) else None
