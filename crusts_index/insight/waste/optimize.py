"""Fixes with the tokens that each saves: what to type, what to add to the project's files, what to switch off."""

from __future__ import annotations

from crusts_index.insight.waste.focus import compact_focus
from crusts_index.insight.waste.noise import Noise, find_noise
from crusts_index.insight.waste.thresholds import Thresholds
from crusts_index.insight.window.toolset import toolset_of
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.find import WasteItem

KINDS = ("compact-focus", "permissions-deny", "claudeignore", "claudemd-rule", "mcp-disable", "claudemd-oversized")
"""The kinds of fixes, in the order in which equal savings stand."""
ALWAYS_TOLD = ("mcp-disable", "claudemd-rule")
"""Kinds that are told whatever they save."""
HEADING = "Files to avoid reading"
MIN_SAVINGS = 100


class Target(NamedTuple):
    """The project that fixes would be written to, as it is now; texts are None where there is no file."""

    folder: str | None
    ignore: str | None
    claude_md: str | None
    denied: tuple[str, ...]
    instruction_tokens: int
    instruction_files: tuple[tuple[str, int], ...]


class Fix(NamedTuple):
    """One fix. `savings` is tokens, estimated; `lines` are what is added, to the file or the list `target` names.

    Of fixes with the same `group` only the largest counts in the sum: they save the same tokens.
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
        """Whether it can be written to a file; else it is something to type."""
        return self.target is not None


class Optimization(NamedTuple):
    """The fixes, those that save most first, and the sum of what they save."""

    fixes: tuple[Fix, ...]
    total: int


def optimize(
    facts: Facts,
    waste: Sequence[WasteItem],
    target: Target,
    thresholds: Thresholds | None = None,
    min_savings: int = MIN_SAVINGS,
    kinds: Sequence[str] = (),
) -> Optimization:
    """The fixes worth at least `min_savings` tokens, of the `kinds` named (none: all). Nothing already done is told."""
    noise = find_noise(facts.tool_uses, facts.session.project_folder)
    fixes = [
        *_focus(waste),
        *_denied(noise, target),
        *_ignored(noise, target),
        *_rule(noise, target),
        *_servers(facts),
        *_instructions(target, thresholds or Thresholds()),
    ]
    kept = [
        fix
        for fix in fixes
        if (fix.savings >= min_savings or fix.kind in ALWAYS_TOLD) and (not kinds or fix.kind in kinds)
    ]
    kept.sort(key=lambda fix: (-fix.savings, KINDS.index(fix.kind)))
    groups: dict[str, int] = {}
    for fix in kept:
        groups[fix.group] = max(fix.savings, groups.get(fix.group, 0))
    numbered = tuple(fix._replace(id=f"fix-{place}") for place, fix in enumerate(kept, 1))
    return Optimization(numbered, sum(groups.values()))


def _focus(waste: Sequence[WasteItem]) -> list[Fix]:
    focus = compact_focus(waste)
    if focus is None:
        return []
    description = "names what the summary can do without; what it frees depends on the summary"
    return [
        Fix("", "compact-focus", "Compact with a focus", description, focus.tokens, focus.command, None, (), "window")
    ]


def _denied(noise: list[Noise], target: Target) -> list[Fix]:
    rules = {f"Read({one.rule.pattern})": one for one in noise}
    missing = [rule for rule in rules if rule not in target.denied]
    if not missing:
        return []
    return [
        Fix(
            "",
            "permissions-deny",
            "Deny reading what is installed or built",
            f"{_told([rules[rule] for rule in missing])}; unlike a wish, a deny rule is enforced",
            sum(rules[rule].tokens for rule in missing),
            "\n".join(missing),
            f"{target.folder}/.claude/settings.json" if target.folder else None,
            tuple(missing),
            "noise",
        )
    ]


def _ignored(noise: list[Noise], target: Target) -> list[Fix]:
    known = {line.strip() for line in (target.ignore or "").splitlines()}
    missing = [one for one in noise if one.rule.ignore not in known]
    if not missing:
        return []
    lines = tuple(one.rule.ignore for one in missing)
    return [
        Fix(
            "",
            "claudeignore",
            "Ignore what is installed or built",
            f"{_told(missing)}; newer versions of Claude Code do not heed it, see permissions-deny",
            sum(one.tokens for one in missing),
            "\n".join(lines),
            f"{target.folder}/.claudeignore" if target.folder else None,
            lines,
            "noise",
        )
    ]


def _rule(noise: list[Noise], target: Target) -> list[Fix]:
    if not noise or target.claude_md is None or HEADING.lower() in target.claude_md.lower():
        return []
    lines = (
        f"## {HEADING}",
        "",
        *(f"- {one.rule.label}" for one in noise),
        "",
        "These are preferences, not bans: read one of them where nothing else can answer, and only the lines needed.",
    )
    return [
        Fix(
            "",
            "claudemd-rule",
            "Say in CLAUDE.md what not to read",
            f"{_told(noise)}; a wish is heeded less than a rule, so half of it is counted",
            (sum(one.tokens for one in noise) + 1) // 2,
            "\n".join(lines),
            f"{target.folder}/CLAUDE.md" if target.folder else None,
            lines,
            "noise",
        )
    ]


def _servers(facts: Facts) -> list[Fix]:
    names = [one.name for one in toolset_of(facts).servers if one.unused and one.source != "transcript"]
    if not names:
        return []
    listed = ", ".join(names)
    description = f"not used in this session: {listed}; their tools are listed in the context and loaded on demand"
    action = f"switch off with /mcp, or remove from mcpServers: {listed}"
    return [Fix("", "mcp-disable", "Switch off MCP servers not used", description, 0, action, None, (), "servers")]


def _instructions(target: Target, thresholds: Thresholds) -> list[Fix]:
    excess = int(target.instruction_tokens - thresholds.claude_md_oversized)
    if excess <= 0:
        return []
    files = "\n".join(f"{path}: about {tokens:,} tokens" for path, tokens in target.instruction_files)
    description = (
        f"CLAUDE.md files and rules take about {target.instruction_tokens:,} tokens of every call, "
        f"{excess:,} above {thresholds.claude_md_oversized:,.0f}"
    )
    return [
        Fix(
            "",
            "claudemd-oversized",
            "Shorten CLAUDE.md",
            description,
            excess,
            f"move what few tasks need into files that are read on demand:\n{files}",
            None,
            (),
            "instructions",
        )
    ]


def _told(noise: list[Noise]) -> str:
    return ", ".join(f"{one.rule.ignore} read {_times(one.reads)} for {one.tokens:,} tokens" for one in noise)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
