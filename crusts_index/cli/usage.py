"""`crusts usage`: tokens and cost, one row a model, day, project, tool …"""

from __future__ import annotations

import enum

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.render import bill, console, text
from crusts_index.rows.reports import ToolUsage, Usage, WindowUsage
from crusts_index.store.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class By(enum.StrEnum):
    """What a row of the report stands for."""

    MODEL = "model"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    BLOCK = "block"
    PROJECT = "project"
    SESSION = "session"
    TOOL = "tool"
    SERVER = "server"
    AGENT = "agent"
    CATEGORY = "category"
    FILE = "file"


_TOOLS = (By.TOOL, By.SERVER)
_WINDOWS = (By.CATEGORY, By.FILE)
_CALL_COLUMNS = ("calls", "input", "cache_read", "cache_write", "output", "cost_usd")
_TOOL_COLUMNS = ("uses", "result_tokens", "carried_tokens", "errors")
_WINDOW_COLUMNS = ("blocks", "tokens", "carried_tokens", "carried_usd")
_SHORT = ("input", "cache_read", "cache_write", "output", "tokens", "result_tokens", "carried_tokens")
_PATH = 32  # columns that a project's path takes in the table
_TOOL_NOTES = [
    "Uses and errors are exact, tokens are estimated.",
    "carried: times the calls that came later, up to the next compaction.",
]
_WINDOW_NOTES = [
    "What filled the windows. Tokens are shares of the billed output, else estimated;",
    "carried: times the calls that carried it, at the price of cache reads (derived).",
]


def usage(
    settings: Settings,
    by: Annotated[By, Option("--by", metavar="WHAT", help=f"What a row stands for: {', '.join(By)}.")] = By.MODEL,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.Limit = None,
    format: show.RowFormat = show.Format.TABLE,
) -> None:
    """Tokens and cost by model, day, week, month, 5-hour block, project, session, agent, tool or MCP server.

    Each API call, tool use and tool result counts once, where it was first made. By category or file: what
    filled the context windows, and what it cost to carry it from call to call. Output and cost of calls that logged
    a placeholder are at least so much; what is missing is estimated, and in no sum.
    """
    begin, end = options.period(since, until)
    form = show.form_of(settings, format)
    with opened(settings) as store:
        kind: type[Any] = WindowUsage if by in _WINDOWS else ToolUsage if by in _TOOLS else Usage
        asked: dict[str, Any] = {"by": by.value, "project": settings.project, "since": begin, "until": end}
        if kind is Usage:
            asked["apart"] = 1
        found = store.fetch(kind, **asked)
    *rows, total = [_renamed(row._asdict(), by) for row in found]
    shown = rows[:limit]
    if form is show.Format.JSON:
        show.document({"rows": shown, "total": {name: total[name] for name in total if name != by.value}})
    elif form is show.Format.CSV:
        show.rows(list(total), [list(row.values()) for row in shown], form)
    elif not rows:
        console.put(show.nothing(settings, "Nothing in this period."))
    else:
        _print(by, [*found[:-1][:limit], found[-1]], len(rows))
    if total.get("nonstandard_calls"):
        named = (
            f"{text.plural(total['nonstandard_calls'], 'call')} in fast mode, of another tier or kept in one country"
        )
        console.note(f"{named}, costed at the standard price: `crusts doctor` names what has no list price")
    if total.get("unpriced_calls"):
        calls = text.plural(total["unpriced_calls"], "call")
        console.note(f"the cost lacks {calls} without a price: try `crusts index --prices --fetch`")


def _print(by: By, rows: list[Any], in_all: int) -> None:
    """The rows that are shown and, behind them, the total."""
    names = _WINDOW_COLUMNS if by in _WINDOWS else _TOOL_COLUMNS if by in _TOOLS else _CALL_COLUMNS
    forms = dict.fromkeys(_SHORT, text.tokens)
    total = rows[-1]
    values = [[_short(by, row.key), *_cells(row, names)] for row in rows[:-1]]
    values.append(["total", *_cells(total, names)])
    show.print_table([by.value, *names], values, forms)
    if len(rows) - 1 < in_all:
        console.put(f"+ {in_all - len(rows) + 1:,} more, counted in the total")
    if not isinstance(total, Usage):
        console.remark(*(_WINDOW_NOTES if by in _WINDOWS else _TOOL_NOTES))
        return
    tokens = "input tokens" if total.placeholder_calls else "tokens"
    console.remark(f"Calls and {tokens} are exact, as billed; the cost is derived, at list price.")
    if total.placeholder_calls:
        console.remark(bill.missing(total))
    if total.retained_calls:
        console.remark(f"{total.retained_calls:,} of the calls were billed but are in no transcript any more.")


def _cells(row: Any, names: Sequence[str]) -> list[Any]:
    """A row's numbers; those of which more may be missing as such."""
    known = row._asdict()
    if isinstance(row, Usage):
        known["output"], known["cost_usd"] = text.at_least(row.output, row.placeholder_calls), bill.cost(row)
    elif isinstance(row, WindowUsage):
        known["carried_usd"] = text.at_least(row.priced_usd, row.carried_usd is None)
    return [known[name] for name in names]


def _short(by: By, key: str | None) -> str | None:
    """A key as the table shows it: the start of a session's id, the end of a long path."""
    if key is None:
        return None
    if by is By.SESSION:
        return key[:8]
    if by is By.CATEGORY:
        from crusts_index.render.contents import category_name  # all that it brings along is for this row alone

        return category_name(key)
    if by is By.BLOCK:
        from datetime import datetime

        return f"{datetime.fromisoformat(key).astimezone():%Y-%m-%d %H:%M}"
    return text.shorten_path(key, _PATH) if by in (By.PROJECT, By.FILE) else key


def _renamed(row: dict[str, Any], by: By) -> dict[str, Any]:
    """The row with its key under the name that was asked for, and without the mark of the total."""
    return {by.value: row["key"]} | {name: value for name, value in row.items() if name not in ("key", "is_total")}
