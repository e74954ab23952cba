"""`crusts overview`: what is on this machine, on one page; without transcripts, the same over a made-up demo."""

import os
import pathlib
from datetime import UTC, datetime

from crusts_index.claude.demo import write_demo
from crusts_index.cli import commands
from crusts_index.index.find import Walk
from crusts_index.index.refresh import roots_of
from crusts_index.render import console
from crusts_index.store.settings import Settings

_PAGE = (["index"], ["list", "--limit", "5"], ["usage"], ["analyze"], ["readout"])


def overview(settings: Settings) -> int:
    """Index everything, then show the newest sessions, usage by model, the last session and the readout.

    With --json it prints what `readout --full` prints. On a machine without transcripts it writes a made-up demo
    beside the store, with a store of its own.
    """
    flags = [word for path in settings.roots for word in ("--path", path)]
    flags += ["--db", settings.db]
    if not _has_transcripts(settings):
        flags = _demo(settings)
    if settings.json:
        flags.append("--json")
    for command in [["readout", "--full"]] if settings.json else _PAGE:
        if not settings.json:
            console.put("")
            console.put(f"$ crusts {' '.join(command)}")
        code = commands.run([*command, *flags])
        if code:
            return code
    return 0


def _has_transcripts(settings: Settings) -> bool:
    return any(True for root in roots_of(settings) for _ in Walk(root.projects_dir).transcripts())


def _demo(settings: Settings) -> list[str]:
    folder = pathlib.Path(settings.home) / "demo"
    write_demo(folder, datetime.now(UTC))
    console.note(f"no transcripts of Claude Code on this machine: showing a made-up demo, written to {folder}")
    os.environ["CRUSTS_HOME"] = str(folder / "crusts")
    return ["--path", str(folder), "--db", str(folder / "crusts" / "index.db")]
