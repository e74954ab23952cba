"""`crusts index --hook`: the session that a hook of Claude Code names, silently and whatever happens (exit 0)."""

import sys

from crusts_index.errors import NotQuick
from crusts_index.store.settings import Settings, load_settings, split_flags

MOST_STDIN = 1 << 20


def run(argv: list[str]) -> int:
    """Index the session named on stdin. Anything but `--hook` alone belongs to the full command line."""
    flags, rest = split_flags(argv)
    if rest != ["--hook"]:
        raise NotQuick
    run_hook(load_settings(flags), sys.stdin.buffer.read(MOST_STDIN))
    return 0


def run_hook(settings: Settings, payload: bytes) -> None:
    """Index the transcripts that a hook payload names, if they are there; nothing else, and no backlog."""
    import os

    from crusts_index.claude.payloads import read_hook

    said = read_hook(payload)
    if said is None:
        return
    named = (said.transcript_path, said.agent_transcript_path)
    files = [path for path in named if path and path.endswith(".jsonl") and os.path.isfile(path)]
    if not files:
        return
    from crusts_index.index.refresh import index_named, keeps_text
    from crusts_index.index.run import Options

    index_named(settings, files, Options(jobs=1, keep_text=keeps_text(settings), kind="hook"))
