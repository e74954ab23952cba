"""A session held against what `/context` said of it: for `calibrate` and `analyze`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crusts_index.cli import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.cli.session import Store
    from crusts_index.insight.session.facts import ContextReport
    from crusts_index.insight.window.accuracy import Spread
    from crusts_index.insight.window.calibration import Comparison

COLUMNS = ("part", "crusts", "/context", "error_share")


def compare_last(store: Store, session_id: str) -> list[Comparison]:
    """A session's estimates against the last `/context` of it; nothing where there is none."""
    facts = store.load(session_id)
    if not facts.context_reports:
        return []
    return compare(store, session_id, facts.context_reports[-1])


def compare(store: Store, session_id: str, report: ContextReport) -> list[Comparison]:
    """A session as it stood at a `/context`, against it."""
    from crusts_index.claude.context_report import bucket_of
    from crusts_index.insight.window.calibration import compare_with_context, message_at

    number = message_at(store.load(session_id), report)
    if number is None:
        return []
    return compare_with_context(*store.look(session_id, number), report, bucket_of)


def comparison_json(found: list[Comparison]) -> list[dict[str, Any]]:
    """Comparisons as JSON."""
    return [
        {
            "category": one.category,
            "crustsEstimate": one.crusts_estimate,
            "contextActual": one.context_actual,
            "deltaPercent": None if one.delta_percent is None else round(one.delta_percent, 1),
        }
        for one in found
    ]


def print_spreads(kind: str, samples: str, found: Sequence[Spread]) -> None:
    """Errors by version and kind; the heads say what a kind is, and a sample."""
    rows = [(*one[:3], *(round(value, 1) for value in one[3:])) for one in found]
    show.print_table(("version", kind, samples, "median_error_%", "from_%", "to_%"), rows)


def cells(one: Comparison) -> tuple[object, ...]:
    """A row under COLUMNS."""
    share = None if one.delta_percent is None else one.delta_percent / 100
    return (one.category, one.crusts_estimate, one.context_actual, share)
