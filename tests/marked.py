"""A config folder with a marked word in every place that takes text, and a search for them in the bytes of files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tests.builders import ClaudeFolder, Json, Transcript, tool, usage

OTHER = "5e551001-0000-4000-8000-0000000000ee"
GONE = "5e551001-0000-4000-8000-0000000000aa"
_MARK = re.compile(rb"zmark\d+q", re.IGNORECASE)
_INPUTS = (
    *("file_path", "path", "notebook_path", "command", "pattern", "url", "query", "skill", "description", "prompt"),
    *("content", "old_string", "new_string", "offset", "limit", "args", "plan", "questions"),
)
_TOOLS = ("Read", "Edit", "Write", "Bash", "Grep", "LS", "WebFetch", "Task", "Skill", "mcp__jira__find", "NotebookEdit")
_ATTACHMENTS = (
    *("file", "queued_command", "hook_success", "hook_additional_context", "nested_memory", "edited_text_file"),
    *("task_reminder", "plan_file_reference", "skill_listing", "invoked_skills", "deferred_tools_delta", "odd_kind"),
)
_ATTACHED = ("content", "filename", "path", "planFilePath", "skillDir", "taskId", "prompt", "snippet", "banner", "text")
_METAS = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "summary": "summary",
    "last-prompt": "lastPrompt",
    "agent-name": "agentName",
    "agent-setting": "agentSetting",
    "tag": "tag",
    "mode": "mode",
    "permission-mode": "permissionMode",
}


class Words:
    """Marked words, each once. In the place of a name there is a sentence: a name of one word may stay."""

    def __init__(self, first: int = 0) -> None:
        self._numbers = count(first)

    def __call__(self) -> str:
        """The next one, in a sentence."""
        return f"so zmark{next(self._numbers):04d}q is said"

    def fill(self, *names: str) -> Json:
        """A field of each name with a word in it."""
        return {name: self() for name in names}


def told(session: str, words: Words) -> str:
    """A payload with a marked word wherever it tells something of the session: alone where a sentence is no name."""
    word = words().split()[1]
    tree = {**words.fill("path"), **{name: words().split()[1] for name in ("name", "branch", "original_branch")}}
    said = {
        **words.fill("session_name", "prompt_id", "cwd", "version"),
        "session_id": session,
        "model": {"id": "claude-opus-4-8", "display_name": words()},
        "workspace": {"repo": {"host": word, "owner": word, "name": words().split()[1]}, **words.fill("current_dir")},
        "prompt_cache": words.fill("ttl", "last_miss_cause"),
        "worktree": tree,
        "pr": {"number": 7, "review_state": words().split()[1], **words.fill("url", "kind")},
        "rate_limits": {"five_hour": {"used_percentage": 7, **words.fill("resets_at")}, words(): {}},
    }
    return json.dumps(said)


def marked(folder: ClaudeFolder, session: str, words: Words) -> Transcript:
    """A transcript with a marked word wherever a record takes text, and a subagent of it."""
    t = folder.main(session)
    t.branch = words()
    t.prompt(words())
    t.prompt([{"type": "text", "text": words()}, {"type": "document", "source": {"data": words()}}])
    t.prompt(f"<command-name>/x</command-name><command-args>{words()}</command-args>", isMeta=True)
    t.prompt(f"<bash-input>{words()}</bash-input>", origin={"kind": words()})
    thinking = {"type": "thinking", "thinking": words(), "signature": words()}
    t.response(thinking, words(), usage=usage(9, read=900, output=50, service_tier=words()), effort=words())
    t.response(words(), model=words(), stop=words(), usage=usage(5, output=9, speed=words(), inference_geo=words()))
    for name in _TOOLS:
        t.call(
            name, words.fill(*_INPUTS), words(), usage=usage(9, output=9), tool_use_result=words.fill("a", "agentId")
        )
        t.call(name, {"file_path": "/home/ada/" + words()}, [{"type": "text", "text": words()}], usage=usage(9))
    t.call("Read", {"odd": words(), "subagent_type": words()}, words(), is_error=True, usage=usage(4))
    t.call("Task", {"subagent_type": words(), "prompt": words()}, words(), usage=usage(4))
    t.call(words(), {"x": {"y": [words()]}}, words(), usage=usage(4))
    for kind in _ATTACHMENTS:
        said = words.fill(*_ATTACHED) | {"addedNames": [words()], "removedNames": [words()], "hookEvent": words()}
        t.attachment(kind, **said, skills=[{"name": words(), "content": words()}], hookName=words())
        t.attachment(kind, **words.fill("path", "content"))
    t.attachment(words(), text=words())
    for subtype in ("local_command", "informational", words()):
        t.system(subtype, content=words())
    t.boundary(trigger=words(), userContext=words(), preCompactDiscoveredTools=[words()])
    t.summary(words())
    rows = f"| Category | Tokens | % |\n|---|---|---|\n| Messages | 8k | 4% |\n| MCP tools: {words()} | 2k | 1% |\n"
    context = f"## Context Usage\n\n**Model:** {words()}\n**Tokens:** 20k / 200k (10%)\n\n### Usage by category\n{rows}"
    t.prompt(f"<local-command-stdout>{context}</local-command-stdout>")
    for kind, field in _METAS.items():
        t.meta(kind, **{field: words()})
    t.meta("cost-state", totalCostUSD=1.5, note=words(), modelUsage={words(): {"inputTokens": 9, "x": words()}})
    t.meta("pr-link", prNumber=7, prUrl="https://forge/" + words(), prRepository=words())
    t.meta("worktree-state", worktreeSession=words.fill("worktreePath", "worktreeName", "worktreeBranch"))
    t.request_shape([words()], [tool(words(), words(), **{words(): words()})], shape=words())
    t.request_blob(words(), role=words())
    t.request(id=words(), base=words(), shape=words(), model=words(), effort=words(), source=words(), agentId=words())
    names = ("Skill", "Plugin", "McpServer", "McpTool", "Agent")
    due = {f"attribution{name}": words() for name in names}
    asked = words.fill("requestRef", "requestedModel")
    t.response(words(), usage=usage(5, output=9), **due, **asked)
    t.prompt_snapshot([words()], [tool(words(), words())], cliPrefix=words())
    t.instructions({"/home/ada/" + words(): words()}, words())
    t.call("Task", {"prompt": words()}, words(), usage=usage(4), tool_use_result=words.fill("resolvedModel"))
    t.meta(words(), text=words())
    t.record("progress", data={"type": "hook_progress", "command": words()})
    t.record(words(), subtype=words(), content=words())
    t.prompt(words(), uuid=words(), version=words(), entrypoint=words(), agentId=words())
    t.raw(b'{"type": "user", "message": {"content": "' + words().encode() + b"\n")
    nested = Transcript(session, cwd=t.cwd)
    nested.call("Bash", {"command": words()}, words(), usage=usage(7))
    t.agent_progress("abc", nested.lines(), tool="toolu_nested")
    t.write()
    meta = words.fill("agentType", "description", "toolUseId", "parentAgentId")
    agent = folder.subagent(session, meta=meta)
    agent.prompt(words())
    agent.call("Read", {"file_path": "/home/ada/" + words()}, words(), usage=usage(3))
    agent.write()
    return t


def surround(folder: ClaudeFolder, words: Words) -> None:
    """Settings, instructions, skills and servers with marked words where they take text."""
    server = {"type": "stdio", **words.fill("command", "url"), "args": [words()], "env": words.fill("KEY")}
    settings = {**words.fill("model", "apiKeyHelper"), "env": words.fill("ANTHROPIC_MODEL", "SECRET")}
    servers = {"mcpServers": {words(): server}}
    (folder.config / "settings.json").write_text(json.dumps(settings | servers))
    (folder.config / "CLAUDE.md").write_text(words())
    skill = folder.config / "skills" / "deploy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: {words()}\ndescription: {words()}\n---\n{words()}\n")


def pasted(words: Words) -> str:
    """A `/context` output as it is pasted."""
    head = "### Estimated usage by category\n\n| Category | Tokens | Percentage |\n|---|---|---|\n"
    rows = f"{head}| System prompt | 3k | 1.5% |\n| Messages | 8k | 4% |\n| Skills {words()} | 2k | 1% |\n"
    return f"## Context Usage\n\n**Model:** {words()}\n**Tokens:** 20k / 200k (10%)\n\n{rows}"


def found_in(*folders: Path) -> dict[str, set[str]]:
    """Marked words by the files that hold them, whatever the case they are written in."""
    found = {}
    for path in (path for folder in folders for path in _files(folder)):
        words = {word.decode().lower() for word in _MARK.findall(path.read_bytes())}
        if words:
            found[path.name] = words
    return found


def count_in(data: bytes) -> int:
    """How many marked words there are."""
    return len(set(_MARK.findall(data)))


def all_bytes(folder: ClaudeFolder) -> bytes:
    """What the transcripts and their sidecars hold."""
    return b"".join(path.read_bytes() for path in _files(folder.projects))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
