"""Which transcripts a payload means: only those under the roots, whatever paths it names (D3, D22)."""

import os

from crusts_index.regular import is_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.claude.roots import Root

ENDING = ".jsonl"
_SUBAGENTS = "subagents"
_DEEPEST = 16
"""Folders between a root and a subagent's transcript; a loop of links ends here."""


def named_transcripts(
    roots: "Sequence[Root]", session_id: str | None, path: str | None, agent_path: str | None = None
) -> list[str]:
    """The transcripts of the session that a payload names, the main one written to last first.

    By their paths, where there are transcripts of these roots; else by the session's id, in every project folder.
    Outside the roots nothing is looked at.
    """
    found = [place for one in (path, agent_path) if one and (place := place_of(roots, one)) is not None]
    if any(not _is_agents(one) for one in found):
        return found
    session = session_id or session_of(path) or session_of(agent_path)
    return _of_session(roots, session) + found if session else found


def session_of(path: str | None) -> str | None:
    """The session that a transcript's path names: by its name, of a subagent's by its folder."""
    if not path:
        return None
    parts = path.split(os.sep)
    if _SUBAGENTS in parts[1:-1]:
        return parts[parts.index(_SUBAGENTS, 1) - 1] or None
    stem = parts[-1].removesuffix(ENDING)
    return None if stem == parts[-1] or _is_agents(path) else stem


def place_of(roots: "Sequence[Root]", path: str) -> str | None:
    """The path, as its root has it, of a transcript of these roots, by whatever links it is named; None if it is none.

    It is one of theirs as it is written, or as it is without links: links to folders and files are followed (D3).
    """
    if not is_regular(path):
        return None
    projects = {sign: root.projects_dir for root in roots if (sign := _sign(root.projects_dir)) is not None}
    # What is written may leave a folder by `..` otherwise than the file system does.
    written = [] if os.pardir in path.split(os.sep) else [os.path.abspath(path)]
    for whole in dict.fromkeys([*written, os.path.realpath(path)]):
        above, name = os.path.split(whole)
        parts = [name]
        while name and len(parts) <= _DEEPEST:
            folder = projects.get(_sign(above) or (0, 0))
            if folder is not None and _is_place(parts):
                return os.path.join(folder, *parts)
            above, name = os.path.split(above)
            parts = [name, *parts]
    return None


def _is_place(parts: list[str]) -> bool:
    """Whether a transcript may lie there: in a project folder, or a subagent's below its session's folder."""
    name = parts[-1]
    if not name.endswith(ENDING) or any(map(is_set_aside, parts[1:])):
        return False
    return len(parts) == 2 or (len(parts) > 3 and parts[2] == _SUBAGENTS and _is_agents(name))


def is_set_aside(name: str) -> bool:
    """Whether the name of a file or folder says that it is no transcript, and holds none, any more (D3)."""
    return name == "journal.jsonl" or ".orphaned" in name or ".superseded" in name


def _of_session(roots: "Sequence[Root]", session: str) -> list[str]:
    """The main transcripts of a session, written to last first; without any, those of its subagents."""
    name = session + ENDING
    if os.sep in name or not _is_place(["", name]):
        return []
    folders = [folder for root in roots for folder in _folders(root.projects_dir)]
    mains = [path for folder in folders if is_regular(path := os.path.join(folder, name))]
    if mains:
        return sorted(mains, key=_written, reverse=True)
    return [path for folder in folders for path in _agents(os.path.join(folder, session, _SUBAGENTS), 0)]


def _agents(folder: str, depth: int) -> list[str]:
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ENDING):
                    if _is_agents(entry.name) and is_regular(entry.path):
                        found.append(entry.path)
                elif not is_set_aside(entry.name) and depth < _DEEPEST and entry.is_dir():
                    found += _agents(entry.path, depth + 1)
    except OSError:
        pass
    return found


def _is_agents(path: str) -> bool:
    return os.path.basename(path).startswith("agent-")


def _folders(projects: str) -> list[str]:
    try:
        return [os.path.join(projects, name) for name in os.listdir(projects)]
    except OSError:
        return []


def _sign(folder: str) -> tuple[int, int] | None:
    try:
        about = os.stat(folder)
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _written(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
