"""What a report says about one session, section by section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crusts_index.insight.losses.taken import Event
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.session.model_history import ModelHistory
from crusts_index.insight.session.numbers import DERIVED, ESTIMATED, EXACT
from crusts_index.insight.waste.actions import Action
from crusts_index.insight.waste.find import WasteItem
from crusts_index.insight.window.buckets import Buckets
from crusts_index.insight.window.curve import Point, Step, largest_steps
from crusts_index.insight.window.judge import Window
from crusts_index.insight.window.limit import ASSUMED
from crusts_index.insight.window.listed import Content
from crusts_index.insight.window.toolset import Toolset
from crusts_index.insight.window.words import left_words, limit_words, share_words, size_words, trigger_words
from crusts_index.render import bill, text
from crusts_index.render.analysis import SOURCES, name_list, schemas_said, shown_servers, span, versions
from crusts_index.render.analysis_json import duration_seconds
from crusts_index.render.contents import CARRIED, LEGEND, category_name
from crusts_index.render.report_chart import curve_chart
from crusts_index.render.report_costs import cost_note, costs, models
from crusts_index.render.report_findings import excused, steps, takes, waste_findings
from crusts_index.render.report_losses import losses
from crusts_index.render.report_parts import (
    Column,
    Table,
    Tile,
    count,
    inside,
    name_of,
    numbers,
    segments,
    signed,
    when,
    zone,
)
from crusts_index.rows.session import Billed

Json = dict[str, Any]

_STEPS = 6
_TITLE = 160  # characters
_SERVERS = 8


class SessionReport(NamedTuple):
    """All that is judged of a session."""

    facts: Facts
    window: Window
    current: Buckets | None
    lifetime: Buckets | None
    points: list[Point]
    contents: list[Content]
    waste: list[WasteItem]
    actions: list[Action]
    events: list[Event]
    billed: Billed
    history: ModelHistory
    toolset: Toolset


def session_context(found: SessionReport) -> Json:
    """What the templates `session.*` are filled with."""
    facts, window = found.facts, found.window
    cuts = facts.all_compactions
    levels = [("limit (assumed)" if window.limit_kind == ASSUMED else "limit", window.limit)]
    if window.trigger is not None:
        levels.append(("compaction at", window.trigger))
    return {
        "title": text.shorten(facts.session.title or name_of(facts.session.project), _TITLE),
        "facts": _head(found),
        "notes": _notes(found),
        "health": window.health,
        "gauge": _gauge(window),
        "tiles": _tiles(found),
        "chart": curve_chart("curve", found.points, cuts, levels),
        "curve_notes": _curve_notes(found),
        "steps": _steps(found),
        "bar": bucket_bar(found.current),
        "categories": _categories(found),
        "category_note": basis_note(found.current),
        "steps_to_take": steps(found.actions),
        "waste": waste_findings(found.facts, found.waste),
        "excused": excused(found.waste),
        "takes": takes(found.contents),
        "carried_note": CARRIED,
        "legend": LEGEND,
        "losses": losses(facts, found.events),
        "costs": costs(facts, found.billed),
        "models": models(found.history),
        "tools": _tools(found),
        "why": sorted(window.why.items()),
    }


def bucket_bar(buckets: Buckets | None) -> list[Any]:
    """A bar of the six categories; nothing where they are not known."""
    return segments(
        (one.category, category_name(one.category), one.tokens, f"{one.percentage:.1f}%")
        for one in (buckets.buckets if buckets else ())
    )


def basis_note(buckets: Buckets | None) -> str:
    """What the categories stand on (D12)."""
    if buckets is None:
        return "Not known yet: no call so far."
    if buckets.scale is None:
        return "There is no window to hold the estimates against."
    if buckets.basis == "window":
        return (
            f"The estimates sum to {buckets.content_sum:,} tokens and are scaled to the window, by {buckets.scale:.2f}."
        )
    return (
        f"As counted: the estimates sum to {buckets.content_sum:,} tokens, too far from the window "
        f"(by {buckets.scale:.2f}) to be scaled to it."
    )


def _head(found: SessionReport) -> list[tuple[str, str]]:
    session, history = found.facts.session, found.history
    said = [
        ("Session", session.session_id),
        ("Project", session.project),
        ("Model", " → ".join(segment.model for segment in history.segments[-4:]) or history.current),
        ("Claude Code", versions(session) or "not told"),
        ("Began", f"{when(session.started_ms)} {zone()}"),
        ("Last active", f"{when(session.last_ms)} {zone()}, after {span(duration_seconds(found.facts))}"),
        ("Messages", f"{session.messages:,}, in {bill.calls(found.billed, len(found.facts.calls))}"),
    ]
    if session.git_branch:
        said.append(("Git branch", session.git_branch))
    return said


def _notes(found: SessionReport) -> list[str]:
    facts, notes = found.facts, []
    if facts.trimmed:
        notes.append(f"The last {text.plural(facts.trimmed, 'message')}, a call of crusts itself, are left out.")
    if facts.session.gone:
        notes.append("Its transcript is no longer on disk; this is what the store kept of it.")
    count_of = len(facts.all_compactions)
    if count_of:
        inferred = ", inferred: the transcript does not mark it" if facts.inferred else ""
        notes.append(f"Compacted {'once' if count_of == 1 else text.plural(count_of, 'time')}{inferred}.")
    return notes


def _gauge(window: Window) -> Json:
    return {
        "size": size_words(window),
        "limit": limit_words(window),
        "percent": share_words(window),
        "filled": round(min(100.0, window.usage_percentage or 0), 2),
        "trigger_at": round(min(100.0, (window.trigger or window.limit) / window.limit * 100), 2),
        "trigger": trigger_words(window),
        "free": count(window.free),
        "basis": window.basis,
        "why": window.why["limit"],
    }


def _tiles(found: SessionReport) -> list[Tile]:
    window, billed = found.window, found.billed
    peak = max((call.context_tokens for call in found.facts.calls), default=None)
    wasted = sum(item.estimated_tokens for item in found.waste)
    share = f"{wasted / window.size * 100:.0f}% of the window" if window.size else ""
    note = cost_note(billed)
    return [
        Tile("calls until compaction", left_words(window), DERIVED if window.calls_left is not None else ""),
        Tile("growth a call", signed(round(window.growth)), DERIVED, "expected, drawn towards past windows"),
        Tile("largest context", text.tokens(peak), EXACT),
        Tile("waste", text.tokens(wasted), ESTIMATED, share),
        Tile("read from cache", text.percent(billed.cache_read_share), EXACT, "of all input"),
        Tile("cost", text.usd(bill.cost(billed)), DERIVED, note),
    ]


def _curve_notes(found: SessionReport) -> list[str]:
    rewound = len(found.facts.calls) - len(found.points)
    undivided = sum(point.bands is None for point in found.points)
    notes = []
    if rewound:
        notes.append(f"{text.plural(rewound, 'call')} on branches rewound since are not drawn.")
    if undivided:
        notes.append(
            f"Of {text.plural(undivided, 'call')} the estimates are too far from the context to divide it: grey."
        )
    return notes


def _steps(found: SessionReport) -> Table:
    project = found.facts.session.project
    steps = largest_steps(found.facts, found.points, _STEPS)
    columns = (
        *numbers(EXACT, "call", "message", "growth"),
        Column("largest part of it", "path"),
        Column("its tokens", "number", ESTIMATED),
    )
    rows = [
        (
            count(step.point.number),
            f"#{step.point.call.message}",
            signed(step.point.growth),
            _what(step, project),
            count(step.tokens),
        )
        for step in steps
    ]
    return Table(columns, rows)


def _what(step: Step, project: str) -> str:
    if step.path is None or step.path == step.what:
        return inside(step.what, project)
    return f"{step.what}: {inside(step.path, project)}"


def _categories(found: SessionReport) -> Table | None:
    current, lifetime = found.current, found.lifetime
    if current is None or lifetime is None:
        return None
    columns = [
        Column("category", "category"),
        Column("tokens", "number", ESTIMATED if current.basis == "window" else ""),
        *numbers(ESTIMATED, "share", "as counted"),
        Column("accuracy"),
    ]
    rows: list[list[Any]] = [
        [one.category, count(one.tokens), f"{one.percentage:.1f}%", count(one.content_tokens), one.accuracy]
        for one in current.buckets
    ]
    sums = ["total", count(current.total), "100.0%" if current.total else "0.0%", count(current.content_sum)]
    total: list[Any] = [*sums, found.window.basis if current.basis == "window" else ESTIMATED]
    if found.facts.all_compactions or lifetime.content_sum != current.content_sum:
        columns.append(Column("in its life", "number", ESTIMATED))
        for row, one in zip(rows, lifetime.buckets, strict=True):
            row.append(count(one.content_tokens))
        total.append(count(lifetime.content_sum))
    return Table(columns, [*rows, total], has_total=True)


def _tools(found: SessionReport) -> Json:
    tools = found.toolset
    servers = shown_servers(tools)[:_SERVERS]
    columns = (
        Column("MCP server", "path"),
        Column("configured"),
        Column("calls", "number", EXACT),
        Column("tokens", "number", ESTIMATED),
    )
    rows = [(one.name, SOURCES[one.source], count(one.calls), count(one.tokens)) for one in servers]
    lines: list[tuple[str, Sequence[str]]] = [
        ("Used", tools.used),
        ("Loaded, never used", tools.unused),
        ("Loaded by ToolSearch", tools.loaded_deferred),
    ]
    return {
        "said": (
            f"In every call: {schemas_said(tools)}. Over the session's life, "
            f"calls took {tools.call_tokens:,} and results {tools.result_tokens:,} tokens (estimated)."
        ),
        "lines": [(name, name_list(names, 24)) for name, names in lines if names],
        "servers": Table(columns, rows),
    }
