"""Ways to keep files that are not worth reading out of the window: what is added to which file of the project (D18)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.waste.noise import Noise

HEADING = "Files to avoid reading"


class Target(NamedTuple):
    """The project that is acted on, as it is now; texts are None where there is no file, `folder` where it is away."""

    folder: str | None
    ignore: str | None
    claude_md: str | None
    denied: tuple[str, ...]
    instruction_tokens: int
    instruction_files: tuple[tuple[str, int], ...]


NOWHERE = Target(None, None, None, (), 0, ())


class Way(NamedTuple):
    """One way to carry out an action in a file: lines to add, to it or to a list in it; tokens that it frees."""

    kind: str
    title: str
    why: str
    frees_tokens: int
    target: str | None
    lines: tuple[str, ...]


def ways_of(noise: Sequence[Noise], target: Target) -> tuple[Way, ...]:
    """The ways that are not gone yet, the one that is enforced first."""
    return (*_denied(noise, target), *_ignored(noise, target), *_wished(noise, target))


def _denied(noise: Sequence[Noise], target: Target) -> list[Way]:
    rules = {f"Read({one.rule.pattern})": one for one in noise}
    missing = [rule for rule in rules if rule not in target.denied]
    if not missing:
        return []
    why = f"{', '.join(said(rules[rule]) for rule in missing)}; unlike a wish, a deny rule is enforced"
    frees = sum(rules[rule].tokens for rule in missing)
    file = f"{target.folder}/.claude/settings.json" if target.folder else None
    return [Way("permissions-deny", "Deny reading what is installed or built", why, frees, file, tuple(missing))]


def _ignored(noise: Sequence[Noise], target: Target) -> list[Way]:
    known = {line.strip() for line in (target.ignore or "").splitlines()}
    missing = [one for one in noise if one.rule.ignore not in known]
    if not missing:
        return []
    why = f"{', '.join(map(said, missing))}; newer versions of Claude Code do not heed it, see permissions-deny"
    frees, lines = sum(one.tokens for one in missing), tuple(one.rule.ignore for one in missing)
    file = f"{target.folder}/.claudeignore" if target.folder else None
    return [Way("claudeignore", "Ignore what is installed or built", why, frees, file, lines)]


def _wished(noise: Sequence[Noise], target: Target) -> list[Way]:
    if not noise or target.claude_md is None or HEADING.lower() in target.claude_md.lower():
        return []
    lines = (
        f"## {HEADING}",
        "",
        *(f"- {one.rule.label}" for one in noise),
        "",
        "These are preferences, not bans: read one of them where nothing else can answer, and only the lines needed.",
    )
    why = f"{', '.join(map(said, noise))}; a wish is heeded less than a rule, so half of it is counted"
    frees = (sum(one.tokens for one in noise) + 1) // 2
    file = f"{target.folder}/CLAUDE.md" if target.folder else None
    return [Way("claudemd-rule", "Say in CLAUDE.md what not to read", why, frees, file, lines)]


def said(one: Noise) -> str:
    """How often files of a kind were read, and what that took."""
    return f"{one.rule.ignore} read {'once' if one.reads == 1 else f'{one.reads:,} times'} for {one.tokens:,} tokens"
