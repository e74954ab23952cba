"""A result as CSV that a spreadsheet will not run."""

import csv
import io
import math
import re
from collections.abc import Sequence

from crusts_index.plain import Safe, lines

# A spreadsheet takes a cell that begins so for a formula; the apostrophe says that it is text.
_FORMULA = re.compile(r"\s*+[=+\-@]")
_NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?")


def encode(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Safe:
    """Header and rows, one line end (\\n) a row; null is an empty cell. Spec: D16."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return Safe(out.getvalue())


def _cell(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, str):
        return value
    text = lines(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
