"""`crusts auto-inject` where the quick path did not take it: with common options before its name, and for its help."""

from contextlib import suppress

from crusts_index.quick import auto_inject as quick
from crusts_index.quick import target
from crusts_index.store.settings import Flags, load_settings


def auto_inject(flags: Flags) -> None:
    """Hook target for UserPromptSubmit and SessionStart: reads the payload on stdin and, when the window is nearly
    full, gives Claude advice to pass on; when its cache is cold, tells the user once a pause what sending the window
    again costs, and what to type instead. `crusts hooks auto-inject enable` installs it.

    Prints the JSON that Claude Code expects, or nothing; whatever goes wrong, the prompt goes through.
    """
    with suppress(Exception):
        quick.inject(load_settings(flags), target.read_stdin())
