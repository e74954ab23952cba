"""`crusts completion`: scripts that complete commands, options, their values and session ids in a shell."""

import os
from contextlib import closing, suppress

from crusts_index.cli.declared import Annotated, Argument
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.render import console
from crusts_index.store.settings import Flags, Settings, load_settings

SHELLS = ("bash", "zsh", "fish", "pwsh")
_SAME = {"powershell": "pwsh"}
_IDS = "ids"
MOST_IDS = 500
"""Session ids offered, the last active first."""

Shell = Annotated[str, Argument("|".join(SHELLS), "The shell that is to complete.")]


def completion(flags: Flags, shell: Shell) -> None:
    """Print a completion script for a shell: commands, options, their values, and session ids.

    bash: put `source <(crusts completion bash)` into ~/.bashrc. zsh: the same with `zsh` into ~/.zshrc, behind
    compinit. fish: `crusts completion fish > ~/.config/fish/completions/crusts.fish`. PowerShell:
    `crusts completion pwsh | Out-String | Invoke-Expression` in $PROFILE.
    """
    name = _SAME.get(shell, shell)
    if name == _IDS:  # one a line, for the scripts; they ask on each Tab
        with suppress(CrustsError):
            for one in session_ids(load_settings(flags)):
                console.put(one)
        return
    if name not in SHELLS:
        raise WrongUsage(f"no completion for {shell!r}: say {', '.join(SHELLS[:-1])} or {SHELLS[-1]}")
    from crusts_index.cli.words import read_words
    from crusts_index.plain import lines
    from crusts_index.render.completion import SCRIPTS

    console.put(lines(SCRIPTS[name](read_words())))


def session_ids(settings: Settings) -> list[str]:
    """Session ids to complete, the last active first; none where something is wrong."""
    from crusts_index.rows.reports import CompletedId
    from crusts_index.store import query
    from crusts_index.store.open import open_store

    try:
        if not os.path.exists(settings.db):
            return []
        with closing(open_store(settings.db, timeout=0.2)) as store:
            rows = query.rows(store, CompletedId, project=settings.project, limit=MOST_IDS)
    except CrustsError:
        return []
    # A name with anything else in it is nothing for a shell.
    return [row.session for row in rows if row.session.replace("-", "").isalnum()]
