"""What to paste where: a prompt for the session, lines for CLAUDE.md, and the /compact command."""

from __future__ import annotations

from crusts_index.insight.session.mentions import short_names
from crusts_index.insight.waste.advice import COMPACT_FROM, SOON
from crusts_index.insight.waste.focus import PLAIN, compact_focus
from crusts_index.insight.waste.thresholds import Thresholds
from crusts_index.insight.window.words import left_words
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.find import WasteItem
    from crusts_index.insight.window.judge import Window

PLAIN_FROM = 70.0
"""Per cent of the limit from which on a plain `/compact` is worth it, where nothing can be named."""
_FILES_IN_PROMPT = 10
_FILES_IN_SNIPPET = 8
_ENOUGH_FILES = 2
_ENOUGH_COMPACTIONS = 2


class FixBlocks(NamedTuple):
    """Three texts to paste; None where there is nothing to say."""

    session_prompt: str | None
    claude_md_snippet: str | None
    compact_command: str | None


def fix_blocks(
    facts: Facts, window: Window, waste: Sequence[WasteItem], thresholds: Thresholds | None = None
) -> FixBlocks:
    """The three blocks of a session. `waste` as `find_waste` gave it."""
    duplicates = [item for item in waste if item.type == "duplicate_read" and item.is_counted and item.path]
    return FixBlocks(
        _session_prompt(window, duplicates),
        _snippet(facts, window, duplicates, thresholds or Thresholds()),
        compact_command(window, waste),
    )


def compact_command(window: Window, waste: Sequence[WasteItem]) -> str | None:
    """`/compact` with its focus from half of the limit on, without one from 70 per cent on; else None."""
    if window.usage_percentage < COMPACT_FROM:
        return None
    focus = compact_focus(waste)
    if focus is not None:
        return focus.command
    return PLAIN if window.usage_percentage >= PLAIN_FROM else None


def _session_prompt(window: Window, duplicates: list[WasteItem]) -> str | None:
    parts = []
    if duplicates:
        names = _names(duplicates)
        lines = ["Do not read these files again unless they were changed; what was read is still in your context:"]
        for item, name in list(zip(duplicates, names, strict=True))[:_FILES_IN_PROMPT]:
            where = ", ".join(f"#{number}" for number in item.messages)
            lines.append(f"- {name} (read again without need at {where})")
        parts.append("\n".join(lines))
        parts.append("Refer to a file already read by its name and line numbers; read only the lines that are missing.")
    if window.calls_left is not None and 0 < window.calls_left < SOON:
        parts.append(
            f"The context is filling up: {left_words(window)} until it is compacted. Finish the step at hand, "
            "keep tool output short, and note what must not be lost."
        )
    return "\n\n".join(parts) or None


def _snippet(facts: Facts, window: Window, duplicates: list[WasteItem], thresholds: Thresholds) -> str | None:
    parts = []
    if len(duplicates) >= _ENOUGH_FILES:
        lines = ["## Key files", "", "What these hold, so that they need not be read to find out:"]
        lines += [f"- {name}: [describe what it holds]" for name in _names(duplicates)[:_FILES_IN_SNIPPET]]
        parts.append("\n".join(lines))
    if sum(one.on_path for one in facts.all_compactions) >= _ENOUGH_COMPACTIONS:
        parts.append(
            "## Sessions\n\n"
            "- Keep a session below 200 messages.\n"
            "- Use /clear between tasks that have nothing to do with each other.\n"
            "- Use /compact with a focus at 60% of the window, before it happens by itself."
        )
    tokens = window.fixed_context.claude_md_tokens
    if tokens > thresholds.claude_md_oversized:
        parts.append(
            f"<!-- CLAUDE.md and rules take about {tokens:,} tokens of every call; move what few tasks need into "
            "files that are read on demand. -->"
        )
    return "\n\n".join(parts) or None


def _names(items: list[WasteItem]) -> list[str]:
    names = short_names(item.path or "" for item in items)
    return [_one_line(names[item.path or ""]) for item in items]


def _one_line(name: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in name).split())
