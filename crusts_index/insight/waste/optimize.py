"""Actions as fixes, each way to carry one out by itself, with the tokens that it frees (D18)."""

from __future__ import annotations

from crusts_index.insight.waste.actions import KINDS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.waste.actions import Action

ALWAYS_TOLD = ("mcp-disable", "claudemd-rule", "session-prompt")
"""Kinds that are told whatever they free."""
MIN_SAVINGS = 100


class Fix(NamedTuple):
    """One fix. `savings` is tokens, estimated; `lines` are what is added, to the file or the list `target` names.

    Of fixes with the same `group` only the largest counts in the sum: they free the same tokens.
    """

    id: str
    kind: str
    title: str
    description: str
    savings: int
    action: str
    target: str | None
    lines: tuple[str, ...]
    group: str

    @property
    def is_applicable(self) -> bool:
        """Whether it can be written to a file; else it is something to type or to change by hand."""
        return self.target is not None


def fixes_of(actions: Sequence[Action], min_savings: int = MIN_SAVINGS, kinds: Sequence[str] = ()) -> list[Fix]:
    """The fixes worth at least `min_savings` tokens, of the `kinds` named (none: all), what frees most first."""
    fixes = [fix for action in actions for fix in _ways(action)]
    kept = [
        fix
        for fix in fixes
        if (fix.savings >= min_savings or fix.kind in ALWAYS_TOLD) and (not kinds or fix.kind in kinds)
    ]
    kept.sort(key=lambda fix: (-fix.savings, KINDS.index(fix.kind)))
    return [fix._replace(id=f"fix-{place}") for place, fix in enumerate(kept, 1)]


def total_of(fixes: Sequence[Fix]) -> int:
    """The tokens that all of them free, those of a group once."""
    groups: dict[str, int] = {}
    for fix in fixes:
        groups[fix.group] = max(fix.savings, groups.get(fix.group, 0))
    return sum(groups.values())


def _ways(action: Action) -> list[Fix]:
    about = action.why if action.frees_tokens is None else f"{action.why}; frees {action.frees_from}"
    whole = Fix("", action.id, action.title, about, action.frees_tokens or 0, action.do, None, (), action.id)
    return [
        whole._replace(
            kind=way.kind,
            title=way.title,
            description=way.why,
            savings=way.frees_tokens,
            action="\n".join(way.lines),
            target=way.target,
            lines=way.lines,
        )
        for way in action.ways
    ] or [whole]
