"""Where Claude Code keeps its config dirs and their `projects` folders (D3)."""

import os

from crusts_index.errors import CrustsError
from crusts_index.folders import absolute, composed, home_dir, listed, there

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` and `collections.abc` stay off the quick paths
    from collections.abc import Mapping, Sequence

MAX_SLUG = 200
_TRANSCRIPT_NAME_LENGTH = len("00000000-0000-0000-0000-000000000000.jsonl")
_FOLDERS_LOOKED_INTO = 200


class Root:
    """A place with transcripts: its config dir (None if it has none), its projects folder, who named it."""

    __slots__ = ("config_dir", "explicit", "projects_dir")

    def __init__(self, config_dir: str | None, projects_dir: str, explicit: bool) -> None:
        self.config_dir = config_dir
        self.projects_dir = projects_dir
        self.explicit = explicit

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Root):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Root({self.config_dir!r}, {self.projects_dir!r}, explicit={self.explicit})"

    def _key(self) -> tuple[str | None, str, bool]:
        return self.config_dir, self.projects_dir, self.explicit


def find_roots(
    paths: "Sequence[str]", source: str, environ: "Mapping[str, str]", missing: "list[str] | None" = None
) -> list[Root]:
    """The roots to read: `paths`, which `source` named, else the default places that exist (D3).

    Each real folder comes once. Raises CrustsError for one that was named and is not there; with `missing`, that
    takes what is wrong with it, and the others are given.
    """
    if paths:
        found = []
        for path in paths:
            try:
                found.append(_named_root(path, source, environ))
            except CrustsError as error:
                if missing is None:
                    raise
                missing.append(str(error))
    else:
        found = [
            Root(path, os.path.join(path, "projects"), explicit=False)
            for path in _default_dirs(environ)
            if os.path.isdir(path)
        ]
    roots: dict[str, Root] = {}
    for root in found:
        roots.setdefault(os.path.realpath(root.projects_dir), root)
    return list(roots.values())


def config_dir(environ: "Mapping[str, str]") -> str:
    """The config dir whose settings.json Claude Code uses; it need not exist."""
    for path in listed(environ.get("CLAUDE_CONFIG_DIR", ""), environ):
        return os.path.dirname(path) if _is_projects_folder(path) else path
    defaults = _default_dirs(environ)
    return next((path for path in defaults if os.path.isdir(path)), defaults[0])


def user_settings(environ: "Mapping[str, str]") -> str:
    """The user's own settings.json of Claude Code; it need not exist."""
    return os.path.join(config_dir(environ), "settings.json")


def project_slug(path: str) -> str:
    """The name Claude Code gives the folder of the project at `path`, cut at 200 characters.

    A longer name goes on with `-` and a hash that differs between builds: compare the first 200 characters.
    """
    return slugged(os.path.realpath(path))[:MAX_SLUG]


def slugged(path: str) -> str:
    """A path as it stands in such a name, uncut."""
    return "".join(
        character if character.isascii() and character.isalnum() else "-" * (1 + (character > "\uffff"))
        for character in composed(path)
    )


def _default_dirs(environ: "Mapping[str, str]") -> list[str]:
    home = home_dir(environ)
    places = [os.path.join(home, ".claude"), os.path.join(home, ".config", "claude")]
    if xdg := environ.get("XDG_CONFIG_HOME"):
        places.append(os.path.join(xdg, "claude"))
    return places


def _named_root(path: str, source: str, environ: "Mapping[str, str]") -> Root:
    full = there(path, environ) or absolute(path, environ)
    if not os.path.isdir(full):
        what = "is not a folder" if os.path.lexists(full) else "does not exist"
        raise CrustsError(f"{full} (from {source}) {what}: name a Claude Code config folder or its projects folder")
    inside = os.path.join(full, "projects")
    if os.path.isdir(inside):
        return Root(full, inside, explicit=True)
    if _is_projects_folder(full):
        return Root(os.path.dirname(full), full, explicit=True)
    if _holds_transcripts(full):
        raise CrustsError(f"{full} (from {source}) is the folder of one project: name the folder above it")
    if _holds_project_folders(full):
        return Root(None, full, explicit=True)  # a copy of a projects folder under another name
    return Root(full, inside, explicit=True)  # a config dir without a session so far


def _is_projects_folder(path: str) -> bool:
    return os.path.basename(path) == "projects" and not os.path.isdir(os.path.join(path, "projects"))


def _holds_transcripts(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return any(
                len(entry.name) == _TRANSCRIPT_NAME_LENGTH and entry.name.endswith(".jsonl") for entry in entries
            )
    except OSError:
        return False


def _holds_project_folders(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            for looked_into, entry in enumerate(entries):
                if looked_into == _FOLDERS_LOOKED_INTO:
                    return False
                if entry.is_dir() and _holds_transcripts(entry.path):
                    return True
    except OSError:
        pass
    return False
