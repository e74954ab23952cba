"""Which session is meant: as a payload, the command line or the folder one stands in says."""

import os
from contextlib import suppress

from crusts_index.errors import CrustsError
from crusts_index.store import query
from crusts_index.store.open import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from crusts_index.store.settings import Settings

PATIENCE = 0.1
"""Seconds to wait for a lock: a status line is cancelled by the next one anyway."""
_ID_LENGTH = 36


class Named:
    """Which session is meant and what Claude Code says of it; None where it says nothing. Sizes in tokens."""

    def __init__(
        self,
        session_id: str | None = None,
        transcript_path: str | None = None,
        model: str | None = None,
        window_size: int | None = None,
        context_tokens: int | None = None,
        output_tokens: int | None = None,
        cwd: str | None = None,
    ) -> None:
        self.session_id, self.transcript_path, self.cwd = session_id, transcript_path, cwd
        self.model, self.window_size = model, window_size
        self.context_tokens, self.output_tokens = context_tokens, output_tokens
        self.connection: sqlite3.Connection | None = None  # where it was found, open, if it was looked for


def stem_of(path: str | None) -> str:
    """The session that a transcript's name names."""
    return os.path.basename(path or "").removesuffix(".jsonl")


def open_quietly(settings: "Settings") -> "sqlite3.Connection | None":
    """The store for reading; None where there is none, or it cannot be read now or by this program."""
    try:
        return open_store(settings.db, timeout=PATIENCE)
    except CrustsError:
        return None


def choose(settings: "Settings", prefix: str | None, last: int | None, folder: str) -> Named:
    """The session that the command line names (cli.md). Raises CrustsError."""
    from crusts_index.insight.choose import choose_session

    connection = open_store(settings.db, timeout=PATIENCE)
    try:
        named = Named(
            choose_session(
                lambda name, **given: query.run(connection, name, **given).rows,
                prefix,
                last=last,
                project=settings.project,
                folder=None if settings.project else folder,
            )
        )
    except BaseException:
        connection.close()
        raise
    named.connection = connection
    return named


def newest(settings: "Settings", folder: str) -> Named:
    """The session last active in a folder, else anywhere: what a person means who names none."""
    try:
        return latest(settings, folder) or choose(settings, None, None, folder)
    except CrustsError:
        return Named(cwd=folder)


def latest(settings: "Settings", folder: str) -> Named | None:
    """The transcript last written to in the project folder of `folder`, in the store or not; None if it has none."""
    from crusts_index.claude.roots import project_slug

    slug = project_slug(folder)
    found: list[tuple[float, str]] = []
    for projects in _projects_folders(settings):
        with suppress(OSError), os.scandir(os.path.join(projects, slug)) as entries:
            found += [
                (entry.stat().st_mtime, entry.path)
                for entry in entries
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-") and entry.is_file()
            ]
    if not found:
        return None
    path = max(found)[1]
    return Named(stem_of(path), path, cwd=folder)


def unindexed(settings: "Settings", session_id: str) -> Named | None:
    """The transcript of a session that the store does not know yet, by its whole id; None if there is none."""
    if len(session_id) != _ID_LENGTH or os.sep in session_id:
        return None
    for projects in _projects_folders(settings):
        with suppress(OSError), os.scandir(projects) as entries:
            for entry in entries:
                path = os.path.join(entry.path, session_id + ".jsonl")
                if os.path.isfile(path):
                    return Named(session_id, path)
    return None


def _projects_folders(settings: "Settings") -> list[str]:
    from crusts_index.claude.roots import find_roots

    with suppress(CrustsError):
        roots = find_roots(settings.roots, settings.roots_from, os.environ)
        return [root.projects_dir for root in roots]
    return []
