"""`crusts sql`: ask the store in SQL; it only reads, and what it reads is documented by --schema."""

import sys

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Argument, Option
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.plain import lines
from crusts_index.render import console
from crusts_index.store import guard, query
from crusts_index.store.runnable import runnable
from crusts_index.store.settings import Settings

Statement = Annotated[str | None, Argument("[SQL]", "One statement that reads; - or none: from stdin.")]
Seconds = Annotated[
    float, Option("--seconds", reads=options.number(0.001), metavar="N", help="Longest time it may take.")
]
Rows = Annotated[int, Option("--limit", reads=options.whole(), metavar="N", help="Most rows to show.")]
Report = Annotated[str | None, Option("--report", metavar="NAME", help="Print the SQL of a report.")]
Schema = Annotated[bool, Option("--schema", help="Say what the tables and views hold.")]


def sql(
    settings: Settings,
    statement: Statement = None,
    report: Report = None,
    schema: Schema = False,
    format: show.RowFormat = show.Format.TABLE,
    seconds: Seconds = 10.0,
    limit: Rows = 1000,
) -> None:
    """Ask the store in SQL, read-only. Views such as sessions_overview and calls are meant to be read.

    Parameters (:since) are null: no filter. The sqlite3 shell, which can set them, runs what --report prints.
    """
    form = show.form_of(settings, format)
    if report is not None:
        console.put(lines(report_sql(report)))
        return
    if schema:
        if form is show.Format.JSON:
            show.document(schema_document())
        else:
            console.put(lines(schema_text(console.table_width() or 100)))
        return
    asked = _statement(statement)
    with opened(settings) as store:
        found, is_cut = guard.run(store.connection, asked, seconds=seconds, limit=limit)
    rows = [[_plain(value) for value in row] for row in found.rows]
    if form is show.Format.JSON:
        show.document({"columns": found.columns, "rows": rows})
    else:
        show.rows(found.columns, rows, form)
    if is_cut:
        console.note(f"only the first {limit:,} rows: --limit shows more")


def _statement(given: str | None) -> str:
    if given is None and console.is_terminal(sys.stdin):
        raise WrongUsage("no statement: give one, or --report NAME, or --schema")
    asked = sys.stdin.read() if given in (None, "-") else given
    if not asked or not asked.strip():
        raise WrongUsage("the statement is empty")
    return asked


def _plain(value: object) -> object:
    """What SQLite gives, with bytes as hexadecimal digits: 16 of them as a uuid."""
    if not isinstance(value, bytes):
        return value
    digits = value.hex()
    if len(value) != 16:
        return digits
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def report_sql(name: str) -> str:
    """The SQL that a report stands on, as the `sqlite3` shell takes it (`runnable`).

    It is what _STANDS_ON says, or the files of queries/ of its name, or beginning with it and an underscore; of a view
    its statement. Raises CrustsError for a name that is none of these.
    """
    found = _STANDS_ON.get(name) or [one for one in query.names() if one == name or one.startswith(f"{name}_")]
    views = dict(query.view_scripts())
    texts = [runnable(query.sql(one)) for one in found]
    if not texts and name in views:
        texts = [views[name].replace(f"create view {name} as", "", 1)]
    if not texts:
        raise CrustsError(f"no report named {name}: there are {', '.join(sorted({*_STANDS_ON, *query.names()}))}")
    return "\n".join(texts)


_CONTENTS, _CALLS = ("session_parts", "session_blocks"), ("session_parts", "session_calls")
_STANDS_ON = {
    **dict.fromkeys(("analyze", "fix", "optimize", "timeline", "diff", "report"), _CONTENTS),
    **dict.fromkeys(("status", "statusline", "auto-inject", "overview"), _CALLS),
    "calibrate": ("calibrations",),
}
"""What the commands without a file of their name ask first: the parts of a session, and of each the rows."""


def schema_document() -> dict[str, object]:
    """Tables and their columns with what they hold, and views with the comments at their heads."""
    from crusts_index.store.schema import metadata  # SQLAlchemy, for nothing but this

    tables = [
        {
            "name": one.name,
            "columns": [{"name": column.name, "type": str(column.type), "doc": column.doc} for column in one.columns],
        }
        for one in metadata.sorted_tables
    ]
    return {"views": [{"name": name, "doc": head(script)} for name, script in query.view_scripts()], "tables": tables}


def head(script: str) -> str:
    """The comment at the head of an SQL file, without its dashes."""
    lines = []
    for line in script.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def schema_text(width: int) -> str:
    """The same for people."""
    from crusts_index.store.schema import metadata

    parts = ["VIEWS, to be read\n"]
    for _, script in query.view_scripts():
        parts.append("\n".join(_wrapped(line, width) for line in _joined(head(script))) + "\n")
    parts.append("TABLES, as the reports use them\n")
    for one in metadata.sorted_tables:
        lines = (_wrapped(f"  {column.name:<22} {column.doc or ''}", width, 25) for column in one.columns)
        parts.append("\n".join([one.name, *lines]) + "\n")
    return "\n".join(parts)


def _joined(doc: str) -> list[str]:
    """The lines of a comment, each with those that go on from it: prose, and what stands far to the right."""
    lines: list[str] = []
    for line in doc.splitlines():
        deep = line.startswith(" " * 12)
        if lines and (deep or not (line.startswith("  ") or lines[-1].startswith("  "))):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return lines


def _wrapped(line: str, width: int, margin: int = 24) -> str:
    import textwrap

    indent = " " * (margin if line.startswith("  ") else 0)
    return textwrap.fill(
        line, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False, replace_whitespace=False
    )
