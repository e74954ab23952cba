"""`crusts index` before typer is imported: as a hook of Claude Code, and as it stands where little is new."""

import sys

from crusts_index.errors import CrustsError, NotQuick
from crusts_index.plain import note
from crusts_index.quick import target
from crusts_index.store.settings import Settings, load_settings, split_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from sqlite3 import Connection

    from crusts_index.claude.payloads import Told
    from crusts_index.claude.roots import Root
    from crusts_index.index.summary import Summary
    from crusts_index.store.laid import Tell

MOST_BYTES = 8 << 20
"""With more than this to read there is time for a progress bar."""
READING_SECONDS = 1.2
"""The longest that a hook reads; what is left of its session the next run reads."""
MOST_UPGRADED = 8 << 20
"""Bytes of a store of an older crusts that a hook brings up to date."""


def run(argv: list[str]) -> int:
    """Index as `--hook` or with no option of its own; NotQuick for all else, and where much is new."""
    if target.is_hook(argv):
        target.begin(target.INDEX_SECONDS)
        line = target.CommandLine(argv, switches=("--hook",))
        run_hook(line.settings(), target.read_stdin())
        return 0
    flags, rest = split_flags(argv)
    settings = load_settings(flags)
    if rest or settings.json or settings.verbose:
        raise NotQuick
    _run_plain(settings)
    return 0


def run_hook(settings: Settings, payload: bytes) -> None:
    """Index the session that a hook payload names, if it lies under the roots; nothing else, and no backlog."""
    from crusts_index.claude.payloads import read_hook
    from crusts_index.claude.transcripts import named_transcripts

    said = read_hook(payload)
    if said is None:
        return
    roots = target.roots_there(settings)
    files = named_transcripts(roots, said.session_id, said.transcript_path, said.agent_transcript_path)
    if files:
        _index_named(settings, files, roots)
    if said.told.is_worth_keeping:
        _remember(settings, said.told)


def _index_named(settings: Settings, files: "list[str]", roots: "list[Root]") -> None:
    from crusts_index.index.refresh import HOOK_SECONDS, index_named, keeps_text
    from crusts_index.index.summary import Options
    from crusts_index.store.laid import watched

    seconds = target.left(READING_SECONDS)
    options = Options(jobs=0, keep_text=keeps_text(settings), kind="hook", seconds=seconds)
    with watched(_only_small):
        index_named(settings, files, options, timeout=target.left(HOOK_SECONDS), roots=roots)


def _remember(settings: Settings, told: "Told") -> None:
    from crusts_index.quick.named import open_quietly
    from crusts_index.quick.remember import remember

    store = open_quietly(settings)
    if store is not None:
        try:
            remember(settings, told, store)
        finally:
            store.close()


def _only_small(size: int) -> "AbstractContextManager[Tell | None]":
    """Claude Code waits for a hook."""
    from contextlib import nullcontext

    if size > MOST_UPGRADED:
        raise CrustsError("the store is of an older crusts, and large: run `crusts index` to bring it up to date")
    return nullcontext()


def _not_here(_: int) -> "AbstractContextManager[Tell | None]":
    """The full command line can show how far it is."""
    raise NotQuick


def _run_plain(settings: Settings) -> None:
    from crusts_index.index.refresh import index_all, is_kept_up, keep_up, keeps_text
    from crusts_index.index.summary import Options
    from crusts_index.store.laid import watched

    unpriced: list[str] = []

    def also(store: "Connection", summary: "Summary") -> None:
        if summary.is_complete and not is_kept_up(settings, summary):
            unpriced.extend(keep_up(settings, summary, store))

    options = Options(jobs=0, keep_text=keeps_text(settings), most_bytes=MOST_BYTES)
    with watched(_not_here):
        summary = index_all(settings, options, then=also)
    if not summary.is_complete:
        raise NotQuick
    if unpriced:
        note(f"no price is known for {', '.join(unpriced)}: their calls have no cost")
    sys.stdout.write(summary.sentence() + "\n")
    for path, reason in summary.unreadable:
        note(f"could not read {path}: {reason}")
