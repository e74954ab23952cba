"""What surrounds a project: sizes and names of what fills its context (D11)."""

import json
import os
from pathlib import Path

import pytest

from crusts_index.claude.roots import project_slug
from crusts_index.claude.surroundings import Surrounding, snapshot

SECRET = "sk-do-not-keep-this"


class Place:
    """A home folder with a config dir and a project in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.config = home / ".claude"
        self.project = home / "work" / "app"
        self.config.mkdir(parents=True)
        self.project.mkdir(parents=True)

    def write(self, path: Path, content: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def look(self, *, project: bool = True) -> list[Surrounding]:
        found = snapshot(
            str(self.config),
            str(self.project) if project else None,
            home=str(self.home),
            managed=str(self.home / "managed"),
        )
        json.dumps([surrounding.detail for surrounding in found])  # always fit for JSON
        return found

    def only(self, kind: str) -> Surrounding:
        (surrounding,) = [surrounding for surrounding in self.look() if surrounding.kind == kind]
        return surrounding


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Empty folders."""
    return Place(tmp_path / "home")


def test_nothing_there(place: Place) -> None:
    """Folders that are empty or missing surround a project with nothing."""
    assert place.look() == []
    none = str(place.home / "none")
    assert snapshot(none, none, home=str(place.home), managed=none) == []


def test_sizes_of_a_claude_md(place: Place) -> None:
    """Bytes, Unicode characters and ceil(chars / 4) tokens; the hash tells contents apart, not places."""
    path = place.write(place.config / "CLAUDE.md", "h\u00e9llo w\U0001f600rld")
    found = place.only("claude_md")
    assert (found.path, found.project_path, found.name) == (str(path), None, "CLAUDE.md")
    assert (found.bytes, found.chars, found.tokens) == (15, 11, 3)
    assert found.mtime_ns == path.stat().st_mtime_ns
    assert len(found.content_hash) == 16
    place.write(place.project / "CLAUDE.md", "h\u00e9llo w\U0001f600rld")
    assert len({surrounding.content_hash for surrounding in place.look()}) == 1
    place.write(path, "other")
    assert len({surrounding.content_hash for surrounding in place.look()}) == 2


def test_claude_md_of_project_and_parents(place: Place) -> None:
    """The project's files and those of the folders above it, up to the home folder; no further."""
    expected = [
        place.config / "CLAUDE.md",
        place.project / "CLAUDE.md",
        place.project / ".claude" / "CLAUDE.md",
        place.project / "CLAUDE.local.md",
        place.project.parent / "CLAUDE.md",
        place.home / "CLAUDE.md",
    ]
    for path in expected:
        place.write(path, f"rules of {path}")
    place.write(place.home.parent / "CLAUDE.md", "above home")
    found = place.look()
    assert [surrounding.path for surrounding in found] == [str(path) for path in expected]
    assert [surrounding.project_path for surrounding in found] == [None] + 5 * [str(place.project)]
    assert [surrounding.path for surrounding in place.look(project=False)] == [str(expected[0])]


def test_imports_are_listed_with_sizes(place: Place) -> None:
    """Imports come once each, through several levels, circles end; code and words like a@b import nothing."""
    text = "Read @docs/a.md, and @~/b.md.\n`@docs/code.md`\n```\n@docs/fence.md\n```\n"
    text += "me@docs/mail.md @gone.md\n"
    place.write(place.project / "CLAUDE.md", text)
    for name in ("code", "fence", "mail"):
        place.write(place.project / "docs" / f"{name}.md", "no import")
    place.write(place.project / "docs" / "a.md", "@../CLAUDE.md @c.md")
    place.write(place.project / "docs" / "c.md", "@a.md " + "c" * 95)
    place.write(place.home / "b.md", "b" * 9)
    detail = place.only("claude_md").detail
    assert [(i["name"], i["chars"], i["tokens"]) for i in detail["imports"]] == [
        ("docs/a.md", 19, 5),
        ("~/b.md", 9, 3),
        ("c.md", 101, 26),
    ]
    assert detail["import_tokens"] == 34


def test_memory(place: Place) -> None:
    """Of the memory index the first 200 lines are in the context, of topic files nothing."""
    memory = place.config / "projects" / project_slug(str(place.project)) / "memory"
    place.write(memory / "MEMORY.md", "123\n" * 300)
    place.write(memory / "topic.md", "x" * 40)
    place.write(memory / "note.txt", "no markdown")
    place.write(place.config / "memdir" / "MEMORY.md", "four")
    found = {(s.name, s.project_path is None): s for s in place.look()}
    assert found.keys() == {("MEMORY.md", True), ("MEMORY.md", False), ("topic.md", False)}
    index = found["MEMORY.md", False]
    assert (index.tokens, index.detail["loaded_tokens"]) == (300, 200)
    assert (found["topic.md", False].tokens, found["topic.md", False].detail["loaded_tokens"]) == (10, 0)


def test_skills_commands_agents(place: Place) -> None:
    """Names and the lengths of descriptions, which are what the context holds of them."""
    text = "---\nname: deploy\ndescription: >-\n  Puts it\n  out there\n---\n" + "body " * 100
    place.write(place.config / "skills" / "ship" / "SKILL.md", text)
    place.write(place.project / ".claude" / "skills" / "plain" / "SKILL.md", "no front matter")
    place.write(place.project / ".claude" / "commands" / "git" / "tidy.md", "---\ndescription: Tidy\n---\nx")
    place.write(place.project / ".claude" / "agents" / "critic.md", "---\nname: critic\n---\nx")
    found = {(s.kind, s.name): s for s in place.look()}
    assert found.keys() == {
        ("skill", "deploy"),
        ("skill", "plain"),
        ("command", "git:tidy"),
        ("agent", "critic"),
    }
    assert found["skill", "deploy"].detail == {"description_chars": 17, "loaded_tokens": 6}
    assert found["skill", "plain"].detail == {"description_chars": 0, "loaded_tokens": 2}
    assert found["command", "git:tidy"].detail["description_chars"] == 4


def test_rules(place: Place) -> None:
    """Rule files count, those for certain paths with nothing loaded at the start; folder loops end."""
    rules = place.project / ".claude" / "rules"
    place.write(rules / "always.md", "always")
    place.write(rules / "deep" / "some.md", "---\npaths: src/**\n---\nonly there")
    (rules / "deep" / "loop").symlink_to(rules)
    found = {s.name: s.detail for s in place.look()}
    assert found == {"always.md": {}, "deep/some.md": {"loaded_tokens": 0}}


def test_settings_detail(place: Place) -> None:
    """The model and what bears on compaction and keeping; nothing else, whatever its type."""
    settings = {
        "model": "opus[1m]",
        "autoCompactEnabled": False,
        "cleanupPeriodDays": 90,
        "env": {
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000",
            "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": 0.8,
            "CLAUDE_CODE_DISABLE_1M_CONTEXT": ["odd"],
            "ANTHROPIC_API_KEY": SECRET,
        },
        "apiKeyHelper": SECRET,
    }
    place.write(place.config / "settings.json", json.dumps(settings))
    assert place.only("settings").detail == {
        "model": "opus[1m]",
        "autoCompactEnabled": False,
        "cleanupPeriodDays": 90,
        "env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "0.8"},
    }
    odd = {"model": 5, "autoCompactEnabled": "no", "cleanupPeriodDays": True, "env": "x", "mcpServers": [1]}
    place.write(place.config / "settings.json", json.dumps(odd))
    assert place.only("settings").detail == {}


def test_mcp_servers_of_every_place(place: Place) -> None:
    """~/.claude.json (all projects, this one), .mcp.json and settings; names and kinds, never secrets."""
    stdio = {"command": "/opt/bin/npx", "args": [SECRET], "env": {"KEY": SECRET}}
    hidden = {"command": f"TOKEN={SECRET} npx"}
    remote = {"type": "http", "url": f"https://x.example/{SECRET}", "headers": {"Authorization": SECRET}}
    state = {
        "mcpServers": {"everywhere": stdio},
        "projects": {
            str(place.project): {"mcpServers": {"here": remote}, "disabledMcpServers": ["off"]},
            "/another": {"mcpServers": {"elsewhere": stdio}},
        },
        "oauthAccount": {"emailAddress": SECRET},
    }
    place.write(place.home / ".claude.json", json.dumps(state))
    place.write(place.project / ".mcp.json", json.dumps({"mcpServers": {"shared": hidden, "odd": 3}}))
    local = {"mcpServers": {"mine": {"url": "https://y.example"}}}
    place.write(place.project / ".claude" / "settings.local.json", json.dumps(local))
    found = [s for s in place.look() if s.kind == "mcp"]
    servers = {(s.name, s.project_path is None): s.detail["servers"] for s in found}
    assert servers == {
        (".claude.json", True): [{"name": "everywhere", "kind": "stdio", "command": "npx"}],
        (".claude.json", False): [{"name": "here", "kind": "http"}],
        (".mcp.json", False): [{"name": "shared", "kind": "stdio"}, {"name": "odd"}],
        ("settings.local.json", False): [{"name": "mine", "kind": "http"}],
    }
    assert next(s for s in found if s.name == ".claude.json" and s.project_path).detail["disabled"] == ["off"]
    assert SECRET not in repr(found)


def test_state_file_is_hashed_by_what_counts(place: Place) -> None:
    """.claude.json is rewritten all the time; only a change of its servers is a change."""
    state: dict[str, object] = {"mcpServers": {"a": {"command": "x"}}, "numStartups": 1}
    path = place.write(place.home / ".claude.json", json.dumps(state))
    first = place.only("mcp").content_hash
    place.write(path, json.dumps({**state, "numStartups": 2}))
    assert place.only("mcp").content_hash == first
    place.write(path, json.dumps({"mcpServers": {"a": {"command": "y", "args": ["other"]}}}))
    assert place.only("mcp").content_hash != first


def test_state_file_in_the_config_dir(place: Place) -> None:
    """With CLAUDE_CONFIG_DIR the state file lies in that folder; autoCompactEnabled in it is a setting."""
    place.write(place.config / ".claude.json", json.dumps({"autoCompactEnabled": False}))
    assert place.only("settings").detail == {"autoCompactEnabled": False}


ODD = [
    b"",
    b"\xef\xbb\xbf{}",
    b"{",
    b"[]",
    b"// no\n{}",
    b"[" * 100_000,
    b'{"mcpServers":' * 900,
    b"\0\1",
    b"\xff",
]


@pytest.mark.parametrize("content", ODD)
def test_odd_contents_never_raise(place: Place, content: bytes) -> None:
    """Whatever stands in the files, a look around ends well; what is no JSON object is marked."""
    for path in (
        place.config / "CLAUDE.md",
        place.config / "settings.json",
        place.home / ".claude.json",
        place.project / ".mcp.json",
        place.config / "skills" / "odd" / "SKILL.md",
        place.config / "memdir" / "MEMORY.md",
    ):
        place.write(path, content)
    settings = next(s for s in place.look() if s.kind == "settings")
    assert ("unread" in settings.detail) == (content not in (b"", b"\xef\xbb\xbf{}"))


def test_binary_and_huge_files_are_marked(place: Place) -> None:
    """Such files keep their size in bytes, and no characters or tokens."""
    place.write(place.config / "CLAUDE.md", b"\x7fELF\0\0")
    with place.write(place.project / "CLAUDE.md", b"").open("r+b") as file:
        file.truncate(9 * 1024 * 1024)
    binary, huge = place.look()
    assert (binary.detail, binary.bytes, binary.tokens) == ({"unread": "binary"}, 6, 0)
    assert (huge.detail, huge.bytes, huge.tokens) == ({"unread": "too large"}, 9 * 1024 * 1024, 0)


def test_what_is_no_file_is_left_out(place: Place) -> None:
    """Pipes are not waited for; folders, link loops and dangling links are left out."""
    os.mkfifo(place.config / "CLAUDE.md")
    (place.project / "CLAUDE.md").mkdir()
    (place.project / "CLAUDE.local.md").symlink_to(place.project / "CLAUDE.local.md")
    (place.config / "settings.json").symlink_to("gone")
    (place.config / "skills").symlink_to(place.config / "skills")
    os.mkfifo(place.project / ".mcp.json")
    assert place.look() == []


def test_one_real_file_counts_once(place: Place) -> None:
    """A CLAUDE.md that links to another that counts already is not counted again."""
    place.write(place.config / "CLAUDE.md", "once")
    (place.project / "CLAUDE.md").symlink_to(place.config / "CLAUDE.md")
    assert [s.path for s in place.look()] == [str(place.config / "CLAUDE.md")]


def test_nothing_is_written(place: Place) -> None:
    """A look around changes no file and makes none."""
    place.write(place.config / "CLAUDE.md", "@x.md")
    place.write(place.config / "settings.json", "{}")
    before = {path: path.lstat().st_mtime_ns for path in place.home.rglob("*")}
    place.look()
    assert {path: path.lstat().st_mtime_ns for path in place.home.rglob("*")} == before
