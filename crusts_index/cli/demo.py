"""`crusts demo`: write a made-up Claude Code folder to try the other commands on."""

import pathlib
import shlex
from datetime import UTC, datetime
from typing import Annotated

import typer

from crusts_index.claude.demo import write_demo
from crusts_index.cli import options, show
from crusts_index.render import console

Folder = Annotated[pathlib.Path, typer.Argument(metavar="DIR", help="A new or empty folder, or an earlier demo.")]


def demo(context: typer.Context, folder: Folder) -> None:
    """Write a small made-up Claude Code folder: eight sessions in three projects."""
    made = write_demo(folder, datetime.now(UTC))
    counts = {
        "folder": str(made.folder),
        "projects": made.projects,
        "sessions": made.sessions,
        "transcripts": made.transcripts,
        "records": made.records,
        "bytes": made.bytes_written,
    }
    if options.settings(context).json:
        show.document(counts)
        return
    console.put(f"{made.sessions} sessions in {made.projects} projects, {made.records:,} records, in {made.folder}")
    console.put("Look at it with a store of its own:")
    named, home = shlex.quote(str(made.folder)), shlex.quote(str(made.folder / "crusts"))
    console.put(f"  CLAUDE_CONFIG_DIR={named} CRUSTS_HOME={home} crusts analyze")
