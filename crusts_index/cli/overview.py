"""`crusts overview`: what is on this machine, on one page; without transcripts, the same over a made-up demo."""

import os
import pathlib
from datetime import UTC, datetime

from crusts_index.claude.demo import write_demo
from crusts_index.cli import commands, show
from crusts_index.cli.judged import judge
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError
from crusts_index.index.find import Walk
from crusts_index.index.refresh import roots_of
from crusts_index.quick import readout
from crusts_index.render import console
from crusts_index.render.actions import actions_json
from crusts_index.store.settings import Settings, load_settings, split_flags

_PAGE = (["index"], ["list", "--limit", "5"], ["usage"], ["analyze"], ["readout"])


def overview(settings: Settings) -> int:
    """Index everything, then show the newest sessions, usage by model, the last session and the readout.

    With --json it prints what `readout --full` prints, and what to do about the last session. On a machine without
    transcripts it writes a made-up demo beside the store, with a store of its own.
    """
    flags = [word for path in settings.roots for word in ("--path", path)]
    flags += ["--db", settings.db]
    if not _has_transcripts(settings):
        flags = _demo(settings)
    if settings.json:
        _document(load_settings(split_flags([*flags, "--json"])[0]))
        return 0
    for command in _PAGE:
        console.put("")
        console.put(f"$ crusts {' '.join(command)}")
        code = commands.run([*command, *flags])
        if code:
            return code
    return 0


def _document(settings: Settings) -> None:
    since = readout.period(None, None)
    with opened(settings) as store:
        told = store.readout(since)
        try:
            found = judge(store, settings, store.choose(None))
        except CrustsError:  # no session yet
            found = None
    show.document(
        {
            **told,
            "session": found.facts.session.session_id if found else None,
            "actions": actions_json(found.actions) if found else [],
        }
    )


def _has_transcripts(settings: Settings) -> bool:
    return any(True for root in roots_of(settings) for _ in Walk(root.projects_dir).transcripts())


def _demo(settings: Settings) -> list[str]:
    folder = pathlib.Path(settings.home) / "demo"
    write_demo(folder, datetime.now(UTC))
    console.note(f"no transcripts of Claude Code on this machine: showing a made-up demo, written to {folder}")
    os.environ["CRUSTS_HOME"] = str(folder / "crusts")
    return ["--path", str(folder), "--db", str(folder / "crusts" / "index.db")]
