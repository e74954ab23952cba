"""What runs that were killed left lying: half a store, half a copy, a file that was to take another's place.

Only what is ours by its name, or by a note of ours that names it, and whose maker is gone.
"""

from __future__ import annotations

import os
import stat

from crusts_index.errors import ignored
from crusts_index.store import files
from crusts_index.store.locks import held, is_held, rebuild_lock, store_lock
from crusts_index.store.settings import Settings, backup_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_JOURNALS = ("-journal", "-wal", "-shm")
_SUSPECT = (".new", ".tmp", *(f".new{journal}" for journal in _JOURNALS))
# Of a rebuild, of the copy that it or an upgrade makes first with what SQLite lays beside that, and the lock.
_HALF_MADE = rf"\.(?:rebuild(?:[-.].+)?|rebuilding|\d+\.(?:old|bak)\.new(?:{'|'.join(_JOURNALS)})?)"
_APART = "crusts-apart-"
_FOLDER = r"(?:verify|crusts-apart)-(\d+)-.+"
_REPLACED = "|".join(files.REPLACED).replace(".", r"\.")
_OF_HOME = rf"(?:{_REPLACED})\.(\d+)\.(?:\d+\.)?(?:tmp|new)"


def scratch_prefix() -> str:
    """How the folder begins into which this process reads everything anew, beside a store."""
    return f"verify-{os.getpid()}-"


def apart_prefix() -> str:
    """How the folder begins into which this process reads a transcript apart, among the system's temporary files."""
    return f"{_APART}{os.getpid()}-"


def clear_apart(folder: str) -> None:
    """Delete what was read apart by a status line that was ended: there is text in it, and nobody knows of it."""
    _delete(_scratch_folders(folder, _APART))


def find(settings: Settings) -> list[str]:
    """What lies there and is nobody's any more."""
    if is_held(rebuild_lock(settings.db)):
        return [*_unfinished(settings), *_all_scratch_folders(settings.db)]
    return [*_half_made(settings.db), *_unfinished(settings), *_all_scratch_folders(settings.db)]


def has_half_made(settings: Settings) -> bool:
    """Whether there is what goes only while nobody writes to the store."""
    return any(_half_made(settings.db))


def clear(settings: Settings, *, is_rebuilding: bool = False) -> None:
    """Delete it. Half-made stores only while nobody else rebuilds, upgrades or writes: else the next run does."""
    for path in list(_unfinished(settings)):
        with ignored(OSError):
            os.unlink(path)
    _delete(_all_scratch_folders(settings.db))
    with ignored(OSError):
        os.rmdir(f"{backup_folder(settings)}.unfinished")
    if not any(_half_made(settings.db)):
        return
    with held(rebuild_lock(settings.db)) as is_mine:
        if is_mine or is_rebuilding:
            with held(store_lock(settings.db)) as is_alone:
                for path in _half_made(settings.db):
                    if (is_alone or ".bak.new" not in os.path.basename(path)) and not _is_lock(path, settings.db):
                        with ignored(OSError):
                            os.unlink(path)


def _half_made(db: str) -> Iterator[str]:
    folder, name = os.path.split(os.path.abspath(db))
    for entry in _suspects(folder):
        if entry.startswith(name) and _fits(_HALF_MADE, entry[len(name) :]):
            yield os.path.join(folder, entry)


def _is_lock(path: str, db: str) -> bool:
    """Whether it is the lock that is held: who lets go takes it away. That of a half-made store is nobody's."""
    return os.path.basename(path) == os.path.basename(rebuild_lock(os.path.abspath(db)))


def _all_scratch_folders(db: str) -> Iterator[str]:
    yield from _scratch_folders(os.path.dirname(os.path.abspath(db)), "verify-")
    # As `tempfile` has it, which takes long to import, wherever that is not full.
    yield from _scratch_folders(os.environ.get("TMPDIR") or "/tmp", _APART)


def _scratch_folders(folder: str, beginning: str) -> Iterator[str]:
    suspects = [name for name in _entries(folder) if name.startswith(beginning)]
    if not suspects:
        return
    from crusts_index.claude.files import is_abandoned

    for entry in suspects:
        found, path = _fits(_FOLDER, entry), os.path.join(folder, entry)
        if found and is_abandoned(path, int(found[1]), stat.S_IFDIR):
            yield path


def _delete(folders: Iterator[str]) -> None:
    for path in list(folders):
        import shutil

        shutil.rmtree(path, ignore_errors=True)


def _unfinished(settings: Settings) -> Iterator[str]:
    copies = backup_folder(settings)
    suspects = _suspects(settings.home)
    if not suspects and not os.path.exists(f"{copies}.unfinished"):
        return
    from crusts_index.claude.files import is_abandoned, unfinished_files  # dear to import, and mostly nothing is left

    for entry in suspects:
        found = _fits(_OF_HOME, entry)
        if found and is_abandoned(os.path.join(settings.home, entry), int(found[1])):
            yield os.path.join(settings.home, entry)
    yield from unfinished_files(copies)


def _suspects(folder: str) -> list[str]:
    return sorted(name for name in _entries(folder) if name.endswith(_SUSPECT) or ".rebuild" in name)


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _fits(pattern: str, name: str) -> re.Match[str] | None:
    import re  # only now, likewise

    return re.fullmatch(pattern, name)
