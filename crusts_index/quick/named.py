"""Which session is meant: as a payload, the command line or the folder one stands in says."""

import os

from crusts_index.claude.transcripts import named_transcripts, session_of
from crusts_index.errors import CrustsError, ignored
from crusts_index.quick.target import roots_there
from crusts_index.store import query
from crusts_index.store.open import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from crusts_index.claude.payloads import HookPayload, StatusPayload, Told
    from crusts_index.claude.roots import Root
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
        self.roots: list[Root] | None = None  # where its transcript must lie, if it is not the user who named it
        self.told: Told | None = None  # what else a payload says of it


def stem_of(path: str | None) -> str:
    """The session that a transcript's name names."""
    return os.path.basename(path or "").removesuffix(".jsonl")


def open_quietly(settings: "Settings") -> "sqlite3.Connection | None":
    """The store for reading; None where there is none, or it cannot be read now or by this program."""
    try:
        return open_store(settings.db, timeout=PATIENCE)
    except CrustsError:
        return None


def of_payload(settings: "Settings", payload: "HookPayload | StatusPayload") -> Named:
    """The session that a payload names, with its transcript where there is one under the roots, and only there."""
    roots = roots_there(settings)
    found = named_transcripts(roots, payload.session_id, payload.transcript_path)
    path = found[0] if found else None
    named = Named(payload.session_id or session_of(payload.transcript_path), path, payload.model_id, cwd=payload.cwd)
    named.roots, named.told = roots, payload.told
    return named


def choose(settings: "Settings", prefix: str | None, last: int | None, folder: str) -> Named:
    """The session that the command line names. Raises CrustsError."""
    from crusts_index.insight.session.choose import choose_session

    connection = open_store(settings.db, timeout=PATIENCE)
    try:
        named = Named(
            choose_session(
                lambda *kinds, **given: query.rows(connection, *kinds, **given),
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
    for root in roots_there(settings):
        with ignored(OSError), os.scandir(os.path.join(root.projects_dir, slug)) as entries:
            found += [
                (entry.stat().st_mtime, entry.path)
                for entry in entries
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-") and entry.is_file()
            ]
    if not found:
        return None
    path = max(found)[1]
    return Named(stem_of(path), path, cwd=folder)


def here() -> str:
    """The folder one stands in; the topmost one where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def unindexed(settings: "Settings", session_id: str) -> Named | None:
    """The transcript of a session that the store does not know yet, by its whole id; None if there is none."""
    if len(session_id) != _ID_LENGTH:
        return None
    found = named_transcripts(roots_there(settings), session_id, None)
    return Named(session_id, found[0]) if found else None
