"""Estimates held against what Claude Code's own `/context` said: pure (D9, D11)."""

from __future__ import annotations

from crusts_index.insight.window.contents import contents_of
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crusts_index.insight.session.facts import ContextReport, Facts
    from crusts_index.insight.window.judge import Window

# What is compared: a name, and the buckets of `/context` whose sum is its truth.
_SCHEMAS = ("system_tools", "mcp_tools")
_REST = ("system_prompt", "custom_agents", "memory_files", "skills", "other")


# A /context before the first answer says "Messages: 8 tokens", of which any estimate is off by hundreds of per cent.
_LEAST_COMPARED = 500


class Comparison(NamedTuple):
    """One part of a window: tokens as crusts has them, as `/context` said, and the difference in percent."""

    category: str
    crusts_estimate: int
    context_actual: int

    @property
    def delta_percent(self) -> float | None:
        """(estimate − actual) / actual in percent; None where so little was there that rounding decides it."""
        if self.context_actual < _LEAST_COMPARED:
            return None
        return (self.crusts_estimate - self.context_actual) / self.context_actual * 100


def compare_with_context(
    facts: Facts, window: Window, report: ContextReport, bucket_of: Callable[[str], str]
) -> list[Comparison]:
    """The window as it stood at the report, part by part; `facts` end there.

    Where the fixed context could not be divided its parts are compared as one. Attachments that list skills or
    agents count as messages here and in rows of their own there, so the total is the number to look at.
    """
    actual = _sums(report.rows, bucket_of)
    fixed = window.fixed_context
    contents = contents_of(facts, fixed, current=True)
    found: list[Comparison] = []
    if fixed.tokens is not None and fixed.schema_tokens:
        schemas = fixed.schema_tokens + contents.loaded_tokens
        found.append(Comparison("tool schemas", schemas, _of(actual, _SCHEMAS)))
        found.append(Comparison("fixed context beside them", fixed.tokens - fixed.schema_tokens, _of(actual, _REST)))
    elif fixed.tokens is not None:
        found.append(
            Comparison("fixed context", fixed.tokens + contents.loaded_tokens, _of(actual, (*_SCHEMAS, *_REST)))
        )
    messages = contents.total - (fixed.tokens or 0) - contents.loaded_tokens
    found.append(Comparison("messages", messages, actual.get("messages", 0)))
    if report.used_tokens and window.size is not None:
        found.append(Comparison("total", window.size, report.used_tokens))
    return found


def message_at(facts: Facts, report: ContextReport) -> int | None:
    """The last message before a report: by its place in the log, or by time where it was pasted."""
    number = None
    for block in facts.blocks:
        if report.id > 0:
            if block.record_id >= report.id:
                break
        elif report.time_ms is not None and block.time_ms is not None and block.time_ms > report.time_ms:
            break
        number = block.message
    return number


def _sums(rows: Iterable[tuple[str, int, bool]], bucket_of: Callable[[str], str]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for label, tokens, is_deferred in rows:
        if not is_deferred:
            bucket = bucket_of(label)
            sums[bucket] = sums.get(bucket, 0) + tokens
    return sums


def _of(sums: dict[str, int], buckets: Iterable[str]) -> int:
    return sum(sums.get(bucket, 0) for bucket in buckets)
