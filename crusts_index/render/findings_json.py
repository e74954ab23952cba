"""What takes a window, and fixes, as JSON: the shapes that other programs rely on; messages are numbered from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.insight.waste.files import FileUse
from crusts_index.insight.waste.optimize import Fix

Json = dict[str, Any]


def files_json(files: Sequence[FileUse]) -> list[Json]:
    """The files read in the window."""
    return [one._asdict() for one in files]


def fix_json(fix: Fix) -> Json:
    """One fix of `optimize`; `applyTarget` and `applyContent` only where it can be written to a file."""
    found: Json = {
        "id": fix.id,
        "kind": fix.kind,
        "title": fix.title,
        "description": fix.description,
        "estimatedSavings": fix.savings,
        "action": fix.action,
        "autoApplicable": fix.is_applicable,
    }
    if fix.is_applicable:
        found |= {"applyTarget": fix.target, "applyContent": "\n".join(fix.lines)}
    return found
