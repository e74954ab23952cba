"""What surrounds a project and fills its context before a word is said: sizes and names, never text (D11)."""

import json
import os
import sys

from crusts_index.claude.configured import server_detail, settings_detail
from crusts_index.claude.imports import find_imports
from crusts_index.claude.measure import (
    MeasuredFile,
    frontmatter,
    loaded_memory_chars,
    measure_part,
    read_measured,
    tokens_of,
)
from crusts_index.claude.roots import MAX_SLUG, project_slug
from crusts_index.folders import home_dir

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` and `collections.abc` stay off the quick paths
    from collections.abc import Iterable, Iterator
    from typing import Any

MAX_FILES = 500
MAX_PARENTS = 40


class Surrounding:
    """One file (or the part of one that counts) around a project, as it was when looked at.

    `kind` is claude_md, rule, memory, skill, command, agent, mcp or settings. `project_path` is None for what
    holds for every project. `tokens` is ceil(chars / 4), an estimate. `detail` is fit for JSON; it has
    `unread`, a reason, if the file was not read or makes no sense, and `loaded_tokens` if only a part of the
    file is in the context from the start.
    """

    __slots__ = (
        "bytes",
        "chars",
        "content_hash",
        "detail",
        "kind",
        "mtime_ns",
        "name",
        "path",
        "project_path",
        "tokens",
    )

    def __init__(
        self,
        kind: str,
        path: str,
        project_path: str | None,
        name: str,
        file: MeasuredFile,
        detail: "dict[str, Any]",
    ) -> None:
        self.kind = kind
        self.path = path
        self.project_path = project_path
        self.name = name
        self.content_hash = file.content_hash
        self.mtime_ns = file.mtime_ns
        self.bytes = file.size
        self.chars = file.chars
        self.tokens = tokens_of(file.chars)
        self.detail = {"unread": file.unread, **detail} if file.unread else detail

    def __repr__(self) -> str:
        return f"Surrounding({self.kind!r}, {self.path!r}, {self.name!r}, tokens={self.tokens}, {self.detail!r})"


def snapshot(
    config_dir: str, project_path: str | None, home: str | None = None, managed: str | None = None
) -> list[Surrounding]:
    """What surrounds the project at `project_path` (None: any project) under the given config dir.

    `home` and `managed` (the folder of an organisation's own settings) default to the system's. Each real
    file comes once. Never raises and never waits: what cannot be read is left out, or marked `unread`.
    """
    view = _Snapshot(config_dir, project_path, home or home_dir(os.environ), managed or _managed_dir())
    view.add_claude_md()
    view.add_rules()
    view.add_memory()
    view.add_listings()
    view.add_settings()
    return view.found


def _managed_dir() -> str:
    if sys.platform == "darwin":
        return "/Library/Application Support/ClaudeCode"
    return "/etc/claude-code"


class _Snapshot:
    """The state of one look around: what was found, and which files were taken already."""

    def __init__(self, config_dir: str, project_path: str | None, home: str, managed: str) -> None:
        self.config_dir = os.path.abspath(config_dir)
        self.project_path = project_path
        self.home = home
        self.managed = managed
        self.found: list[Surrounding] = []
        self._taken: set[tuple[str, str]] = set()

    def add_claude_md(self) -> None:
        self._add_instructions(os.path.join(self.managed, "CLAUDE.md"), None)
        self._add_instructions(os.path.join(self.config_dir, "CLAUDE.md"), None)
        for folder in self._folders():
            for name in ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md"):
                self._add_instructions(os.path.join(folder, name), self.project_path)

    def add_rules(self) -> None:
        places: list[tuple[str, str | None]] = [(os.path.join(self.config_dir, "rules"), None)]
        if self.project_path is not None:
            places.append((os.path.join(self.project_path, ".claude", "rules"), self.project_path))
        for folder, project in places:
            for path in _markdown_below(folder):
                file = self._take("rule", path)
                if file is not None:
                    # A rule for certain paths comes in only with a file that fits.
                    detail = {"loaded_tokens": 0} if "paths" in frontmatter(file.text) else {}
                    self._add("rule", path, project, os.path.relpath(path, folder), file, detail)

    def add_memory(self) -> None:
        folders: list[tuple[str, str | None]] = [(os.path.join(self.config_dir, "memdir"), None)]
        if self.project_path is not None:
            folders += [(folder, self.project_path) for folder in self._memory_folders(self.project_path)]
        for folder, project in folders:
            for path in _files_in(folder, ".md"):
                file = self._take("memory", path)
                if file is not None:
                    index = os.path.basename(path) == "MEMORY.md"
                    loaded = tokens_of(loaded_memory_chars(file.text)) if index else 0
                    self._add("memory", path, project, os.path.basename(path), file, {"loaded_tokens": loaded})

    def add_listings(self) -> None:
        """Skills, commands and agents: of each only the name and the description are in the context."""
        places: list[tuple[str, str | None]] = [(self.config_dir, None)]
        if self.project_path is not None:
            places.append((os.path.join(self.project_path, ".claude"), self.project_path))
        for folder, project in places:
            skills = os.path.join(folder, "skills")
            for name in _names_in(skills):
                self._add_listed("skill", os.path.join(skills, name, "SKILL.md"), project, name)
            for kind in ("command", "agent"):
                below = os.path.join(folder, f"{kind}s")
                for path in _markdown_below(below):
                    name = os.path.relpath(path, below).removesuffix(".md").replace(os.sep, ":")
                    self._add_listed(kind, path, project, name)

    def add_settings(self) -> None:
        self._add_settings_file(os.path.join(self.managed, "managed-settings.json"), None)
        self._add_settings_file(os.path.join(self.config_dir, "settings.json"), None)
        if self.project_path is not None:
            for name in ("settings.json", "settings.local.json"):
                self._add_settings_file(os.path.join(self.project_path, ".claude", name), self.project_path)
            path = os.path.join(self.project_path, ".mcp.json")
            file, data = self._take_json("mcp", path)
            if file is not None:
                self._add_servers(path, self.project_path, ".mcp.json", file, data.get("mcpServers"))
        for folder in (self.config_dir, self.home):
            # With CLAUDE_CONFIG_DIR the file lies in the config dir, without it beside the default one.
            self._add_state_file(os.path.join(folder, ".claude.json"))

    def _folders(self) -> "Iterator[str]":
        """The project's folder and those above it, up to the home folder or the file system's root."""
        folder = os.path.abspath(self.project_path) if self.project_path is not None else ""
        for _ in range(MAX_PARENTS):
            if os.path.dirname(folder) == folder:
                return
            yield folder
            if folder == os.path.abspath(self.home):
                return
            folder = os.path.dirname(folder)

    def _memory_folders(self, project_path: str) -> list[str]:
        folders = [os.path.join(project_path, ".claude", "memdir")]
        projects = os.path.join(self.config_dir, "projects")
        slug = project_slug(project_path)
        names = [slug] if len(slug) < MAX_SLUG else [name for name in _names_in(projects) if name.startswith(slug)]
        return folders + [os.path.join(projects, name, "memory") for name in names]

    def _add_instructions(self, path: str, project: str | None) -> None:
        file = self._take("claude_md", path)
        if file is None:
            return
        detail: dict[str, Any] = {}
        if "@" in file.text and (imported := find_imports(path, file.text, self.home)):
            imports = [
                {"name": name, "bytes": other.size, "chars": other.chars, "tokens": tokens_of(other.chars)}
                for name, other in imported
            ]
            detail = {
                "imports": imports,
                "import_tokens": sum(tokens_of(other.chars) for _, other in imported),
            }
        self._add("claude_md", path, project, os.path.basename(path), file, detail)

    def _add_listed(self, kind: str, path: str, project: str | None, name: str) -> None:
        file = self._take(kind, path)
        if file is None:
            return
        fields = frontmatter(file.text)
        shown, description = fields.get("name", "").strip("\"'") or name, len(fields.get("description", ""))
        detail = {"description_chars": description, "loaded_tokens": tokens_of(len(shown) + description)}
        self._add(kind, path, project, shown[:200], file, detail)

    def _add_settings_file(self, path: str, project: str | None) -> None:
        file, data = self._take_json("settings", path)
        if file is None:
            return
        self._add("settings", path, project, os.path.basename(path), file, settings_detail(data))
        self._add_servers(path, project, os.path.basename(path), file, data.get("mcpServers"))

    def _add_state_file(self, path: str) -> None:
        """`.claude.json` changes all the time, so only the parts that count are hashed."""
        file, data = self._take_json("state", path)
        if file is None:
            return
        if isinstance(data.get("autoCompactEnabled"), bool):
            detail = {"autoCompactEnabled": data["autoCompactEnabled"]}
            self._add("settings", path, None, ".claude.json", measure_part(file, detail), detail)
        self._add_servers(path, None, ".claude.json", file, data.get("mcpServers"))
        projects = data.get("projects")
        project = projects.get(self.project_path) if isinstance(projects, dict) else None
        if isinstance(project, dict):
            switched_off = project.get("disabledMcpServers")
            self._add_servers(path, self.project_path, ".claude.json", file, project.get("mcpServers"), switched_off)

    def _add_servers(
        self,
        path: str,
        project: str | None,
        name: str,
        file: MeasuredFile,
        servers: object,
        switched_off: object = None,
    ) -> None:
        if not isinstance(servers, dict):
            servers = {}
        listed = [server_detail(server, value) for server, value in list(servers.items())[:MAX_FILES]]
        detail: dict[str, Any] = {"servers": listed}
        if isinstance(switched_off, list):
            detail["disabled"] = [server[:200] for server in switched_off if isinstance(server, str)]
        if listed or detail.get("disabled") or (file.unread and name == ".mcp.json"):
            self._add("mcp", path, project, name, measure_part(file, [servers, detail]), detail)

    def _take(self, kind: str, path: str) -> MeasuredFile | None:
        """The file, unless there is none or the same real file was taken for this kind before."""
        file = read_measured(path)
        if file is None:
            return None
        key = (kind, os.path.realpath(path))
        if key in self._taken:
            return None
        self._taken.add(key)
        return file

    def _take_json(self, kind: str, path: str) -> "tuple[MeasuredFile | None, dict[str, Any]]":
        file = self._take(kind, path)
        data: dict[str, Any] = {}
        if file is not None and not file.unread:
            try:
                value = json.loads(file.text) if file.text.strip() else {}
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict):
                data = value
            else:
                file.unread = "no JSON object"
        return file, data

    def _add(
        self,
        kind: str,
        path: str,
        project: str | None,
        name: str,
        file: MeasuredFile,
        detail: "dict[str, Any]",
    ) -> None:
        self.found.append(Surrounding(kind, path, project, name, file, detail))


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))[:MAX_FILES]
    except OSError:
        return []


def _files_in(folder: str, ending: str) -> "Iterable[str]":
    return (os.path.join(folder, name) for name in _names_in(folder) if name.endswith(ending))


def _markdown_below(folder: str) -> list[str]:
    """The Markdown files in the folder and the folders in it; folder links are followed, loops end."""
    found: list[str] = []
    waiting = [folder]
    seen: set[str] = set()
    while waiting and len(found) < MAX_FILES and len(seen) < MAX_FILES:
        current = waiting.pop(0)
        real = os.path.realpath(current)
        if real in seen:
            continue
        seen.add(real)
        for name in _names_in(current):
            path = os.path.join(current, name)
            if name.endswith(".md"):
                found.append(path)
            elif "." not in name and os.path.isdir(path):
                waiting.append(path)
    return found[:MAX_FILES]
