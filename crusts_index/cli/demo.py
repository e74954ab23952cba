"""`crusts demo`: write a made-up Claude Code folder to try the other commands on."""

import pathlib
import shlex
from datetime import UTC, datetime

from crusts_index.claude.demo import write_demo
from crusts_index.cli import show
from crusts_index.cli.declared import Annotated, Argument
from crusts_index.store.settings import Settings

Folder = Annotated[pathlib.Path, Argument("DIR", "A new or empty folder, or an earlier demo.")]


def demo(settings: Settings, folder: Folder) -> None:
    """Write a small made-up Claude Code folder: eight sessions in three projects."""
    made = write_demo(folder, datetime.now(UTC))
    named, home = shlex.quote(str(made.folder)), shlex.quote(str(made.folder / "crusts"))
    show.say(
        settings,
        {
            "folder": str(made.folder),
            "projects": made.projects,
            "sessions": made.sessions,
            "transcripts": made.transcripts,
            "records": made.records,
            "bytes": made.bytes_written,
        },
        f"{made.sessions} sessions in {made.projects} projects, {made.records:,} records, in {made.folder}",
        "Look at it with a store of its own:",
        f"  CLAUDE_CONFIG_DIR={named} CRUSTS_HOME={home} crusts analyze",
    )
