"""Files that are hardly ever worth reading: what was installed, built or locked, told by their paths."""

from __future__ import annotations

import re

from crusts_index.tools import READS
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from crusts_index.insight.session.facts import ToolUse


class Rule(NamedTuple):
    """A kind of such files: the line of an ignore file, the path pattern of a Read rule, what to call it."""

    ignore: str
    pattern: str
    label: str


class Noise(NamedTuple):
    """How often files of a kind were read, and the tokens (estimated) of what came back."""

    rule: Rule
    reads: int
    tokens: int


NOISE = "noise_read"
"""What every command calls it."""
FOLDERS = ("node_modules", "dist", "build", ".next", "target", ".git")
LOCKS = ("package-lock", "bun", "yarn", "pnpm", "cargo", "poetry", "pipfile", "uv", "gemfile", "composer")
_OTHER_LOCKS = ("package-lock.json", "pnpm-lock.yaml")

_FOLDER_RULES = {name: Rule(f"{name}/", f"**/{name}/**", f"{name}/ folders") for name in FOLDERS}
_LOCK_RULE = Rule("*.lock", "**/*.lock", "lock files")
_OTHER_RULES = {name: Rule(name, f"**/{name}", name) for name in _OTHER_LOCKS}
_FOLDER = re.compile("(?:^|[/\\\\])(" + "|".join(map(re.escape, FOLDERS)) + ")[/\\\\]")
_LOCK = re.compile(r"(?:^|[/\\])(?:" + "|".join(LOCKS) + r")\.lock$")


def rule_of(path: str, project: str | None = None) -> Rule | None:
    """The kind that a path is of, None if it is worth reading. A folder above the project does not count."""
    lower = path.lower()
    if project:
        inside = project.lower().rstrip("/\\")
        if inside and lower.startswith(inside):
            lower = lower[len(inside) :]
    folder = _FOLDER.search(lower)
    if folder:
        return _FOLDER_RULES[folder[1]]
    if _LOCK.search(lower):
        return _LOCK_RULE
    return _OTHER_RULES.get(lower.replace("\\", "/").rpartition("/")[2])


def find_noise(uses: Iterable[ToolUse], project: str | None) -> list[Noise]:
    """Such reads among tool uses, by kind, most tokens first."""
    found: dict[Rule, tuple[int, int]] = {}
    for use in uses:
        if use.name in READS and use.path and use.result_record_id is not None and not use.is_error:
            rule = rule_of(use.path, project)
            if rule is not None:
                reads, tokens = found.get(rule, (0, 0))
                found[rule] = (reads + 1, tokens + use.result_block_tokens)
    noise = [Noise(rule, reads, tokens) for rule, (reads, tokens) in found.items()]
    return sorted(noise, key=lambda one: (-one.tokens, one.rule.ignore))
