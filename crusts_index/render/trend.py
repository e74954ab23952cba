"""`trend` as text, JSON and CSV: sessions over time, one row a session or a week."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crusts_index.folders import last_part
from crusts_index.insight.window.trend import Record, Trend, sparkline
from crusts_index.insight.window.words import HEALTH_SAID, NOT_KNOWN, window_json
from crusts_index.plain import Safe
from crusts_index.render import bill, text
from crusts_index.render.analysis_json import timestamp
from crusts_index.render.contents import category_name
from crusts_index.render.jsonout import rounded
from crusts_index.render.page import Page
from crusts_index.rows.trend import TrendWeek

Json = dict[str, Any]

COLUMNS = (
    *("sessionId", "projectName", "timestamp", "totalTokens", "percentUsed", "messageCount", "compactionCount"),
    *("health", "topCategory", "topCategoryTokens", "contextLimit", "bucketBasis"),
)
"""Of the CSV, in the order that others rely on."""

_SHOWN = 10
_SHOWN_WEEKS = ("week", "sessions", "calls", "peak_p50", "compactions", "waste_share", "cache_read_share")
_ARROWS = {"worsening": "↑", "improving": "↓", "flat": "→"}
_MOST_BLOCKS = 60


def trend_json(trend: Trend) -> Json:
    """The object that `trend --json` prints; `series` is per cent of the limit, oldest first."""
    return {
        "records": [
            {
                **record_json(one),
                "project": one.project,
                "limitKind": one.window.limit_kind,
                "window": window_json(one.window),
            }
            for one in trend.records
        ],
        "summary": {
            "count": len(trend.records),
            "avgPercentUsed": round(trend.percent_used, 2),
            "avgTotalTokens": round(trend.window_tokens, 2),
            "avgCompactionCount": round(trend.compactions, 2),
            "avgMessageCount": round(trend.messages, 2),
            "dominantCategory": trend.dominant_category,
            "direction": trend.direction,
            "percentUsedDelta": round(trend.percent_delta, 2),
            "withoutCall": trend.without_call,
            "leftOut": trend.left_out,
            "series": [rounded(one.percent_used, 2) for one in trend.records],
        },
    }


def record_json(one: Record) -> Json:
    """One session, keys in the order of COLUMNS."""
    values = (
        *(one.session_id, _name(one.project), timestamp(one.active_ms), one.window.size),
        *(rounded(one.percent_used, 2), one.messages, one.compactions, one.window.health, one.top_category),
        *(one.top_category_tokens, one.window.limit, one.basis),
    )
    return dict(zip(COLUMNS, values, strict=True))


def trend_csv(trend: Trend) -> Safe:
    """The records as CSV; per cent with two decimals."""
    rows = [record_json(one) | {"percentUsed": _percent(one, 2)} for one in trend.records]
    from crusts_index.render import csvout

    return csvout.encode(COLUMNS, [list(row.values()) for row in rows])


def trend_text(page: Page, trend: Trend, limit: int) -> None:
    """Averages, the sparkline, and the last sessions."""
    records = trend.records
    if not records:
        page.say("No sessions yet: `crusts index` reads the transcripts.")
        return
    page.head(f"{len(records):,} sessions, oldest first" if len(records) > 1 else "1 session")
    values = [one.percent_used for one in records if one.percent_used is not None]
    if values:
        line = sparkline(values[-_MOST_BLOCKS:])
        page.say(f"{line}  {min(values):.1f}% to {max(values):.1f}% of the limit")
    page.say(
        f"{_ARROWS[trend.direction]} {trend.direction}: the last third ends {abs(trend.percent_delta):.1f} points "
        f"{'fuller' if trend.percent_delta > 0 else 'emptier'} than the first"
        if trend.direction != "flat"
        else "→ flat: the last third ends about as full as the first"
    )
    page.say(
        f"On average {trend.window_tokens:,.0f} tokens ({trend.percent_used:.1f}%), {trend.messages:,.0f} messages, "
        f"{trend.compactions:.1f} compactions; mostly {category_name(trend.dominant_category)}."
    )
    page.head("The last of them" if len(records) > _SHOWN else "One by one")
    rows = [
        (
            *(one.session_id[:8], _day(one), _name(one.project), one.window.size),
            *(_percent(one, 1, "%"), one.window.health or NOT_KNOWN, one.messages, one.compactions),
            category_name(one.top_category) if one.top_category else None,
        )
        for one in records[-_SHOWN:]
    ]
    heads = ("session", "day", "project", "window", "used", "health", "msgs", "cuts", "most")
    page.rows(heads, rows, {"window": text.tokens})
    page.say("Windows as they stood at the end, exact or derived as analyze says; most: estimated; cuts: compactions.")
    page.say(f"Health by the share of the limit, or of the smaller window that is set: {HEALTH_SAID}.")
    if trend.without_call:
        page.say(f"No call yet, so in no average of windows: {trend.without_call:,}.")
    if trend.left_out:
        page.say(f"Left out, as they have no message on a main thread (subagents alone, say): {trend.left_out:,}.")
    if len(records) == limit:
        page.say("--limit N takes N sessions.")


def weeks_json(rows: Sequence[TrendWeek]) -> Json:
    """The object that `trend --by week --json` prints."""
    return {"weeks": [row._asdict() for row in rows]}


def weeks_csv(rows: Sequence[TrendWeek]) -> Safe:
    """The weeks as CSV."""
    from crusts_index.render import csvout

    return csvout.encode(TrendWeek._fields, rows)


def weeks_text(page: Page, rows: Sequence[TrendWeek]) -> None:
    """The weeks as a table under the sparkline of their peaks."""
    if not rows:
        page.say("No calls yet: `crusts index` reads the transcripts.")
        return
    peaks = [row.peak_p50 for row in rows if row.peak_p50 is not None]
    page.head("Week by week")
    page.say(f"{sparkline(peaks[-_MOST_BLOCKS:])}  median peak of the sessions")
    values = [[*(getattr(row, name) for name in _SHOWN_WEEKS), bill.cost(row)] for row in rows]
    heads = ("week", "sessions", "calls", "peak_p50", "cuts", "waste_share", "cache_share", "cost_usd")
    page.rows(heads, values, {"peak_p50": text.tokens})
    page.say(
        "waste: tokens of re-reads among those of all tool results, estimated; cache: read from it, exact; "
        "cuts: compactions."
    )
    unpriced = sum(row.unpriced_calls for row in rows)
    if unpriced:
        page.say(
            f"The cost lacks {text.plural(unpriced, 'call')} without a list price: try `crusts index --prices --fetch`."
        )
    if lacking := bill.missing(*rows):
        page.say(lacking)


def _percent(one: Record, digits: int, unit: str = "") -> str | None:
    return None if one.percent_used is None else f"{one.percent_used:.{digits}f}{unit}"


def _name(project: str) -> str:
    """The last part of a project's path (D3)."""
    return last_part(project)


def _day(one: Record) -> str:
    return (timestamp(one.active_ms) or "")[:10]
