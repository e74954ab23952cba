"""A session of the demo: how it begins, hands work to a subagent, and ends."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.demo_recorder.projects import project_files
from tests.demo_recorder.recorder import SYSTEM_TOKENS, Json, Recorder, tokens_of
from tests.demo_recorder.tools import agent, grep, hook, read

OPUS, SONNET, HAIKU = "claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001"

SKILLS = {
    "release-notes": "Collect the merged changes since the last tag and write release notes for customers.",
    "migration-review": "Check a database migration for locks, missing indexes and a way back.",
    "query-plan": "Explain a slow query: read its plan, name the step that costs, propose one index.",
    "a11y-check": "Walk a page by keyboard and screen reader rules and list what fails.",
    "incident-report": "Turn a chat log and graphs into a timeline with causes and follow-ups.",
}
DEFERRED = {
    "orchard-api": ("tracker", ("search", "get_issue", "comment", "list_projects", "update_issue")),
    "lantern-web": ("playwright", ("navigate", "screenshot", "click", "resize", "fill", "snapshot")),
    "fieldnotes": ("github", ("search_code", "get_pull_request", "list_issues")),
}
BUILT_IN_DEFERRED = ("WebFetch", "WebSearch", "NotebookEdit", "TaskCreate", "TaskUpdate")


@dataclass
class Told:
    """A session: its main thread, its subagents' threads, and their sidecars by agent id."""

    main: Recorder
    agents: list[Recorder] = field(default_factory=list)
    sidecars: dict[str, Json] = field(default_factory=dict)

    @property
    def threads(self) -> list[Recorder]:
        return [self.main, *self.agents]

    def delegate(self, kind: str, task: str, prompt: str, files: list[str], report: str, *, model: str) -> None:
        """Let a subagent read some files and report; the main thread waits for it."""
        s = self.main
        number = len(self.agents) + 1
        name = f"a{number}{s.session.replace('-', '')[:15]}"
        fixed = SYSTEM_TOKENS // 2
        options: dict[str, Any] = {"model": model, "version": s.version, "fixed": fixed, "agent": name}
        helper = Recorder(s.session, cwd=s.cwd, start=s.now, branch=s.branch, **options)
        helper.files, helper.cached = s.files, 0
        helper.prompt(prompt)
        helper.use(grep(task.split()[-1], files), text="I'll find the places first.")
        for path in files:
            helper.use(read(helper, path), thinking=helper.chance.randint(120, 500))
        helper.say(report, thinking=600)
        s.wait((helper.now - helper.start).total_seconds() + 2)
        tool = agent(helper, kind, task, prompt, report)
        s.use(tool, text=f"I'll hand this to a subagent: {task}.")
        sidecar = {"agentType": kind, "description": task, "toolUseId": s.used[0], "spawnDepth": 1}
        self.sidecars[name] = sidecar
        self.agents.append(helper)


def begin(number: int, cwd: Path, start: datetime, model: str, version: str, *, limit: int = 200_000) -> Told:
    """A session with its project's files, and what the program logs before the first prompt."""
    session = f"d3300{number:03d}-7c1a-4b0e-9f3d-{number * 0x1A2B3C4D5E:012x}"
    s = Recorder(session, cwd=cwd, start=start, model=model, version=version, limit=limit)
    s.files = project_files(cwd.name)
    s.branch = {"orchard-api": "main", "lantern-web": "feature/checkout", "fieldnotes": "main"}[cwd.name]
    s.meta("permission-mode", permissionMode="acceptEdits")
    hook(
        s,
        "SessionStart",
        "git status --short --branch",
        matcher="startup",
        context=f"## {s.branch}...origin/{s.branch}",
    )
    return Told(s)


def announce(s: Recorder) -> None:
    """What follows the first prompt: skills, deferred tools, agents."""
    listed = "\n".join(f"- {name}: {text}" for name, text in SKILLS.items())
    s.attach(
        "skill_listing",
        adds=tokens_of(listed),
        content=listed,
        skillCount=len(SKILLS),
        isInitial=True,
        names=list(SKILLS),
    )
    server, tools = DEFERRED[s.cwd.name]
    names = [*BUILT_IN_DEFERRED, *(f"mcp__{server}__{tool}" for tool in tools)]
    s.attach(
        "deferred_tools_delta",
        adds=tokens_of("\n".join(names)),
        addedNames=names,
        addedLines=names,
        removedNames=[],
    )
    kinds = ["general-purpose: any task of several steps", "Explore: reads and searches, changes nothing"]
    s.attach(
        "agent_listing_delta",
        adds=tokens_of("\n".join(kinds)),
        addedTypes=["general-purpose", "Explore"],
        addedLines=kinds,
        removedTypes=[],
        isInitial=True,
        showConcurrencyNote=False,
    )


def finish(s: Recorder, title: str, last_prompt: str, *, own_title: bool = False) -> None:
    """What the program logs when a turn is over."""
    s.record(
        "system",
        subtype="turn_duration",
        durationMs=round((s.now - s.start).total_seconds() * 90),
        isMeta=False,
    )
    if own_title:
        s.meta("custom-title", customTitle=title)
    else:
        s.meta("ai-title", aiTitle=title)
    s.meta("last-prompt", lastPrompt=last_prompt, leafUuid=s.parent)
