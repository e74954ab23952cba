"""A result as a table for a terminal: numbers to the right, text columns shrunk until it fits."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from crusts_index.plain import Safe, line
from crusts_index.render import text

Row = Sequence[object]
Form = Callable[[float], str]

_GAP = "  "  # between two columns
_NARROWEST = 8  # a text column is not shrunk below this


def table(
    columns: Sequence[str],
    rows: Sequence[Row],
    width: int | None = None,
    forms: Mapping[str, Form] | None = None,
) -> Safe:
    """Lines for people, in at most `width` columns where text can be cut; None is any width (a pipe).

    Numbers are never cut: if they alone are too wide, each row becomes a block of `column  value` lines.
    Null shows as –; columns named *_usd show dollars, *_share per cent, all other numbers thousands,
    unless `forms` has another form for the numbers of a column.
    """
    cells = [[_cell(name, value, forms or {}) for name, value in zip(columns, row, strict=True)] for row in rows]
    numeric = [_is_numeric(row[i] for row in rows) for i in range(len(columns))]
    heads: list[str] = [line(name) for name in columns]
    if width is not None:
        widths = _fit(heads, cells, numeric, width)
        if widths is None:
            return _blocks(heads, cells, width)
        heads = [text.shorten(head, limit) for head, limit in zip(heads, widths, strict=True)]
        cells = [[text.shorten(cell, limit) for cell, limit in zip(row, widths, strict=True)] for row in cells]
    return _lay_out(heads, cells, numeric)


def _cell(name: str, value: object, forms: Mapping[str, Form]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name in forms:
            return forms[name](value)
        if name.endswith("_usd"):
            return text.usd(value)
        return text.percent(value) if name.endswith("_share") else text.number(value)
    return text.NULL if value is None else " ".join(line(str(value)).split())


def _is_numeric(values: Iterable[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def _fit(heads: list[str], cells: list[list[str]], numeric: list[bool], width: int) -> list[int] | None:
    """A width for each column so that the whole fits, taken from the widest text; None if it cannot."""
    natural = [max(map(text.width, column)) for column in zip(heads, *cells, strict=True)]
    # Nothing wider than the whole: the steps below are then few even for a cell of 64 KiB.
    natural = [size if number else min(size, width) for size, number in zip(natural, numeric, strict=True)]
    least = [size if number else min(size, _NARROWEST) for size, number in zip(natural, numeric, strict=True)]
    excess = sum(natural) + len(_GAP) * (len(natural) - 1) - width
    if excess > sum(natural) - sum(least):
        return None
    widths = list(natural)
    for _ in range(excess):
        widest = max(range(len(widths)), key=lambda i: (widths[i] - least[i] > 0, widths[i]))
        widths[widest] -= 1
    return widths


def _blocks(heads: list[str], cells: list[list[str]], width: int) -> Safe:
    margin = max(map(text.width, heads)) + len(_GAP)
    blocks = []
    for row in cells:
        rows = [f"{head:<{margin}}{cell}" for head, cell in zip(heads, row, strict=True)]
        blocks.append("\n".join(text.shorten(row, width) for row in rows))
    return Safe("\n\n".join(blocks))


def _lay_out(heads: list[str], cells: list[list[str]], numeric: list[bool]) -> Safe:
    """By hand: to import what would do it, tabulate, takes twice as long as a report."""
    widths = [max(map(text.width, column)) for column in zip(heads, *cells, strict=True)]
    rows = [heads, ["-" * size for size in widths], *cells]
    return Safe("\n".join(_GAP.join(map(_aligned, row, widths, numeric)).rstrip() for row in rows))


def _aligned(cell: str, size: int, is_number: bool) -> str:
    room = " " * (size - text.width(cell))
    return room + cell if is_number else cell + room
