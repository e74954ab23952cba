"""`crusts doctor`: check that everything is in order, and mend what is safe to mend."""

import os
from contextlib import suppress

from crusts_index.cli import checks_claude, show
from crusts_index.cli.check import FAIL, PASS, WARN, Check, overall, run_all
from crusts_index.cli.checks_store import StoreChecks
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.progress import show_progress
from crusts_index.errors import CrustsError
from crusts_index.index import leftovers
from crusts_index.index.refresh import index_all, keep_up, keeps_text, may_fit
from crusts_index.index.summary import Options
from crusts_index.render import console, text
from crusts_index.store import private
from crusts_index.store.settings import Settings
from crusts_index.store.upgrade import ensure

_SIGNS = {PASS: ("ok", "green"), WARN: ("warn", "yellow"), FAIL: ("FAIL", "red")}

Fix = Annotated[
    bool,
    Option("--fix", help="Mend what is safe: permissions, leftovers, schema, index, prices, search file."),
]


def doctor(settings: Settings, fix: Fix = False) -> int:
    """Check Claude Code's side and ours: pass, warn or fail, and what to do.

    Exit code 1 if a check failed, with --json too. Nothing is changed unless --fix is given.
    """
    mended = _mend(settings) if fix else []
    checks = list(_run(settings))
    worst = overall(checks)
    if settings.json:
        found = [check._asdict() for check in checks]
        show.document({"checks": found, "overall": worst, "fixed": mended})
    else:
        for line in mended:
            console.put(line)
        _print(checks, worst, settings)
    return 1 if worst == FAIL else 0


def _run(settings: Settings) -> list[Check]:
    ours = StoreChecks(settings)
    try:
        return [*run_all(checks_claude.checks(settings)), *run_all(ours.checks())]
    finally:
        ours.close()


def _print(checks: list[Check], worst: str, settings: Settings) -> None:
    page = show.page(settings)
    width = max(text.width(check.name) for check in checks)
    for check in checks:
        sign, hue = _SIGNS[check.status]
        page.say([page.paint(f"{sign:<4}", hue), f"  {check.name:<{width}}  {check.detail}"], indent=width + 8)
    console.put(page.text())
    counts = {status: sum(check.status == status for check in checks) for status in _SIGNS}
    console.put(f"{counts[PASS]} in order, {counts[WARN]} to look at, {counts[FAIL]} failed: {worst}")


def _mend(settings: Settings) -> list[str]:
    """Do what is safe, each step for itself; what was done, a line each. What fails, the checks will say."""
    done = []
    with suppress(CrustsError):
        if ensure(settings.db):
            done.append("Brought the store up to this crusts.")
    done += [f"Took {path} from all others." for path in private.tighten(settings)]
    left = leftovers.find(settings)
    leftovers.clear(settings)
    done += [f"Cleared away {path}." for path in left if not os.path.exists(path)]
    with suppress(CrustsError), show_progress("indexing", quiet=settings.json) as progress:
        summary = index_all(
            settings, Options(keep_text=keeps_text(settings), progress=progress, fits=may_fit(settings))
        )
        if summary.changed:
            done.append(f"Read {text.plural(summary.changed, 'transcript')} ({text.size(summary.bytes_read)}).")
    with suppress(CrustsError):
        keep_up(settings, None)
    return done
