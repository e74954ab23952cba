"""`crusts status` with all of typer's help and errors; what it does is the quick path's."""

from crusts_index.cli import options
from crusts_index.cli.declared import Annotated, Option
from crusts_index.quick import status as quick
from crusts_index.store.settings import Settings

Hook = Annotated[bool, Option("--hook", help="Take the session that a hook's payload on stdin names.")]


def status(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    hook: Hook = False,
) -> None:
    """The window of a session in one line: the same number as `analyze`, at a glance.

    Without an id it is the session whose transcript was written to last in this folder's project, else the one
    last active anywhere. What is new of that transcript is read first. --json always prints JSON.
    """
    quick.show(settings, session, last, hook=hook)
