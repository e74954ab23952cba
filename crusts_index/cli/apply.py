"""Carries out fixes: to a file with a copy of the old one kept, or to the clipboard; asks first."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from crusts_index.claude.additions import append_text, deny_reads
from crusts_index.claude.settings import Edit
from crusts_index.errors import CrustsError
from crusts_index.insight.waste.optimize import Fix
from crusts_index.insight.waste.ways import HEADING
from crusts_index.render import clipboard, console
from crusts_index.store.settings import Settings, backup_folder
from crusts_index.tuples import NamedTuple


class Outcome(NamedTuple):
    """What became of a fix: applied, skipped, copied or failed."""

    fix_id: str
    status: str
    target: str | None = None
    backup: str | None = None
    message: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The shape that other programs rely on; what is unknown is left out."""
        known = {"target": self.target, "backup": self.backup, "message": self.message}
        return {"fixId": self.fix_id, "status": self.status, **{k: v for k, v in known.items() if v is not None}}


def apply_fixes(fixes: Sequence[Fix], settings: Settings, *, ask: bool) -> list[Outcome]:
    """Carry out the fixes in their order, each told on stderr; one that fails does not stop the others."""
    outcomes = []
    for fix in fixes:
        outcome = _apply(fix, backup_folder(settings), ask=ask)
        outcomes.append(outcome)
        kept = f"; the old file is kept as {outcome.backup}" if outcome.backup else ""
        said = f": {outcome.message}" if outcome.message else ""
        where = f" to {outcome.target}" if outcome.target and outcome.status == "applied" else ""
        console.note(f"{fix.id} {fix.kind} {outcome.status}{where}{said}{kept}")
    return outcomes


def _apply(fix: Fix, backups: str, *, ask: bool) -> Outcome:
    if fix.target is None:
        return _copy(fix)
    outside = _leads_outside(fix.target)
    if outside and not ask:
        return Outcome(fix.id, "skipped", fix.target, message=f"a link to {outside}: apply it without --yes")
    if ask and not _confirmed(fix, outside):
        return Outcome(fix.id, "skipped", fix.target)
    try:
        edit = _WAYS[fix.kind](fix, fix.target, backups)
    except (CrustsError, OSError) as error:
        return Outcome(fix.id, "failed", fix.target, message=str(error))
    if not edit.changed:
        return Outcome(fix.id, "skipped", edit.path, message="it is there already")
    return Outcome(fix.id, "applied", edit.path, edit.backup)


def _copy(fix: Fix) -> Outcome:
    if fix.kind not in ("compact-focus", "compact", "session-prompt"):
        return Outcome(fix.id, "skipped", message="nothing to write: it is done by hand")
    taken = clipboard.copy(fix.action)
    if taken is None:
        return Outcome(fix.id, "failed", message="no clipboard here: copy it from the list")
    return Outcome(fix.id, "copied", message=None if taken == "system" else "to the terminal's clipboard")


def _leads_outside(target: str) -> str | None:
    """Where a link leads that leaves the folder of its project; None for a target that stays in it."""
    folder = os.path.dirname(target)
    project = os.path.dirname(folder) if os.path.basename(folder) == ".claude" else folder
    real = os.path.realpath(target)
    return None if real.startswith(os.path.realpath(project) + os.sep) else real


def _confirmed(fix: Fix, outside: str | None) -> bool:
    where = f"{fix.target}, a link to {outside}" if outside else fix.target or ""
    return console.confirm(f"{fix.id} {fix.title}: write to {where}?")


def _deny(fix: Fix, target: str, backups: str) -> Edit:
    return deny_reads(target, fix.lines, backups)


def _ignore(fix: Fix, target: str, backups: str) -> Edit:
    def missing(existing: str) -> str:
        known = {line.strip() for line in existing.splitlines()}
        lines = [line for line in fix.lines if line not in known]
        return "\n".join(["# what is installed, built or locked (added by crusts)", *lines]) if lines else ""

    return append_text(target, missing, backups)


def _say(fix: Fix, target: str, backups: str) -> Edit:
    def missing(existing: str) -> str:
        return "" if HEADING.lower() in existing.lower() else "\n".join(fix.lines)

    return append_text(target, missing, backups)


_WAYS: dict[str, Callable[[Fix, str, str], Edit]] = {
    "permissions-deny": _deny,
    "claudeignore": _ignore,
    "claudemd-rule": _say,
}
