"""Takes in what the .meta.json beside a subagent's transcript says of the agent (D3)."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from crusts_index.index.plan import Job
from crusts_index.store.open import transaction

_LARGEST = 1 << 20


def write_metas(store: sqlite3.Connection, jobs: list[Job]) -> None:
    """Store the sidecars of transcripts that the store knows already."""
    with transaction(store):
        for job in jobs:
            if job.known is not None:
                set_meta(store, job.known.id, job.seen.meta_path, job.seen.meta_mtime_ns)


def set_meta(store: sqlite3.Connection, transcript_id: int, path: str | None, mtime_ns: int | None) -> None:
    """Store one sidecar; a missing or broken one says nothing."""
    said = _read(path)
    store.execute(
        "update transcripts set meta_mtime_ns = ?, agent_type = coalesce(?, agent_type),"
        " agent_description = coalesce(?, agent_description), parent_tool_use_id = coalesce(?, parent_tool_use_id),"
        " parent_agent_id = coalesce(?, parent_agent_id) where id = ?",
        (
            mtime_ns,
            *(_text(said, key) for key in ("agentType", "description", "toolUseId", "parentAgentId")),
            transcript_id,
        ),
    )


def _read(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read(_LARGEST).decode("utf-8", "replace").lstrip("\ufeff"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(said: dict[str, Any], key: str) -> str | None:
    value = said.get(key)
    return value.encode("utf-8", "replace").decode()[:2048] if isinstance(value, str) else None
