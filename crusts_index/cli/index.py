"""`crusts index`: take what is new in the transcripts into the store."""

import sys

from crusts_index.cli import options
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.progress import show_progress
from crusts_index.index.refresh import index_all, index_named, is_kept_up, keep_up, keeps_text, list_problems, may_fit
from crusts_index.index.summary import Options, Summary
from crusts_index.render import console, jsonout
from crusts_index.store.settings import Settings

COUNTS = ("files", "changed", "gone", "bytes_read", "records", "calls", "problems", "seconds")


def index(
    settings: Settings,
    jobs: Annotated[
        int | None,
        Option("--jobs", reads=options.whole(), metavar="N", help="Worker processes; else as many as pay."),
    ] = None,
    file: Annotated[
        list[str] | None,
        Option("--file", metavar="TRANSCRIPT", help="Only this transcript's session; repeatable."),
    ] = None,
    hook: Annotated[
        bool, Option("--hook", help="As a hook of Claude Code: the session named on stdin, silently.")
    ] = False,
    rebuild: Annotated[
        bool, Option("--rebuild", help="Read everything into a new store; the old file is kept.")
    ] = False,
    prices: Annotated[bool, Option("--prices", help="Ask the bundled price list again for every model.")] = False,
    fetch: Annotated[
        bool, Option("--fetch", help="With --prices: fetch the newest list. The only use of a network.")
    ] = False,
) -> None:
    """Take what is new in the transcripts into the store.

    Counts are exact and of this run, `calls` apart: those are all API calls that the store knows.
    """
    if hook:
        from crusts_index.quick.index import run_hook
        from crusts_index.quick.target import read_stdin

        run_hook(settings, read_stdin())
        return
    with show_progress("indexing", quiet=settings.json) as progress:
        run = Options(jobs=jobs, keep_text=keeps_text(settings), progress=progress, fits=may_fit(settings))
        if rebuild:
            from crusts_index.index.rebuild import rebuild as rebuild_store

            summary = rebuild_store(settings, run)
        elif file:
            summary = index_named(settings, file, run)
        else:
            summary = index_all(settings, run)
    unpriced: list[str] = []
    if prices or fetch or not is_kept_up(settings, summary):
        unpriced = keep_up(settings, summary, ask_all=prices or fetch, fetch=fetch)
    _report(settings, summary, unpriced)


def _report(settings: Settings, summary: Summary, unpriced: list[str]) -> None:
    if settings.json:
        found = {name: getattr(summary, name) for name in COUNTS}
        found["unreadable"] = [{"path": path, "reason": reason} for path, reason in summary.unreadable]
        console.put(jsonout.encode(found, indent=console.is_terminal(sys.stdout)))
    else:
        console.put(summary.sentence())
    for path, reason in summary.unreadable:
        console.note(f"could not read {path}: {reason}")
    if unpriced:
        console.note(f"no price is known for {', '.join(unpriced)}: their calls have no cost")
    if settings.verbose:
        for row in list_problems(settings):
            console.note(f"{row.path}: {row.length:,} bytes at {row.offset:,}: {row.reason}")
