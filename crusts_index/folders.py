"""Folders as users and records name them: made absolute, taken from a comma list, spelled one way."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # `collections.abc` stays off the quick paths
    from collections.abc import Mapping

_MOST_COMMAS = 64
"""Commas that the name of one folder may hold."""


def make_private(path: str) -> None:
    """A folder for its owner alone, and those above it that are missing; what is there stays as it is."""
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        make_private(above)
    os.makedirs(path, mode=0o700, exist_ok=True)


def absolute(path: str, environ: "Mapping[str, str]") -> str:
    """The path from the root on, `~` being the user's home; it need not exist."""
    if path == "~" or path.startswith("~/"):
        path = home_dir(environ) + path[1:]
    return os.path.abspath(os.path.expanduser(path))


def home_dir(environ: "Mapping[str, str]") -> str:
    """The user's home folder."""
    return environ.get("HOME") or os.path.expanduser("~")


def there(path: str, environ: "Mapping[str, str]") -> str | None:
    """The folder's absolute path, as named or with its accents composed; None if it is not there.

    Claude Code composes the name first; file systems that tell the two forms apart need that too.
    """
    full = absolute(path, environ)
    return next((form for form in (full, composed(full)) if os.path.isdir(form)), None)


def listed(value: str, environ: "Mapping[str, str]") -> list[str]:
    """The folders that a comma list names, each once, absolute; they need not exist. Blanks around a name go.

    A comma may be part of a name: neighbours that make a folder that is there when joined, as many as do, are it.
    """
    parts, found = value.split(","), []
    while parts:
        path, used = _first(parts, environ)
        if path:
            found.append(path)
        del parts[:used]
    return list(dict.fromkeys(found))


def project_path(path: str) -> str:
    """A project's folder in one spelling: on Windows a capital drive, slashes as `\\`, none of them the last (D22)."""
    windows = path.replace("/", "\\")
    if windows.startswith("\\\\?\\"):  # the long form of either of the others
        path = windows = windows[4:] if windows[4:8].upper() != "UNC\\" else f"\\\\{windows[8:]}"
    if path.startswith("\\\\"):
        lead, rest = "\\\\", windows
    elif windows[1:3] in (":", ":\\") and windows[0].isascii() and windows[0].isalpha():
        lead, rest = f"{windows[0].upper()}:\\", windows[2:]
    else:
        return path
    return lead + "\\".join(part for part in rest.split("\\") if part not in ("", "."))


def worktree_repo(path: str) -> str | None:
    """The folder that a worktree belongs to, by a path in it: `<repo>/.claude/worktrees/<name>`; else None (D22)."""
    full = project_path(path)
    slash = "\\" if _is_windows(full) else "/"
    repo, _, name = full.partition(slash.join(("", ".claude", "worktrees", "")))
    return (project_path(repo.rstrip(slash)) or slash) if name.strip(slash) else None


def entered_repo(worktree: object, entered_from: object) -> str | None:
    """The same of a worktree that was told by its path and by the folder from which it was entered (D22)."""
    told = [path for path in (worktree, entered_from) if isinstance(path, str) and is_text(path)]
    for path in told:
        if repo := worktree_repo(path):
            return repo
    if not told or told[-1] is not entered_from:
        return None
    full = project_path(told[-1])
    return full if full.startswith("/") or _is_windows(full) else None


def last_part(path: str) -> str:
    """The last part of a path of any system; of one that has none, the path."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path


def is_text(name: str) -> bool:
    """Whether a name of the file system's is text: bytes that are no UTF-8 can be neither kept nor printed."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def composed(path: str) -> str:
    """The path with its accents composed (NFC)."""
    if path.isascii():
        return path
    from unicodedata import normalize

    return normalize("NFC", path)


def _is_windows(full: str) -> bool:
    return full.startswith("\\\\") or full[1:3] == ":\\"


def _first(parts: list[str], environ: "Mapping[str, str]") -> tuple[str | None, int]:
    """The first folder of a list's parts, None if they begin with a blank one, and how many parts it takes."""
    for used in range(min(len(parts), _MOST_COMMAS + 1), 1, -1):
        name = ",".join(parts[:used])
        for form in (name.strip(), name):
            if path := there(form, environ):
                return path, used
    name = parts[0].strip()
    return (there(name, environ) or there(parts[0], environ) or absolute(name, environ)) if name else None, 1
