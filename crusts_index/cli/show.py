"""What commands have in common: results in the form asked for."""

import enum
import sys
from collections.abc import Callable, Mapping, Sequence

from crusts_index.cli.declared import Annotated, Option
from crusts_index.errors import CrustsError
from crusts_index.regular import replace_private
from crusts_index.render import console, jsonout
from crusts_index.render.table import Form, Row, table
from crusts_index.store.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.render.page import Page


class Format(enum.StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


RowFormat = Annotated[Format, Option("--format", help="How to print the rows.")]


def nothing(settings: Settings, otherwise: str) -> str:
    """What to say where a report has no rows: that no project matches, or `otherwise`."""
    if settings.project:
        return f"Nothing of a project whose path has {settings.project!r}: `crusts usage --by project` names them."
    return otherwise


def document(value: Mapping[str, object]) -> None:
    """One JSON object: indented for a person at a terminal, compact in a pipe."""
    console.put(jsonout.encode(value, indent=console.is_terminal(sys.stdout)))


def answer(
    settings: Settings,
    as_json: Callable[[], Mapping[str, object]],
    as_text: "Callable[[Page], None]",
    *,
    is_json: bool = False,
) -> None:
    """What a command found: one JSON object with --json or where told so, else a page."""
    if settings.json or is_json:
        document(as_json())
        return
    paper = page(settings)
    as_text(paper)
    console.put(paper.text())


def say(settings: Settings, found: Mapping[str, object], *lines: str) -> None:
    """What a command did: one JSON object with --json, else these lines."""
    if settings.json:
        document(found)
        return
    for line in lines:
        console.put(line)


def write(path: str, text: str) -> None:
    """Write a report to a file that only its owner may read, whole or not at all.

    Raises CrustsError.
    """
    try:
        replace_private(path, text.encode())
    except OSError as error:
        raise CrustsError(f"cannot write {path}: {error.strerror}") from error


def rows(columns: Sequence[str], values: Sequence[Sequence[object]], form: Format) -> None:
    """Rows as a table or as CSV; for JSON, `document` with the keys that the command promises."""
    if form is Format.CSV:
        from crusts_index.render import csvout

        console.put(csvout.encode(columns, values))
    else:
        print_table(columns, values)


def print_table(columns: Sequence[str], rows: Sequence[Row], forms: Mapping[str, Form] | None = None) -> None:
    """Rows as a table as wide as the terminal is."""
    console.put(table(columns, rows, console.table_width(), forms))


def page(settings: Settings) -> "Page":
    """An empty page as wide and as coloured as stdout is."""
    from crusts_index.render.page import Page

    return Page(console.table_width(), colour=console.use_colour(sys.stdout, no_color=settings.no_color))


def form_of(settings: Settings, form: Format) -> Format:
    """The form of the output: `--json` stands for `--format json`."""
    return Format.JSON if settings.json else form
