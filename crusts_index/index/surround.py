"""Keeps what surrounds the projects that a run touched: sizes and names of instructions, memory, tools (D11, D16)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crusts_index.claude.roots import Root
from crusts_index.folders import is_text
from crusts_index.jsontext import dumps
from crusts_index.store.driver import sqlite3
from crusts_index.store.open import transaction
from crusts_index.store.promises import note_text

_PROJECTS = """
select distinct p.path from transcripts t
join sessions s on s.id = t.session_id join projects p on p.id = s.project_id
where t.root = ? and t.id in (select value from json_each(?))
"""
_SAME = """
select id from surroundings
where path = ? and content_hash = ? and project_path is ? and kind = ? and name is ? and mtime_ns = ?
"""
_NEW = """
insert into surroundings (path, content_hash, project_path, kind, name, mtime_ns, bytes, chars, tokens, detail,
  first_seen_ms, last_seen_ms) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def keep_surroundings(
    store: sqlite3.Connection, roots: Iterable[Root], changed: Iterable[int], now_ms: int, *, keep_text: bool
) -> None:
    """Look around the projects of the changed transcripts, and keep what is new or still so."""
    touched = dumps(list(changed))
    wanted = dict.fromkeys(
        # Where the project's folder is gone, what the user set for all projects holds still (D10).
        (root.config_dir, path if os.path.isdir(path) else None)
        for root in roots
        if root.config_dir is not None and is_text(os.path.realpath(root.projects_dir))
        for (path,) in store.execute(_PROJECTS, (os.path.realpath(root.projects_dir), touched)).fetchall()
    )
    there = [
        (config_dir, path)
        for config_dir, path in wanted
        if path or os.path.exists(os.path.join(config_dir, "settings.json"))
    ]
    if not there:
        return
    import json  # only now: many a project is no more there

    from crusts_index.claude.surroundings import snapshot

    seen = [
        found
        for config_dir, path in there
        for found in snapshot(config_dir, path)
        if is_text(f"{found.path}{found.name}") and (path or found.kind == "settings")
    ]
    if not seen:
        return
    with transaction(store):
        if keep_text:
            note_text(store)
        for one in seen:
            said = {"name": one.name, "detail": json.dumps(one.detail, ensure_ascii=False) if one.detail else None}
            if not keep_text:
                from crusts_index.index.privacy import withhold_from  # few keep no text

                said = withhold_from("surroundings", said)
            key = (one.path, one.content_hash, one.project_path, one.kind, said["name"], one.mtime_ns)
            row = store.execute(_SAME, key).fetchone()
            if row is not None:
                store.execute("update surroundings set last_seen_ms = ? where id = ?", (now_ms, row[0]))
            else:
                store.execute(_NEW, (*key, one.bytes, one.chars, one.tokens, said["detail"], now_ms, now_ms))
