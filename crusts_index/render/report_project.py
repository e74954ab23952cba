"""What a report says about a project, or about all of them, over a period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from crusts_index.insight.session.numbers import DERIVED, ESTIMATED, EXACT
from crusts_index.insight.window.trend import Record, sparkline
from crusts_index.render import bill, text
from crusts_index.render.contents import category_name
from crusts_index.render.report_chart import Chart, Slot, column_chart
from crusts_index.render.report_costs import cache_bar, cost_note, heads, output_basis
from crusts_index.render.report_costs import row as bill_row
from crusts_index.render.report_parts import (
    Column,
    Table,
    Tile,
    count,
    inside,
    name_of,
    numbers,
    segments,
    shares,
    when,
    zone,
)
from crusts_index.render.waste_overview import HABITS, carried_usd
from crusts_index.rows.reports import HistoryWaste, ToolUsage, Usage, WindowUsage

Json = dict[str, Any]

_SESSIONS = 40  # in the table, the last ones
_COLUMNS = 120  # in a chart, the last ones
_TOP = 12
_MOST_DAYS = 92  # of more, the chart has weeks
_BOTH = "exact or derived"  # as `analyze` says of each window


class ProjectReport(NamedTuple):
    """Rows of the store about a period. `records` are its sessions, the last active last; `titles` by session's id.

    Of `usage`, `tools`, `servers`, `files` and `categories`, the last row is the total.
    """

    name: str | None
    since_ms: int | None
    until_ms: int | None
    records: Sequence[Record]
    titles: Mapping[str, str | None]
    by_session: Sequence[Usage]
    by_day: Sequence[Usage]
    by_model: Sequence[Usage]
    tools: Sequence[ToolUsage]
    servers: Sequence[ToolUsage]
    files: Sequence[WindowUsage]
    categories: Sequence[WindowUsage]
    waste: Sequence[HistoryWaste]
    total: Usage


def project_context(found: ProjectReport) -> Json:
    """What the templates `project.*` are filled with."""
    projects = list(dict.fromkeys(record.project for record in found.records))
    title = name_of(projects[0]) if len(projects) == 1 else found.name or "All projects"
    costs = {row.key: bill.cost(row) for row in found.by_session if row.key}
    return {
        "title": title,
        "facts": [
            ("Projects" if len(projects) != 1 else "Project", _projects(projects)),
            ("Period", _period(found)),
            ("Sessions", count(len(found.records))),
        ],
        "tiles": _tiles(found),
        "sessions_chart": _sessions_chart(found.records, found.titles, costs),
        "sessions": _sessions(found.records, found.titles, costs),
        "spark": sparkline([one.percent_used for one in found.records if one.percent_used is not None][-_COLUMNS:]),
        "days_chart": _days_chart(found.by_day),
        "models": _models(found.by_model),
        "cache": cache_bar(found.total),
        "bar": _category_bar(found.categories),
        "categories": _categories(found.categories),
        "files": _files(found.files, projects),
        "tools": _tools(found.tools, "tool"),
        "servers": _tools(found.servers, "MCP server"),
        "habits": _habits(found.waste),
    }


def _projects(projects: Sequence[str]) -> str:
    shown = ", ".join(projects[:6])
    return f"{shown} and {len(projects) - 6} more" if len(projects) > 6 else shown or "none"


def _period(found: ProjectReport) -> str:
    actives = [record.active_ms for record in found.records if record.active_ms is not None]
    start = found.since_ms if found.since_ms is not None else min(actives, default=None)
    end = found.until_ms if found.until_ms is not None else max(actives, default=None)
    said = "all that is in the store, " if found.since_ms is None and found.until_ms is None else ""
    return f"{said}{when(start)} to {when(end)} {zone()}"


def _tiles(found: ProjectReport) -> list[Tile]:
    billed = found.total
    waste = next((row for row in found.waste if row.kind == "total"), None)
    share = waste.wasted_tokens / waste.tokens if waste and waste.tokens else None
    note = cost_note(billed)
    fullest = max((one.percent_used for one in found.records if one.percent_used is not None), default=None)
    return [
        Tile("cost", text.usd(bill.cost(billed)), DERIVED, note),
        Tile("API calls", count(billed.calls), EXACT),
        Tile("read from cache", text.percent(billed.cache_read_share), EXACT, "of all input"),
        Tile("compactions", count(sum(record.compactions for record in found.records)), EXACT),
        Tile("fullest at the end", text.NULL if fullest is None else f"{fullest:.0f}%", _BOTH, "of its limit"),
        Tile("wasted results", text.percent(share), ESTIMATED, "of all tool results"),
    ]


def _said(record: Record, titles: Mapping[str, str | None]) -> str:
    return text.shorten(titles.get(record.session_id) or name_of(record.project), 60)


def _sessions_chart(
    records: Sequence[Record], titles: Mapping[str, str | None], costs: Mapping[str, float | None]
) -> Chart | None:
    shown = [one for one in records if one.percent_used is not None][-_COLUMNS:]
    if not shown:
        return None
    columns = [
        (
            when(one.active_ms, "%d %b"),
            f"{when(one.active_ms)} · {_said(one, titles)} · {one.session_id[:8]}",
            one.percent_used or 0.0,
        )
        for one in shown
    ]
    slots = [
        _slot("window", _BOTH, [count(one.window.size) for one in shown]),
        _slot("of its limit", _BOTH, [_used(one) for one in shown]),
        _slot("health", "", [one.window.health or text.NULL for one in shown]),
        _slot("messages", EXACT, [count(one.messages) for one in shown]),
        _slot("compactions", EXACT, [count(one.compactions) for one in shown]),
        _slot("mostly", ESTIMATED, [category_name(one.top_category or text.NULL) for one in shown]),
        _slot("cost", DERIVED, [text.usd(costs.get(one.session_id)) for one in shown]),
    ]
    title = f"Windows of the last {text.plural(len(shown), 'session')} as they ended, in per cent of their limit"
    most = max(one.percent_used or 0.0 for one in shown)
    return column_chart("sessions", title, "session", columns, slots, lambda value: f"{value:g}%", max(most, 1.0))


def _used(one: Record) -> str:
    return text.NULL if one.percent_used is None else f"{one.percent_used:.1f}%"


def _slot(name: str, basis: str, values: list[str]) -> tuple[Slot, list[Any]]:
    return Slot(name, "text", "", basis, values[-1]), values


def _sessions(records: Sequence[Record], titles: Mapping[str, str | None], costs: Mapping[str, float | None]) -> Table:
    columns = (
        Column("last active", "date"),
        Column("session", "path"),
        *numbers(_BOTH, "window", "used"),
        *numbers(EXACT, "messages", "compactions"),
        Column("cost", "number", DERIVED),
    )
    rows = [
        (
            *(when(one.active_ms), f"{_said(one, titles)} · {one.session_id[:8]}", text.tokens(one.window.size)),
            *(_used(one), count(one.messages), count(one.compactions)),
            text.usd(costs.get(one.session_id)),
        )
        for one in list(records)[: -_SESSIONS - 1 : -1]
    ]
    return Table(columns, rows, more=max(0, len(records) - _SESSIONS))


def _days_chart(rows: Sequence[Usage]) -> Chart | None:
    """What each day cost, days without a call too; of a long period each week."""
    spent = {row.key: row for row in rows if row.key and not row.is_total}
    if not spent:
        return None
    first, last = (date.fromisoformat(key) for key in (min(spent), max(spent)))
    days = [first + timedelta(days=place) for place in range((last - first).days + 1)]
    weeks = len(days) > _MOST_DAYS
    periods: dict[date, list[Usage]] = {}
    for day in days:
        start = day - timedelta(days=day.weekday()) if weeks else day
        periods.setdefault(start, []).extend([spent[day.isoformat()]] if day.isoformat() in spent else [])
    shown = list(periods.items())[-_COLUMNS:]
    usd = [sum(row.priced_usd or 0.0 for row in found) for _, found in shown]
    unpriced = [sum(row.unpriced_calls for row in found) for _, found in shown]
    lacking = [sum(row.placeholder_calls for row in found) for _, found in shown]
    bounds = [a + b for a, b in zip(unpriced, lacking, strict=True)]
    said = [
        text.usd(text.at_least(cost, lacks)) if cost or not lacks else text.NULL
        for cost, lacks in zip(usd, bounds, strict=True)
    ]
    outputs = [
        text.tokens(text.at_least(sum(row.output for row in found), lacks))
        for (_, found), lacks in zip(shown, lacking, strict=True)
    ]
    unit = "week" if weeks else "day"
    columns = [
        (f"{start:%d %b}", f"{'Week from ' if weeks else ''}{start:%a %d %b %Y}", cost)
        for (start, _), cost in zip(shown, usd, strict=True)
    ]
    slots = [
        _slot("cost", DERIVED, said),
        _slot("calls", EXACT, [count(sum(row.calls for row in found)) for _, found in shown]),
        _slot("cache read", EXACT, [text.tokens(sum(row.cache_read for row in found)) for _, found in shown]),
        _slot("cache write", EXACT, [text.tokens(sum(row.cache_write for row in found)) for _, found in shown]),
        _slot("output", output_basis(sum(lacking)), outputs),
    ]
    form = text.usd if max(usd) > 0 else text.number
    return column_chart("days", f"Cost by {unit}", unit, columns, slots, form, max(max(usd), 0.01))


def _models(rows: Sequence[Usage]) -> Table:
    columns = (Column("model", "path"), *heads(rows[-1].placeholder_calls if rows else 0))
    found = [("total" if row.is_total else row.key or "not told", *bill_row(row)) for row in rows]
    return Table(columns, found, has_total=bool(found))


def _category_bar(rows: Sequence[WindowUsage]) -> list[Any]:
    given = [row for row in rows if not row.is_total]
    whole = sum(row.carried_tokens for row in given) or 1
    return segments(
        (row.key or "", category_name(row.key or ""), row.carried_tokens, text.percent(row.carried_tokens / whole))
        for row in given
    )


def _categories(rows: Sequence[WindowUsage]) -> Table:
    columns = (
        Column("category", "category"),
        *numbers(ESTIMATED, "came in", "carried"),
        Column("as cache reads", "number", DERIVED),
    )
    found = [
        (
            "total" if row.is_total else row.key,
            *(text.tokens(row.tokens), text.tokens(row.carried_tokens), _carried(row)),
        )
        for row in rows
    ]
    return Table(columns, found, has_total=True)


def _carried(row: WindowUsage) -> str:
    return text.usd(text.at_least(row.priced_usd, row.carried_usd is None))


def _files(rows: Sequence[WindowUsage], projects: Sequence[str]) -> Table:
    files = [row for row in rows if not row.is_total]
    shown = files[:_TOP]
    columns = (
        Column("file", "path"),
        *numbers(ESTIMATED, "carried", "came in"),
        Column("as cache reads", "number", DERIVED),
    )
    base = projects[0] if len(projects) == 1 else None
    bars = shares([row.carried_tokens for row in shown], (text.tokens(row.carried_tokens) for row in shown))
    found = [
        (inside(row.key, base), bar, text.tokens(row.tokens), _carried(row))
        for row, bar in zip(shown, bars, strict=True)
    ]
    return Table(columns, found, more=len(files) - len(shown))


def _tools(rows: Sequence[ToolUsage], what: str) -> Table:
    tools = [row for row in rows if not row.is_total]
    shown = tools[:_TOP]
    columns = (Column(what, "path"), *numbers(ESTIMATED, "results", "carried"), *numbers(EXACT, "uses", "errors"))
    bars = shares([row.result_tokens for row in shown], (text.tokens(row.result_tokens) for row in shown))
    found = [
        (
            *(row.key or "use not in any transcript", bar, text.tokens(row.carried_tokens)),
            *(count(row.uses), count(row.errors)),
        )
        for row, bar in zip(shown, bars, strict=True)
    ]
    return Table(columns, found, more=len(tools) - len(shown))


def _habits(rows: Sequence[HistoryWaste]) -> Table:
    columns = (
        Column("habit"),
        Column("wasted", "number", ESTIMATED),
        Column("times", "number", EXACT),
        Column("carried", "number", ESTIMATED),
        Column("as cache reads", "number", DERIVED),
        Column("sessions", "number", EXACT),
    )
    found = [
        (
            *(HABITS[row.key or ""], text.tokens(row.wasted_tokens), count(row.wasted_uses)),
            *(text.tokens(row.carried_tokens), text.usd(carried_usd(row)), count(row.sessions)),
        )
        for row in rows
        if row.kind == "habit"
    ]
    return Table(columns, found)
