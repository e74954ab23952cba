"""A small made-up Claude folder to try the program on, dated back from a given moment."""

import json
import os
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from crusts_index.claude.demo.projects import INSTRUCTIONS
from crusts_index.claude.demo.sessions import tell
from crusts_index.claude.demo.told import Told
from crusts_index.errors import CrustsError

MARKER = ".crusts-demo"
SET_UP = timedelta(days=60)  # how long before now the configuration was last touched

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True)
class DemoSummary:
    """What `write_demo` wrote. `records` counts transcript lines, `bytes_written` transcripts only."""

    folder: Path
    projects: int
    sessions: int
    transcripts: int
    records: int
    bytes_written: int


def write_demo(folder: Path, now: datetime) -> DemoSummary:
    """Write the demo's config folder: same folder and `now`, same bytes.

    Raises CrustsError if `folder` holds anything that is not an earlier demo.
    """
    claim(folder)
    folder = folder.resolve()
    told = tell(folder / "work", now)
    for session in told:
        write_session(folder / "projects", session)
    write_surroundings(folder, now - SET_UP)
    threads = [thread for session in told for thread in session.threads]
    return DemoSummary(
        folder=folder,
        projects=len({session.main.cwd for session in told}),
        sessions=len(told),
        transcripts=len(threads),
        records=sum(len(thread.lines) for thread in threads),
        bytes_written=sum(len(line) for thread in threads for line in thread.lines),
    )


def claim(folder: Path) -> None:
    """Make the folder a demo's, unless it is somebody's already."""
    if folder.exists() and not folder.is_dir():
        raise CrustsError(f"{folder} is not a folder; name one that is empty or does not exist")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise CrustsError(f"{folder} is not empty and not a demo; name a folder that is empty or does not exist")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).write_text("Made up by `crusts demo`; safe to delete as a whole.\n")
    except OSError as error:
        raise CrustsError(f"cannot write to {folder}: {error.strerror}") from error


def write_session(projects: Path, session: Told) -> None:
    """The main transcript, its subagents and their sidecars, each as old as its last record."""
    place = projects / _NOT_PLAIN.sub("-", str(session.main.cwd))
    for thread in session.threads:
        path = place / f"{thread.session}.jsonl"
        if thread.agent is not None:
            path = place / thread.session / "subagents" / f"agent-{thread.agent}.jsonl"
        write(path, b"".join(thread.lines), thread.now)
        if thread.agent is not None:
            sidecar = json.dumps(session.sidecars[thread.agent]).encode()
            write(path.with_suffix(".meta.json"), sidecar, thread.start)


def write_surroundings(folder: Path, time: datetime) -> None:
    """Settings, instructions, memory and MCP servers, older than every session."""
    hooks = {
        "PostToolUse": [
            {
                "matcher": "Edit|Write",
                "hooks": [{"type": "command", "command": "make --silent format", "timeout": 30}],
            }
        ],
        "SessionStart": [{"hooks": [{"type": "command", "command": "git status --short --branch"}]}],
    }
    settings = {"model": "opus", "cleanupPeriodDays": 30, "env": {"EDITOR": "vi"}, "hooks": hooks}
    github = {"type": "http", "url": "https://mcp.example.com/github"}
    playwright = {"type": "stdio", "command": "npx", "args": ["playwright-mcp", "--headless"]}
    tracker = {"type": "http", "url": "https://mcp.example.com/tracker"}
    work = folder / "work"
    project = {str(work / "orchard-api"): {"mcpServers": {"tracker": tracker}, "hasTrustDialogAccepted": True}}
    write_json(folder / "settings.json", settings, time)
    write_json(folder / ".claude.json", {"mcpServers": {"github": github}, "projects": project}, time)
    write_json(work / "lantern-web" / ".mcp.json", {"mcpServers": {"playwright": playwright}}, time)
    for name, text in INSTRUCTIONS.items():
        write(folder / name, text.encode(), time)
    memory = _NOT_PLAIN.sub("-", str(work / "orchard-api"))
    notes = "# Memory\n\n- Reports are checked against the February figures in `tests/data/february.csv`.\n"
    notes += "- The staging database is refreshed every Monday at six; slow queries before that are not real.\n"
    write(folder / "projects" / memory / "memory" / "MEMORY.md", notes.encode(), time)


def write_json(path: Path, value: object, time: datetime) -> None:
    """A file as a person would keep it."""
    write(path, json.dumps(value, indent=2).encode() + b"\n", time)


def write(path: Path, data: bytes, time: datetime) -> None:
    """A file last changed at `time`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time.timestamp(), time.timestamp()))
