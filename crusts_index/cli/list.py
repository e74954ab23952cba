"""`crusts list`: the sessions in the store, the last active first."""

from crusts_index.cli import options, show
from crusts_index.cli.session import opened
from crusts_index.folders import last_part
from crusts_index.render import console, table, text
from crusts_index.rows.reports import ListedSession
from crusts_index.store import when
from crusts_index.store.settings import Settings

SHOWN = 25
"""Rows of the table where no limit is given."""
_ROOM_FOR_SIZE = 100
"""Columns from which on the size of its transcripts stands in the table, beside a title to know a session by."""
_KEYS = (
    *("session", "project", "title", "started", "last_active", "messages", "calls", "model", "version"),
    *("peak_ctx", "compactions", "size_bytes", "gone"),
)
_NOTES = (
    "calls: billed ones, no copies from other sessions; cuts: compactions logged.",
    "peak: most context tokens of a call of its main thread, exact. * gone from disk.",
)
_COLUMNS = ("session", "age", "project", "title", "msgs", "calls", "peak", "cuts", "size", "model")


def list_(
    settings: Settings,
    limit: options.Limit = None,
    format: show.RowFormat = show.Format.TABLE,
) -> None:
    """Sessions, the last active first: 25 in a table, else all, unless --limit says how many."""
    form = show.form_of(settings, format)
    if form is show.Format.TABLE:
        limit = limit or SHOWN
    with opened(settings) as store:
        found = store.fetch(ListedSession, project=settings.project, limit=limit)
    rows = [{key: getattr(row, key) for key in _KEYS} | {"gone": bool(row.gone)} for row in found]
    if form is show.Format.JSON:
        show.document({"sessions": rows})
    elif form is show.Format.CSV:
        show.rows(_KEYS, [list(row.values()) for row in rows], form)
    elif not found:
        console.put(show.nothing(settings, "No sessions yet: `crusts index` reads the transcripts."))
    else:
        _print(found)


def _print(found: list[ListedSession]) -> None:
    now = when.now_ms()
    width = console.table_width()
    is_wide = width is None or width >= _ROOM_FOR_SIZE
    values = [_cells(row, now, is_wide=is_wide) for row in found]
    forms = {"peak": text.tokens}
    console.put(table.table([name for name in _COLUMNS if is_wide or name != "size"], values, width, forms))
    more = found[0].in_all - len(found)
    if more:
        console.put(f"+ {more:,} more: --limit N shows N")
    console.remark(*_NOTES)


def _cells(row: ListedSession, now: int, *, is_wide: bool) -> tuple[object, ...]:
    active = row.last_active_ms
    project = row.project and last_part(row.project)
    return (
        row.session[:8] + ("*" if row.gone else ""),
        text.age(None if active is None else max(0, now - active)),
        project or row.project,
        row.title,
        row.messages,
        row.calls,
        row.peak_ctx,
        row.compactions,
        *([None if row.size_bytes is None else text.size(row.size_bytes)] if is_wide else []),
        row.model and short_model(row.model),
    )


def short_model(model: str) -> str:
    """A model's name without what all of them share: `claude-opus-4-5-20251101` is `opus-4-5`."""
    name = model.removeprefix("claude-")
    head, dash, day = name.rpartition("-")
    is_day = dash and len(day) == 8 and day.isdecimal() and day.startswith("20")
    return (head if is_day else name) or model
