"""What makes `crusts_index/claude/demo.zip`: the sessions are told call by call, as Claude Code would log them.

Record again with `python -m tests.demo_recorder`, unpack with `unzip`. All of it is text, as of `RECORDED_AT` in
`RECORDED_IN`; laying it out moves both.
"""

import io
import json
import zipfile
from pathlib import Path

from crusts_index.claude.demo import RECORDED_AT, RECORDED_IN
from crusts_index.claude.roots import slugged
from crusts_index.transcript.measure import measure
from tests.demo_recorder.projects import INSTRUCTIONS, MEMORY
from tests.demo_recorder.sessions import tell
from tests.demo_recorder.told import Told

RECORDING = Path(__file__).parents[2] / "crusts_index" / "claude" / "demo.zip"
PATH_LENGTH, PATH_MARKS = 180, 30  # the sessions' usage is that of paths of this size
ZIP_BEGINS = (1980, 1, 1, 0, 0, 0)  # ZIP has no earlier date; times stand in the records

Files = dict[str, bytes]


def heavy(base: Path) -> Path:
    """A folder below `base` whose path weighs what the recorded one weighed: usage and texts then agree.

    Tests look at the demo in such a folder, however long the path of their own is.
    """
    missing = PATH_MARKS - measure(f"{base}/")[1]
    return base / ("d" + "-d" * missing).ljust(PATH_LENGTH - len(str(base)) - 1, "d")


def record_demo() -> Files:
    """Every file of the recording, by its path in the demo's folder."""
    folder = heavy(Path(RECORDED_IN))
    files = surroundings(folder)
    for session in tell(folder / "work", RECORDED_AT):
        files |= transcripts(session)
    return {
        name.replace(slugged(str(folder)), slugged(RECORDED_IN)): data.replace(
            str(folder).encode(), RECORDED_IN.encode()
        )
        for name, data in files.items()
    }


def transcripts(session: Told) -> Files:
    """The main transcript, its subagents and their sidecars."""
    place = f"projects/{slugged(str(session.main.cwd))}"
    files = {}
    for thread in session.threads:
        name = f"{place}/{thread.session}"
        if thread.agent is not None:
            name += f"/subagents/agent-{thread.agent}"
            files[f"{name}.meta.json"] = json.dumps(session.sidecars[thread.agent]).encode()
        files[f"{name}.jsonl"] = b"".join(thread.lines)
    return files


def surroundings(folder: Path) -> Files:
    """Settings, instructions, memory and MCP servers."""
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
    orchard = folder / "work" / "orchard-api"
    project = {str(orchard): {"mcpServers": {"tracker": tracker}, "hasTrustDialogAccepted": True}}
    return {
        "settings.json": as_kept(settings),
        ".claude.json": as_kept({"mcpServers": {"github": github}, "projects": project}),
        "work/lantern-web/.mcp.json": as_kept({"mcpServers": {"playwright": playwright}}),
        f"projects/{slugged(str(orchard))}/memory/MEMORY.md": MEMORY.encode(),
        **{name: text.encode() for name, text in INSTRUCTIONS.items()},
    }


def as_kept(value: object) -> bytes:
    """A JSON file as a person would keep it."""
    return json.dumps(value, indent=2).encode() + b"\n"


def packed(files: Files) -> bytes:
    """The files as one archive, the same bytes each time (with the same zlib)."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packing:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, ZIP_BEGINS)
            entry.external_attr, entry.compress_type, entry.create_system = 0o100644 << 16, zipfile.ZIP_DEFLATED, 3
            packing.writestr(entry, data, compresslevel=9)
    return archive.getvalue()
