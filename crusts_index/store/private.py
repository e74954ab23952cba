"""Keeps what is ours from all others: our files wherever they lie, and the folder where it is ours alone. Spec: D16."""

import os
import stat

from crusts_index.errors import ignored
from crusts_index.store import files
from crusts_index.store.open import SIDE_FILES
from crusts_index.store.settings import Settings, backup_folder, search_path

_DEFAULT = ".claude-crusts"


def found(settings: Settings) -> list[str]:
    """What is ours and there: only its owner may read it. A folder that holds anything else is left to its owner."""
    home, copies = settings.home, backup_folder(settings)
    paths = [os.path.join(home, name) for name in files.ALL] + _stores(settings)
    if copies.startswith(home + os.sep):
        paths.append(copies)
    there = [path for path in paths if os.path.exists(path)]
    return [home, *there] if is_ours(home, settings.db) else there


def open_to_others(path: str) -> bool:
    """Whether anybody but its owner may do anything with it; no pipe or device is ever ours."""
    with ignored(OSError):
        mode = os.stat(path).st_mode
        return bool(mode & 0o077) and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def tighten(settings: Settings) -> list[str]:
    """Take it from all others; gives back what was open to them."""
    changed = []
    for path in found(settings):
        if open_to_others(path):
            with ignored(OSError):
                os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & 0o700)
                changed.append(path)
    return changed


def _stores(settings: Settings) -> list[str]:
    """The store, the search file, what SQLite keeps beside them, and copies of the store."""
    paths = [name + side for name in (settings.db, search_path(settings.db)) for side in ("", *SIDE_FILES)]
    return paths + copies_of(settings.db)


def copies_of(db: str) -> list[str]:
    """Copies that upgrades and rebuilds left beside the store: `index.db.0001.bak`, `index.db.<time>.old`."""
    folder, name = os.path.split(os.path.abspath(db))
    found: list[str] = []
    with ignored(OSError):
        for entry in sorted(os.listdir(folder)):
            number, _, ending = entry.removeprefix(f"{name}.").partition(".")
            if entry.startswith(f"{name}.") and number.isdigit() and ending in ("bak", "old"):
                found.append(os.path.join(folder, entry))
    return found


def is_ours(folder: str, db: str) -> bool:
    """Whether a folder is the usual one, or holds nothing but what belongs to the store at `db`."""
    if not os.path.isdir(folder) or os.path.islink(folder):
        return False
    if os.path.basename(folder) == _DEFAULT:
        return True
    ours = (*files.ALL, *(os.path.basename(path) for path in (db, search_path(db))))
    return all(name.startswith(ours) or name.startswith("backups") for name in os.listdir(folder))
