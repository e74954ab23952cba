"""`crusts forget`: take sessions out of the store for good (D16)."""

import os
import re
import sys
from contextlib import closing

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Argument, Option
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.index.forget import Forgotten
from crusts_index.index.forget import forget as take_out
from crusts_index.index.refresh import open_writer
from crusts_index.index.traces import Kept, copies_holding, keep_promises
from crusts_index.render import console, table, text
from crusts_index.rows.reports import Forgettable
from crusts_index.store.settings import Settings

_LISTED = 15
"""Sessions named in the question."""
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

Session = Annotated[str | None, Argument("[SESSION]", "Start of the id of the session to forget.")]
Before = Annotated[
    str | None,
    Option("--before", metavar="WHEN", help="Sessions not active since: 2026-11-30, 90d, 26w."),
]
Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]


def forget(settings: Settings, session: Session = None, before: Before = None, yes: Yes = False) -> None:
    """Remove a session, the sessions of a project (--project), or all before a date from the store, for good.

    Text and numbers go, from the search file and from copies beside the store too, and are not read in again.
    Claude Code's own transcripts stay as they are. What other sessions share with them stays with those.
    """
    bound = options.moment("--before", before)
    if session is None and bound is None and not settings.project:
        raise WrongUsage("say what to forget: a SESSION, --project TEXT or --before WHEN")
    found = _find(settings, session, bound)
    names = [row.session for row in found]
    if not found and session is not None and _ID.fullmatch(session):
        names = [session]  # never read in so far; that it stays so can be promised
    if not names:
        _tell(settings, Forgotten([], [], 0, 0, 0), Kept([], [], None))
        return
    if not yes:
        _ask(settings, found, copies_holding(settings.db, names))
    with closing(open_writer(settings)) as store:
        is_of_all = session is None and not settings.project
        done = take_out(store, names, bound if is_of_all else None)
        kept = keep_promises(store, settings, is_asked=True)
    _tell(settings, done, kept or Kept([], [], None))


def _find(settings: Settings, session: str | None, before: int | None) -> list[Forgettable]:
    """The sessions meant, the last active first; what is new is read in first, so that it is remembered too."""
    with opened(settings) as store:
        chosen = None
        if session is not None:
            try:
                chosen = store.choose(session)
            except CrustsError:
                if _ID.fullmatch(session):
                    return []
                raise
        return store.fetch(Forgettable, session=chosen, project=settings.project, before=before)


def _ask(settings: Settings, found: list[Forgettable], copies: list[str]) -> None:
    """Show what goes and ask. Raises CrustsError where nobody can answer, or the answer is no."""
    if settings.json or not console.is_terminal(sys.stdin):
        raise CrustsError("nothing was forgotten: nobody is here to confirm it; say --yes if you mean it")
    if found:
        rows = [
            [
                row.session[:8],
                (row.last_active or "")[:10],
                text.shorten_path(row.project or "", 40),
                row.title,
                row.records,
                row.calls,
            ]
            for row in found[:_LISTED]
        ]
        columns = ("session", "last active", "project", "title", "records", "calls")
        console.tell(table.table(columns, rows, console.table_width()))
    if len(found) > _LISTED:
        console.tell(f"+ {len(found) - _LISTED:,} more sessions")
    for copy in copies:
        size = text.size(os.path.getsize(copy))
        console.tell(f"This older copy of the store holds them too and is deleted whole: {copy} ({size})")
    gone = sum(1 for row in found if row.gone)
    if gone:
        console.tell(f"The transcripts of {gone:,} of them are gone: nothing can bring these back.")
    many = "this session" if len(found) <= 1 else f"these {len(found):,} sessions"
    if not console.confirm(f"Forget {many} for good?"):
        raise CrustsError("nothing was forgotten")


def _tell(settings: Settings, done: Forgotten, kept: Kept) -> None:
    if settings.json:
        show.document(
            {
                "sessions": done.sessions,
                "transcripts": len(done.transcripts),
                "records": done.records,
                "calls": done.calls,
                "shared_calls": done.shared_calls,
                "copies_deleted": kept.copies,
                "still_named_in": kept.left,
            }
        )
    elif not done.sessions:
        console.put("No session fits: nothing was forgotten.")
    else:
        _tell_in_text(done, kept)
    if kept.obstacle:
        console.note(kept.obstacle)


def _tell_in_text(done: Forgotten, kept: Kept) -> None:
    console.put(
        f"Forgotten: {text.plural(len(done.sessions), 'session')}, {text.plural(len(done.transcripts), 'transcript')},"
        f" {text.plural(done.records, 'record')}, {text.plural(done.calls - done.shared_calls, 'API call')}."
    )
    if done.shared_calls:
        console.put(f"{done.shared_calls:,} API calls stay: other sessions have them too.")
    for copy in kept.copies:
        console.put(f"Deleted the older copy of the store {copy}.")
    for path in kept.left:
        console.note(f"{path} still names one of them: look at it, and delete it if it should not")
